package storage

import (
	"bytes"
	"errors"
	"os"
	"testing"

	"github.com/parquet-go/parquet-go"
)

type arcRow struct {
	Row int32 `parquet:"row,delta"`
	Col int32 `parquet:"col,delta"`
}

type namedRow struct {
	ID    string  `parquet:"id"`
	Score float64 `parquet:"score"`
}

func writeParquet[T any](t testing.TB, b *Bucket, key string, o ParquetOptions, rows []T) {
	t.Helper()
	w, err := b.NewWriter(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	p, err := NewParquet[T](w, o)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Write(rows); err != nil {
		t.Fatal(err)
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	if p.Rows() != int64(len(rows)) {
		t.Fatalf("%d rows counted, %d given", p.Rows(), len(rows))
	}
	if err := w.Commit(); err != nil {
		t.Fatal(err)
	}
}

func readParquet[T any](t testing.TB, b *Bucket, key string) []T {
	t.Helper()
	var all []T
	n, err := ReadParquet(t.Context(), b, key, func(rows []T) error {
		all = append(all, rows...)
		return nil
	})
	if err != nil || n != int64(len(all)) {
		t.Fatalf("%d rows counted, %d read, %v", n, len(all), err)
	}
	return all
}

func arcs(n int) []arcRow {
	rows := make([]arcRow, n)
	for i := range rows {
		rows[i] = arcRow{Row: int32(i / 7), Col: int32(i*i%1009 - 3)}
	}
	return rows
}

func TestParquetRoundTrip(t *testing.T) {
	b, _ := Open(t.Context(), "mem://")
	for _, codec := range []string{"", "zstd", "snappy", "none"} {
		for _, n := range []int{0, 1, 4095, 4096, 10000} {
			want := arcs(n)
			writeParquet(t, b, "f", ParquetOptions{Compression: codec, RowGroupRows: 5000, SortedBy: []string{"row"}}, want)
			got := readParquet[arcRow](t, b, "f")
			for i := range want {
				if got[i] != want[i] {
					t.Fatalf("%s: row %d of %d is %v, want %v", codec, i, n, got[i], want[i])
				}
			}
			if len(got) != n {
				t.Fatalf("%s: %d rows of %d", codec, len(got), n)
			}
		}
	}
}

func TestParquetRowGroups(t *testing.T) {
	b, _ := Open(t.Context(), "mem://")
	for _, c := range []struct{ rows, limit, groups int }{{0, 10, 0}, {10, 10, 1}, {11, 10, 2}, {25, 10, 3}} {
		writeParquet(t, b, "f", ParquetOptions{RowGroupRows: int64(c.limit), Metadata: map[string]string{"format": "test/1"}}, arcs(c.rows))
		f, err := b.OpenFile(t.Context(), "f")
		if err != nil {
			t.Fatal(err)
		}
		file, err := OpenParquet(f)
		if err != nil {
			t.Fatal(err)
		}
		if len(file.RowGroups()) != c.groups || file.NumRows() != int64(c.rows) {
			t.Errorf("%d rows in groups of %d: %d groups, %d rows", c.rows, c.limit, len(file.RowGroups()), file.NumRows())
		}
		if v, ok := file.Lookup("format"); !ok || v != "test/1" {
			t.Errorf("footer metadata %q", v)
		}
		for _, g := range file.RowGroups() {
			if g.NumRows() == 0 {
				t.Error("an empty row group")
			}
		}
		for _, g := range file.Metadata().RowGroups {
			for _, c := range g.Columns {
				for _, e := range c.MetaData.Encoding {
					if e == parquet.RLEDictionary.Encoding() || e == parquet.PlainDictionary.Encoding() {
						t.Errorf("column %v has a dictionary", c.MetaData.PathInSchema)
					}
				}
				if len(c.MetaData.Statistics.MinValue) == 0 {
					t.Errorf("column %v has no statistics", c.MetaData.PathInSchema)
				}
			}
		}
		f.Close()
	}
}

func TestParquetSameContentSameBytes(t *testing.T) {
	b, _ := Open(t.Context(), "mem://")
	o := ParquetOptions{Metadata: map[string]string{"b": "2", "a": "1", "c": "3"}}
	writeParquet(t, b, "one", o, arcs(5000))
	writeParquet(t, b, "two", o, arcs(5000))
	one, _, _ := b.Hash(t.Context(), "one")
	two, _, _ := b.Hash(t.Context(), "two")
	if one != two {
		t.Error("equal rows gave different bytes")
	}
}

func TestParquetWrongSchema(t *testing.T) {
	b, _ := Open(t.Context(), "mem://")
	writeParquet(t, b, "f", ParquetOptions{}, []namedRow{{"a", 1}})
	_, err := ReadParquet(t.Context(), b, "f", func([]arcRow) error { return nil })
	var corrupt *CorruptError
	if !errors.As(err, &corrupt) || corrupt.Key != "f" {
		t.Errorf("rows of another type were read: %v", err)
	}
	type onlyID struct {
		ID int64 `parquet:"id"`
	}
	if _, err := ReadParquet(t.Context(), b, "f", func([]onlyID) error { return nil }); err == nil {
		t.Error("a string column was read as int64")
	}
}

func TestParquetCallerErrorComesBack(t *testing.T) {
	b, _ := Open(t.Context(), "mem://")
	writeParquet(t, b, "f", ParquetOptions{}, arcs(10))
	mine := errors.New("mine")
	if _, err := ReadParquet(t.Context(), b, "f", func([]arcRow) error { return mine }); err != mine {
		t.Errorf("got %v", err)
	}
	if _, err := NewParquet[arcRow](nil, ParquetOptions{Compression: "lzo"}); err == nil {
		t.Error("an unknown codec was accepted")
	}
}

// FuzzReadParquet: any bytes give rows or a *CorruptError, never a panic.
func FuzzReadParquet(f *testing.F) {
	var out bytes.Buffer
	p, err := NewParquet[namedRow](&out, ParquetOptions{})
	if err != nil {
		f.Fatal(err)
	}
	p.Write([]namedRow{{"a", 1}, {"bb", 2}})
	p.Close()
	f.Add(out.Bytes())
	f.Add([]byte("PAR1PAR1"))
	f.Fuzz(func(t *testing.T, data []byte) {
		b, _ := Open(t.Context(), t.TempDir())
		if err := b.Put(t.Context(), "f", data); err != nil {
			t.Fatal(err)
		}
		_, err := ReadParquet(t.Context(), b, "f", func([]namedRow) error { return nil })
		var corrupt *CorruptError
		if err != nil && !errors.As(err, &corrupt) {
			t.Fatalf("got %v", err)
		}
	})
}

func TestParquetDamageIsTyped(t *testing.T) {
	b, dir := openFolderFor(t)
	writeParquet(t, b, "f", ParquetOptions{}, arcs(300))
	good, err := os.ReadFile(dir + "/f")
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(good); i += 3 {
		bad := bytes.Clone(good)
		bad[i] ^= 0xff
		mustPut(t, b, "g", string(bad))
		_, err := ReadParquet(t.Context(), b, "g", func([]arcRow) error { return nil })
		var corrupt *CorruptError
		if err != nil && !errors.As(err, &corrupt) {
			t.Fatalf("byte %d: %v", i, err)
		}
	}
}
