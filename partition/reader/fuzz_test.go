package reader

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var errEnough = errors.New("enough vertices for a test")

// fuzzRead reads data and checks what holds for every input: errors are of the
// kinds that are documented and name the file, ids are not empty, counts
// agree. It returns a transcript of the reading.
func fuzzRead(t *testing.T, data []byte, o Options) string {
	o.Stdin = bytes.NewReader(data)
	r, err := Open(context.Background(), []string{"-"}, o)
	if err != nil {
		checkError(t, err)
		return "open: " + err.Error()
	}
	defer r.Close()
	return transcript(t, r)
}

func transcript(t *testing.T, r *Reader) string {
	var b strings.Builder
	vertices, rows := 0, int64(0)
	err := r.ForEach(context.Background(), func(id []byte) error {
		if len(id) == 0 {
			t.Error("an empty vertex id")
		}
		if vertices++; vertices > 100_000 {
			return errEnough
		}
		return nil
	}, func(e Edge) error {
		if rows++; len(e.Source) == 0 || len(e.Target) == 0 || e.Line < 1 || e.File == "" {
			t.Errorf("edge %+v", e)
		}
		fmt.Fprintf(&b, "%d %q %q %v %v\n", e.Line, e.Source, e.Target, e.Weight, e.HasWeight)
		return nil
	})
	if s := r.Stats(); s.Rows != rows || s.Lines < 0 || s.BadLines > r.opts.MaxBadLines {
		t.Errorf("%d rows came, stats %+v", rows, s)
	}
	if err != nil && !errors.Is(err, errEnough) {
		checkError(t, err)
		fmt.Fprintf(&b, "error: %v\n", err)
	}
	return b.String()
}

func checkError(t *testing.T, err error) {
	var le *LineError
	var fe *FileError
	switch {
	case errors.As(err, &le):
		if le.Line < 1 || le.Byte < 0 || le.File == "" || le.Reason == "" || len(le.Text) > shortText+3 {
			t.Errorf("error %#v", le)
		}
	case errors.As(err, &fe):
		if fe.File == "" || fe.Reason == "" {
			t.Errorf("error %#v", fe)
		}
	default:
		t.Errorf("error of type %T: %v", err, err)
	}
}

// fuzzFormat fuzzes one format. Reading through a window of 16 bytes must
// bring the same as reading through a large one.
func fuzzFormat(f *testing.F, format string, seeds ...string) {
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 1<<16 {
			return
		}
		want := fuzzRead(t, data, Options{Format: format})
		if isTable(format) { // the dialect is settled by the sample
			return
		}
		defer func(size int) { textWindow = size }(textWindow)
		textWindow = 16
		if got := fuzzRead(t, data, Options{Format: format}); got != want && !strings.HasPrefix(want, "open: ") && !strings.HasPrefix(got, "open: ") {
			t.Errorf("through a small window:\n%s\nthrough a large one:\n%s", got, want)
		}
	})
}

func FuzzGML(f *testing.F) {
	fuzzFormat(f, "gml", "graph [ node [ id 1 label \"a\\\"b\" ] edge [ source 1 target 1 ] ]", "# c\ngraph\n[\nnode [ id \"x\ny\" ]\n]", "graph [ a [ b [ c 1 ] ] ]")
}

func FuzzMatrixMarket(f *testing.F) {
	fuzzFormat(f, "mtx", "%%MatrixMarket matrix coordinate pattern general\n% c\n3 3 2\n1 2\n3 3\n", "%MatrixMarket matrix coordinate real symmetric\n2 2 1\n2 1 0.5\n")
}

func FuzzMETIS(f *testing.F) {
	fuzzFormat(f, "metis", "3 2\n2\n1 3\n2\n", "2 1 011 2\n7 8 2 5\n9 9 1 5\n", "% c\n2 0\n\n\n")
}

func FuzzPajek(f *testing.F) {
	fuzzFormat(f, "pajek", "*Vertices 3\n1 \"a b\"\n*Edges\n1 2 4\n*Arcslist\n1 2 3\n", "*Vertices 2 1\n*Matrix\n1\n", "*Network x\n*Vertices 1\n*Partition\n*Vertices 1\n0\n")
}

func FuzzGraphML(f *testing.F) {
	fuzzFormat(f, "graphml", "<?xml version='1.0'?><graphml><key id='w' attr.name='weight'/><graph><node id='a'/><edge source='a' target='a'><data key='w'>2</data></edge></graph></graphml>",
		"<!DOCTYPE a [ <!ENTITY b \"c\"> ]><graphml><!-- x --><![CDATA[y]]></graphml>")
}

func FuzzGEXF(f *testing.F) {
	fuzzFormat(f, "gexf", "<gexf><graph><nodes count='1'><node id='&#65;'/></nodes><edges><edge source='A' target='A' weight='2'/></edges></graph></gexf>")
}

