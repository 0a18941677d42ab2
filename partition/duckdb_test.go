package partition

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/privcom/privcom/storage"
)

// TestDuckDBReads lets DuckDB count what this package wrote, and compares with what is known of
// the input: nothing of this module is on the reading side.
func TestDuckDBReads(t *testing.T) {
	modules := os.Getenv("PRIVCOM_TEST_DUCKDB")
	if modules == "" {
		t.Skip("PRIVCOM_TEST_DUCKDB does not name a folder in which npm install @duckdb/node-api was run")
	}
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("there is no node to run DuckDB with")
	}
	if _, err := os.Stat(filepath.Join(modules, "node_modules/@duckdb/node-api")); err != nil {
		t.Skipf("PRIVCOM_TEST_DUCKDB has no DuckDB: %v", err)
	}
	for _, c := range []struct {
		name string
		id   func(int) string
	}{
		{"words", func(i int) string { return "v" + strconv.Itoa(i) }},
		{"numbers", func(i int) string { return strconv.FormatUint(1<<64-1-uint64(i), 10) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			// A wheel: vertex 0 with all, each with the next; known degrees, several row groups.
			const rim = 500
			var text strings.Builder
			for i := 1; i <= rim; i++ {
				fmt.Fprintf(&text, "%s %s\n%s %s\n", c.id(0), c.id(i), c.id(i), c.id(i%rim+1))
			}
			dir := t.TempDir()
			b, err := storage.Open(t.Context(), dir)
			if err != nil {
				t.Fatal(err)
			}
			o := Options{Inputs: []string{writeFile(t, "wheel.txt", text.String())}, Shards: 3, RowGroupArcs: 100, TempDir: t.TempDir()}
			if _, _, err := Ingest(t.Context(), o, b); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			said, err := exec.CommandContext(ctx, node, "testdata/duckdb.cjs", modules, dir, c.id(0), c.id(7), c.id(8)).Output()
			if err != nil {
				if exit, ok := err.(*exec.ExitError); ok {
					t.Fatalf("%v: %s", err, exit.Stderr)
				}
				t.Fatal(err)
			}
			var got struct{ Arcs, Edges, Vertices, Highest, Hub, Pair, Sorted string }
			if err := json.Unmarshal(said, &got); err != nil {
				t.Fatalf("%v in %s", err, said)
			}
			if fmt.Sprint(got) != "{2000 1000 501 500 500 2 true}" {
				t.Errorf("DuckDB counts %+v", got)
			}
		})
	}
}
