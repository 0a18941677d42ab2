package reader

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// got is what a reading brought, in order.
type got struct {
	vertices, edges string // ids and "source>target[=weight]", one blank between
	stats           Stats
}

func readInputs(paths []string, o Options) (got, error) {
	r, err := Open(context.Background(), paths, o)
	if err != nil {
		return got{}, err
	}
	defer r.Close()
	var vertices, edges []string
	err = r.ForEach(context.Background(), func(id []byte) error {
		vertices = append(vertices, string(id))
		return nil
	}, func(e Edge) error {
		s := string(e.Source) + ">" + string(e.Target)
		if e.HasWeight {
			s += fmt.Sprintf("=%g", e.Weight)
		}
		edges = append(edges, s)
		return nil
	})
	return got{strings.Join(vertices, " "), strings.Join(edges, " "), r.Stats()}, err
}

// readText reads a text as standard input.
func readText(text string, o Options) (got, error) {
	o.Stdin = strings.NewReader(text)
	return readInputs([]string{"-"}, o)
}

// readCase is an input with what it must bring: edges and vertices, or the
// beginning of the error behind the name of the input.
type readCase struct {
	name, text      string
	options         Options
	format          string
	vertices, edges string
	err             string
}

func runCases(t *testing.T, cases []readCase) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			g, err := readText(c.text, c.options)
			if c.err != "" {
				if err == nil {
					t.Fatalf("was read: %q", g.edges)
				}
				text := strings.TrimPrefix(err.Error(), stdinName)
				if !strings.HasPrefix(text, c.err) {
					t.Errorf("error %q, want %q", text, c.err)
				}
				if !strings.Contains(text, ". Nothing was written. ") {
					t.Errorf("error %q does not say that nothing was written and what to do", text)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if g.edges != c.edges || g.vertices != c.vertices {
				t.Errorf("edges %q vertices %q\nwant  %q          %q", g.edges, g.vertices, c.edges, c.vertices)
			}
			if c.format != "" && g.stats.Format != c.format {
				t.Errorf("format %q, want %q", g.stats.Format, c.format)
			}
		})
	}
}

// writeFiles writes files into a new folder: name, content, name, content.
func writeFiles(t testing.TB, pairs ...string) string {
	t.Helper()
	dir := t.TempDir()
	for i := 0; i < len(pairs); i += 2 {
		if err := os.WriteFile(filepath.Join(dir, pairs[i]), []byte(pairs[i+1]), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}