func FuzzAdjacencyList(f *testing.F) {
	fuzzFormat(f, "adjlist", "# c\na b c\r\nb\n\nd a", "1 2\r2 3\r\r")
}

func FuzzEdgeList(f *testing.F) {
	fuzzFormat(f, "edgelist", "# Nodes: 2 Edges: 1\n1 2\n", "1,2\r\n3,\"a\"\"b\"\r\n", "a\tb c\t1\n", "% sym unweighted\n% 1 2 2\n1 2 3 4\n")
}

func FuzzCSV(f *testing.F) {
	fuzzFormat(f, "csv", "Source,Target,Weight\n\"a\nb\",c,1\n", "x;y\n1;2\n", "\ufefffrom\tto\n1\t2\n")
}

// FuzzDetect lets the content decide, packing included.
func FuzzDetect(f *testing.F) {
	for _, s := range []string{"1 2\n", "a,b\n1,2\n", "graph [ node [ id 1 ] ]", "<graphml><graph><node id='a'/></graph></graphml>", "2 1\n2\n1\n", "*Vertices 1\n*Edges\n1 1\n",
		"%%MatrixMarket matrix coordinate pattern general\n1 1 1\n1 1\n", "PAR1", "PK\x05\x06", "{\"a\": 1}", "\xff\xfe1\x00 \x002\x00", "digraph { }", "p edge 1 1\n"} {
		f.Add([]byte(s))
		f.Add(gzipped(f, s))
		f.Add(zstandard(f, s))
		f.Add(xzed(f, s))
	}
	f.Add(bzipped(f))
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) <= 1<<16 {
			fuzzRead(t, data, Options{MaxBadLines: 3})
		}
	})
}

// FuzzParallel: several workers bring what one does.
func FuzzParallel(f *testing.F) {
	f.Add([]byte("# c\n1 2\n3 4\n"), uint8(1))
	f.Add([]byte("source,target\n\"a\nb\",c\n\"d\",e\n"), uint8(7))
	f.Add([]byte("1 2\r3 4\r\n5 6\r\rx\n7 8\n"), uint8(2))
	f.Add([]byte("0 00\n12345678 \t87654321\r\n123456789,1\n1234567890123456789 12345678901234567890\n 3 4\n3 4 \n5 6 7\n"), uint8(30))
	f.Add([]byte("a,b\n1,2\n3,4\n\"5\",6\n7, 8\n18446744073709551615,9\n"), uint8(9))
	f.Fuzz(func(t *testing.T, data []byte, size uint8) {
		if len(data) > 1<<12 {
			return
		}
		defer func(block, window int) { blockSize, textWindow = block, window }(blockSize, textWindow)
		blockSize, textWindow = int(size)+1, 64
		read := func(workers int, withLines, numbers bool) string {
			r, err := Open(context.Background(), []string{"-"}, Options{Stdin: bytes.NewReader(data)})
			if err != nil {
				return ""
			}
			defer r.Close()
			if !isTable(r.format) {
				return ""
			}
			lines := map[string]int{}
			buckets := make([][]string, workers)
			to := Callbacks{Edge: func(w int, e Edge) error {
				if !withLines {
					e.Line = 0
				}
				buckets[w] = append(buckets[w], fmt.Sprintf("%d %q %q %v", e.Line, e.Source, e.Target, e.Weight))
				return nil
			}}
			if numbers {
				to.Numbers = func(w int, pairs []uint64) error {
					for ; len(pairs) > 0; pairs = pairs[2:] {
						buckets[w] = append(buckets[w], fmt.Sprintf("0 \"%d\" \"%d\" 0", pairs[0], pairs[1]))
					}
					return nil
				}
			}
			err = r.ForEachParallel(context.Background(), workers, to)
			if err != nil {
				return "error: " + err.Error()
			}
			for _, b := range buckets {
				for _, e := range b {
					lines[e]++
				}
			}
			return fmt.Sprintf("%v %+v", lines, r.Stats())
		}
		if one, three := read(1, true, false), read(3, true, false); one != three {
			t.Errorf("%q\none worker:    %s\nthree workers: %s", data, one, three)
		}
		if one, numbers := read(1, false, false), read(3, false, true); one != numbers {
			t.Errorf("%q\nas text:    %s\nas numbers: %s", data, one, numbers)
		}
	})
}

func FuzzParquet(f *testing.F) {
	name := "b"
	f.Add(parquetFile(f, []signedRow{{1, 2, 1}, {3, 4, 1}}))
	f.Add(parquetFile(f, []stringRow{{"a", &name}, {"c", nil}}))
	path := filepath.Join(f.TempDir(), "x")
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 1<<14 {
			return
		}
		if err := os.WriteFile(path, append([]byte("PAR1"), data[min(4, len(data)):]...), 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := Open(context.Background(), []string{path}, Options{})
		if err != nil {
			checkError(t, err)
			return
		}
		defer r.Close()
		transcript(t, r)
	})
}
