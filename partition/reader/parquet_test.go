package reader

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
)

func parquetFile[T any](t testing.TB, rows []T, options ...parquet.WriterOption) []byte {
	t.Helper()
	var b bytes.Buffer
	w := parquet.NewGenericWriter[T](&b, options...)
	for i := range rows {
		if _, err := w.Write(rows[i : i+1]); err != nil {
			t.Fatal(err)
		}
		if i%3 == 2 {
			if err := w.Flush(); err != nil { // a row group of three rows
				t.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func readParquet(t testing.TB, content []byte, o Options) (got, error) {
	return readInputs([]string{filepath.Join(writeFiles(t, "noname", string(content)), "noname")}, o)
}

type signedRow struct {
	Source int64   `parquet:"source"`
	Target int32   `parquet:"target"`
	Weight float64 `parquet:"weight"`
}

type unsignedRow struct {
	To    uint64 `parquet:"to"`
	From  uint64 `parquet:"from"`
	Small uint32 `parquet:"small"`
}

type stringRow struct {
	A string  `parquet:"a,dict"`
	B *string `parquet:"b,optional"`
}

type floatRow struct {
	Source float64 `parquet:"source"`
	Target float64 `parquet:"target"`
}

type listRow struct {
	Source int64   `parquet:"source"`
	Target []int64 `parquet:"target"`
}

func TestParquet(t *testing.T) {
	g, err := readParquet(t, parquetFile(t, []signedRow{{1, 2, 0.5}, {3, 4, 1}, {9007199254740993, 6, 2}, {7, 7, 3}}), Options{})
	if err != nil || g.edges != "1>2=0.5 3>4=1 9007199254740993>6=2 7>7=3" || g.stats.Format != "parquet" || g.stats.Lines != 4 || !g.stats.Weighted {
		t.Errorf("%q %+v %v", g.edges, g.stats, err)
	}
	u := []unsignedRow{{1, 1<<64 - 1, 1<<32 - 1}, {1 << 63, 1 << 32, 0}}
	g, err = readParquet(t, parquetFile(t, u, parquet.Compression(&parquet.Zstd)), Options{})
	if err != nil || g.edges != "18446744073709551615>1 4294967296>9223372036854775808" {
		t.Errorf("%q %v", g.edges, err)
	}
	g, err = readParquet(t, parquetFile(t, u), Options{Source: "small", Target: "1"})
	if err != nil || g.edges != "4294967295>1 0>9223372036854775808" {
		t.Errorf("%q %v", g.edges, err)
	}
	name := func(s string) *string { return &s }
	names := []stringRow{{"a b", name("c")}, {"\xff", name("d")}, {"e", name("a b")}, {"e", name("f")}}
	g, err = readParquet(t, parquetFile(t, names, parquet.Compression(&parquet.Snappy)), Options{})
	if err != nil || g.edges != "a b>c \xff>d e>a b e>f" {
		t.Errorf("%q %v", g.edges, err)
	}
}

func TestParquetParts(t *testing.T) {
	dir := writeFiles(t, "part-0", string(parquetFile(t, []signedRow{{1, 2, 1}})), "part-1", string(parquetFile(t, []signedRow{{3, 4, 1}})), "_SUCCESS", "")
	g, err := readInputs([]string{dir}, Options{})
	if err != nil || g.edges != "1>2=1 3>4=1" || g.stats.Rows != 2 {
		t.Errorf("%q %v", g.edges, err)
	}
}

func TestParquetRefused(t *testing.T) {
	name := func(s string) *string { return &s }
	good := parquetFile(t, []signedRow{{1, 2, 1}, {3, 4, 1}})
	for _, c := range []struct {
		name    string
		content []byte
		o       Options
		want    string
	}{
		{"floats", parquetFile(t, []floatRow{{1, 2}}), Options{}, "column \"source\" holds floats"},
		{"floats as strings", parquetFile(t, []floatRow{{1, 2}}), Options{IDType: "string"}, "column \"source\" holds floats"},
		{"lists", parquetFile(t, []listRow{{1, []int64{2}}}), Options{}, "column \"target\" holds lists"},
		{"negative", parquetFile(t, []signedRow{{1, 2, 1}, {-3, 4, 1}}), Options{}, ":2: negative vertex id \"-3\""},
		{"null", parquetFile(t, []stringRow{{"a", name("b")}, {"c", nil}}), Options{}, ":2: no value in column b"},
		{"decimal", parquetFile(t, []stringRow{{"a", name("1.0")}}), Options{}, ":1: vertex id \"1.0\" is written as a decimal number"},
		{"columns unknown", parquetFile(t, []unsignedRow{{1, 2, 3}}), Options{Source: "x", Target: "to"}, "no column \"x\"; the columns are to, from, small"},
		{"cut", good[:len(good)-5], Options{}, "the Parquet file cannot be read"},
		{"magic only", []byte("PAR1"), Options{}, "the Parquet file cannot be read"},
		{"other format said", good, Options{Format: "gml"}, "this is a Parquet file, not gml"},
	} {
		if _, err := readParquet(t, c.content, c.o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", c.name, err, c.want)
		}
	}
	g, err := readParquet(t, parquetFile(t, []signedRow{{1, 2, 1}, {-3, 4, 1}, {5, 6, 1}}), Options{MaxBadLines: 1})
	if err != nil || g.edges != "1>2=1 5>6=1" || g.stats.BadLines != 1 {
		t.Errorf("%q %+v %v", g.edges, g.stats, err)
	}
}

// TestParquetDamaged flips each byte of a small file: the reading may succeed
// or fail, but must come back.
func TestParquetDamaged(t *testing.T) {
	good := parquetFile(t, []signedRow{{1, 2, 1}, {3, 4, 1}, {5, 6, 1}, {7, 8, 1}})
	path := filepath.Join(t.TempDir(), "x")
	for i := 4; i < len(good); i++ {
		bad := bytes.Clone(good)
		bad[i] ^= 0x55
		if err := os.WriteFile(path, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		readInputs([]string{path}, Options{})
	}
}
