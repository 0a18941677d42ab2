package reader

import (
	"archive/zip"
	"bytes"
	"encoding/base64"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"
)

func gzipped(t testing.TB, text string) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func zstandard(t testing.TB, text string) []byte {
	w, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	return w.EncodeAll([]byte(text), nil)
}

func xzed(t testing.TB, text string) []byte {
	var b bytes.Buffer
	w, err := xz.NewWriter(&b)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func zipped(t testing.TB, pairs ...string) []byte {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for i := 0; i < len(pairs); i += 2 {
		f, err := w.Create(pairs[i])
		if err == nil {
			_, err = f.Write([]byte(pairs[i+1]))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// bzip2Sample is "1 2\n3 4\n", packed by bzip2.
const bzip2Sample = "QlpoOTFBWSZTWdC1HT0AAAJYAAAQQAA8ACAAMMAIabKIIyeLuSKcKEhoWo6egA=="

func bzipped(t testing.TB) []byte {
	b, err := base64.StdEncoding.DecodeString(bzip2Sample)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func join(parts ...[]byte) string { return string(bytes.Join(parts, nil)) }

const packedText = "1 2\n3 4\n"

func TestUnpack(t *testing.T) {
	gz, zs, bz, x := gzipped(t, packedText), zstandard(t, packedText), bzipped(t), xzed(t, packedText)
	const once, twice = "1>2 3>4", "1>2 3>4 1>2 3>4"
	for _, c := range []struct{ name, content, compression, edges, err string }{
		{"gzip", join(gz), "gzip", once, ""},
		{"gzip members", join(gz, gz), "gzip", twice, ""},
		{"gzip member that cuts a line", join(gzipped(t, "1 2\n3"), gzipped(t, " 4\n")), "gzip", once, ""},
		{"gzip empty member", join(gzipped(t, ""), gz, gzipped(t, "")), "gzip", once, ""},
		{"gzip zero padding", join(gz, make([]byte, 5000)), "gzip", once, ""},
		{"gzip garbage", join(gz, []byte("xyz")), "", "", fmt.Sprintf(": byte %d: bytes that are not gzip follow the end of the gzip data", len(gz))},
		{"gzip garbage behind padding", join(gz, make([]byte, 9), []byte("x")), "", "", fmt.Sprintf(": byte %d: bytes that are not gzip", len(gz))},
		{"gzip one more byte", join(gz, []byte{0x1f}), "", "", fmt.Sprintf(": byte %d: bytes that are not gzip", len(gz))},
		{"gzip cut", join(gz[:len(gz)-3]), "", "", fmt.Sprintf(": byte %d: the gzip data stop in the middle: the file is truncated", len(gz)-3)},
		{"gzip cut in the second member", join(gz, gz[:14]), "", "", fmt.Sprintf(": byte %d: the gzip data stop in the middle", len(gz)+14)},
		{"gzip cut in a header", join(gz[:6]), "", "", ": byte 6: the gzip data stop in the middle"},
		{"gzip wrong checksum", join(gz[:len(gz)-8], []byte{1, 2, 3, 4}, gz[len(gz)-4:]), "", "", fmt.Sprintf(": byte %d: the gzip data are damaged", len(gz))},
		{"zstd", join(zs), "zstd", once, ""},
		{"zstd frames", join(zs, zs), "zstd", twice, ""},
		{"zstd skippable frame", join([]byte{0x50, 0x2a, 0x4d, 0x18, 2, 0, 0, 0, 1, 2}, zs), "zstd", once, ""},
		{"zstd cut", join(zs[:len(zs)-3]), "", "", ": byte"},
		{"zstd garbage", join(zs, []byte("garbage!")), "", "", ": byte"},
		{"bzip2", join(bz), "bzip2", once, ""},
		{"bzip2 streams", join(bz, bz), "bzip2", twice, ""},
		{"bzip2 cut", join(bz[:len(bz)-5]), "", "", fmt.Sprintf(": byte %d: the bzip2 data stop in the middle", len(bz)-5)},
		{"xz", join(x), "xz", once, ""},
		{"xz streams", join(x, x), "xz", twice, ""},
		{"xz cut", join(x[:len(x)-9]), "", "", ": byte"},
		{"zip", join(zipped(t, "x.txt", packedText)), "zip", once, ""},
		{"zip with folder", join(zipped(t, "d/", "", "d/x.txt", packedText, "__MACOSX/d/._x.txt", "z")), "zip", once, ""},
		{"zip of two", join(zipped(t, "x.txt", packedText, "y.txt", packedText)), "", "", ": the zip file holds 2 files, not one"},
		{"zip of none", join(zipped(t)), "", "", ": the zip file holds 0 files, not one"},
		{"zip cut", join(zipped(t, "x.txt", packedText)[:40]), "", "", ": byte 40: the zip data are damaged"},
		{"gzip in gzip", join(gzipped(t, join(gz))), "", "", ":1: this is gzip inside another packing"},
		{"gzip of nothing", join(gzipped(t, "")), "", "", ": byte 0: the file is empty"},
		{"UTF-16 in gzip", join(gzipped(t, "\xff\xfe1\x00 \x002\x00\n\x00")), "gzip", "1>2", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(writeFiles(t, "noname", c.content), "noname")
			g, err := readInputs([]string{path}, Options{})
			if c.err != "" {
				if err == nil || !strings.HasPrefix(err.Error(), path+c.err) {
					t.Fatalf("error %v, want %q", err, c.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if g.edges != c.edges || g.stats.Compression != c.compression {
				t.Errorf("edges %q, compression %q", g.edges, g.stats.Compression)
			}
		})
	}
}

func TestZipFromPipe(t *testing.T) {
	_, err := readText(join(zipped(t, "x", packedText)), Options{})
	if err == nil || !strings.Contains(err.Error(), "a zip file cannot be read from a stream") {
		t.Errorf("error %v", err)
	}
}

// TestTruncatedEverywhere cuts packed files at every byte: none may pass.
func TestTruncatedEverywhere(t *testing.T) {
	for name, whole := range map[string][]byte{"gzip": gzipped(t, packedText), "zstd": zstandard(t, packedText), "bzip2": bzipped(t), "xz": xzed(t, packedText)} {
		for n := 1; n < len(whole); n++ {
			g, err := readText(string(whole[:n]), Options{})
			if err == nil {
				t.Errorf("%s cut at %d of %d was read: %q", name, n, len(whole), g.edges)
			}
		}
	}
}

// TestBomb reads 1 GiB of blanks from 1 MB of gzip: the line is too long, and
// is refused while little of it has been unpacked.
func TestBomb(t *testing.T) {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	blank := bytes.Repeat([]byte{' '}, 1<<20)
	for range 64 {
		if _, err := w.Write(blank); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	_, err := readText(b.String(), Options{})
	if err == nil || !strings.Contains(err.Error(), ":1: line longer than 16 MiB") {
		t.Errorf("error %v", err)
	}
}

func TestXZDictionaryBound(t *testing.T) {
	x := xzed(t, packedText)
	if got := xzDictionary(x); got != 8<<20 {
		t.Errorf("dictionary %d, the writer uses 8 MiB", got)
	}
	block := 12 + 2 // stream header, block size and flags
	at := bytes.IndexByte(x[block:], 0x21) + block + 2
	x[at] = 39 // 3 GiB
	_, err := readText(string(x), Options{})
	if err == nil || !strings.Contains(err.Error(), "need a dictionary of 3072 MiB, more than 128 MiB") {
		t.Errorf("error %v", err)
	}
}

func TestEncodings(t *testing.T) {
	wide := func(s string, big bool) string {
		var b strings.Builder
		for _, r := range s {
			if r > 0xffff {
				r -= 0x10000
				for _, u := range []rune{0xd800 + r>>10, 0xdc00 + r&0x3ff} {
					b.Write(unitBytes(u, big))
				}
				continue
			}
			b.Write(unitBytes(r, big))
		}
		return b.String()
	}
	const text = "é,😀\r\né,c\r\n"
	for _, c := range []struct{ name, content, encoding, edges string }{
		{"ASCII", "a b\n", "ASCII", "a>b"},
		{"UTF-8", "é b\n", "UTF-8", "é>b"},
		{"UTF-8 mark", "\ufeffé b\n", "UTF-8 with byte order mark", "é>b"},
		{"mark and ASCII", "\ufeffa b\n", "UTF-8 with byte order mark", "a>b"},
		{"8-bit", "\xe9 b\n", "8-bit, not UTF-8, kept byte for byte", "\xe9>b"},
		{"cut rune at the end", "a \xc3", "8-bit, not UTF-8, kept byte for byte", "a>\xc3"},
		{"UTF-16LE", "\xff\xfe" + wide(text, false), "UTF-16LE", "é>😀 é>c"},
		{"UTF-16BE", "\xfe\xff" + wide(text, true), "UTF-16BE", "é>😀 é>c"},
	} {
		g, err := readText(c.content, Options{})
		if err != nil || g.edges != c.edges || g.stats.Encoding != c.encoding {
			t.Errorf("%s: %q %q %v", c.name, g.edges, g.stats.Encoding, err)
		}
	}
	for content, want := range map[string]string{
		"\xff\xfe\x00\x00a\x00\x00\x00":                             "the text is UTF-32",
		"\xff\xfea\x00 \x00b":                                       "the UTF-16 text is damaged: an odd number of bytes",
		"\xff\xfea\x00 \x00\x00\xd8b\x00":                           "the UTF-16 text is damaged: half a surrogate pair",
		"\xff\xfea\x00 \x00\x00\xd8":                                "the UTF-16 text is damaged: half a surrogate pair",
		"a\x00 \x00b\x00":                                           "byte 0 in the text",
		strings.Repeat("é b\n", 100_000) + "\x00" + "\n":            ":100001: byte 0 in the text",
		"\xff\xfe" + wide("a b\n", false) + wide("c\x00d\n", false): ":2: byte 0 in the text",
	} {
		if _, err := readText(content, Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

func unitBytes(u rune, big bool) []byte {
	if big {
		return []byte{byte(u >> 8), byte(u)}
	}
	return []byte{byte(u), byte(u >> 8)}
}

// TestRuneAcrossReads puts a rune over the end of each window of text.
func TestRuneAcrossReads(t *testing.T) {
	for shift := range 4 {
		text := strings.Repeat("x", shift+1) + " b\n" + strings.Repeat("éé éé\n", 60_000)
		g, err := readText(text, Options{})
		if err != nil || g.stats.Encoding != "UTF-8" {
			t.Errorf("shift %d: %q %v", shift, g.stats.Encoding, err)
		}
	}
}
