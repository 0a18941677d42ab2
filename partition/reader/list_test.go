package reader

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

func readList(t *testing.T, text string, o Options) (string, error) {
	t.Helper()
	var ids []string
	n, err := ReadList(context.Background(), filepath.Join(writeFiles(t, "v", text), "v"), o, func(id []byte) error {
		ids = append(ids, string(id))
		return nil
	})
	if err == nil && n != int64(len(ids)) {
		t.Errorf("%q: %d ids counted, %d handed out", text, n, len(ids))
	}
	return strings.Join(ids, "|"), err
}

func TestList(t *testing.T) {
	units := utf16.Encode([]rune("1\r\nÅsa 𝄞\r\n"))
	little, big := []byte{0xff, 0xfe}, []byte{0xfe, 0xff}
	for _, u := range units {
		little, big = binary.LittleEndian.AppendUint16(little, u), binary.BigEndian.AppendUint16(big, u)
	}
	var gz, zs bytes.Buffer
	for _, part := range []string{"1\n", "2\n"} {
		z := gzip.NewWriter(&gz)
		z.Write([]byte(part))
		z.Close()
	}
	z, _ := zstd.NewWriter(&zs)
	z.Write(little)
	z.Close()
	for _, c := range []struct {
		text string
		o    Options
		want string
	}{
		{"1\n2\n", Options{}, "1|2"},
		{"# all\n\n % of them\n 1 \r\n\v2\t\n1", Options{}, "1|2|1"},
		{"1\r2\r3\r", Options{}, "1|2|3"},
		{"\xef\xbb\xbfa\nb", Options{}, "a|b"},
		{string(little), Options{}, "1|Åsa 𝄞"},
		{string(big), Options{}, "1|Åsa 𝄞"},
		{gz.String(), Options{}, "1|2"},
		{zs.String(), Options{}, "1|Åsa 𝄞"},
		{"\xc5sa\nBj\xf6rn\n", Options{}, "\xc5sa|Bj\xf6rn"},
		{"01\n2\n3\n", Options{}, "01|2|3"}, // no header: a string, as in graphs
		{"18446744073709551616\n1\n", Options{}, "18446744073709551616|1"},
		{"Ann Lee\nTwo\n", Options{}, "Ann Lee|Two"},
		{"\"Lee, Ann\"\n\"2 Live Crew\"\n\"say \"\"a\"\"\"\n\"name\"\n", Options{}, `Lee, Ann|2 Live Crew|say "a"|name`},
		{"\"name\"\nann\n", Options{}, "name|ann"},
		{"\"id\"\n1\n2\n", Options{}, "id|1|2"},
		{"1.0\n-3\n1e6\n", Options{IDType: "string"}, "1.0|-3|1e6"},
		{"x\n", Options{}, "x"},
	} {
		if got, err := readList(t, c.text, c.o); err != nil || got != c.want {
			t.Errorf("%q: %q, %v, want %q", c.text, got, err, c.want)
		}
	}
	n, err := ReadList(context.Background(), "-", Options{Stdin: strings.NewReader("1\n2\n")}, func([]byte) error { return nil })
	if n != 2 || err != nil {
		t.Errorf("from standard input: %d ids, %v", n, err)
	}
}

func TestListFaults(t *testing.T) {
	for text, want := range map[string]string{
		"":                             "v: lists no vertex. Nothing was written. " + onePerLine,
		"# nothing\n\n":                "lists no vertex",
		"id\n1\n2\n":                   "v:1: every id but this one is a number, so it looks like a header",
		"# x\nName\nann\n":             "v:2: this is the name of a column, so it looks like a header (it reads \"Name\")",
		"1,Ann\n2,Bo\n":                "v:1: a row of several columns where one id is needed (it reads \"1,Ann\")",
		"1\n2\tx\n":                    "v:2: a row of several columns",
		"1\n2;x\n":                     "v:2: a row of several columns",
		"1\n2|x\n":                     "v:2: a row of several columns",
		"1\n\n2 Bo\n":                  "v:3: a row of several columns",
		"\"1\",\"Ann\"\n":              "v:1: a row of several columns",
		"\"a\nb\"\n":                   "v:1: a quoted field that is never closed",
		"\"a\"b\n":                     "v:1: text after a closing quote",
		"\"\"\nb\n":                    "v:1: an empty vertex id",
		"1\n1.0\n":                     "v:2: vertex id \"1.0\" is written as a decimal number (it reads \"1.0\"). Nothing was written. " + idRemedy,
		"1\n1e6\n":                     "v:2: vertex id \"1e6\"",
		"1\r2\r-3\r":                   "v:3: negative vertex id \"-3\"",
		"1\r2\rx\x00\r":                "v:3: byte 0 in the text",
		"\x1f\x8b\x08\x00z":            "gzip data",
		"\xff\xfea\x00\x00":            "an odd number of bytes",
		"PAR1\x00\x00\x00\x00":         "this is a Parquet file",
		"%PDF-1.4\n":                   "a PDF document",
		"<html>\n":                     "a web page",
		strings.Repeat("x", maxLine+1): "v:1: line longer than 16 MiB",
	} {
		_, err := readList(t, text, Options{})
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "Nothing was written.") {
			t.Errorf("%.40q: %v, want %q", text, err, want)
		}
	}
	_, err := ReadList(context.Background(), "/not/there", Options{}, nil)
	if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "Check the path.") {
		t.Errorf("absent list: %v", err)
	}
	stop := errors.New("enough")
	if _, err := ReadList(context.Background(), "-", Options{Stdin: strings.NewReader("1\n")}, func([]byte) error { return stop }); err != stop {
		t.Errorf("error of the callback: %v", err)
	}
}

// Any bytes are a list or an error, and a list of ids in quotes comes back as it was.
func FuzzList(f *testing.F) {
	for _, s := range []string{"1\n2\n", "\xff\xfe1\x00\r\x00\n\x00", "\"a,b\"\r\rc", "# c\n%\n01\n", "id\n1", "\x1f\x8b", "a\tb", "\"\"", "1.0"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var ids, quoted []string
		read := func(text string, to *[]string) error {
			_, err := ReadList(context.Background(), "-", Options{Stdin: strings.NewReader(text), IDType: "string"}, func(id []byte) error {
				*to = append(*to, string(id))
				return nil
			})
			return err
		}
		if read(string(data), &ids) != nil {
			return
		}
		var text strings.Builder
		for _, id := range ids {
			text.WriteString(`"` + strings.ReplaceAll(id, `"`, `""`) + "\"\n")
		}
		if err := read(text.String(), &quoted); err != nil || strings.Join(ids, "\n") != strings.Join(quoted, "\n") {
			t.Errorf("%q gives %q, in quotes %q, %v", data, ids, quoted, err)
		}
	})
}
