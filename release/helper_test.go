package release

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/privcom/privcom/blockmatmul"
	"github.com/privcom/privcom/generate"
	"github.com/privcom/privcom/partition"
	"github.com/privcom/privcom/privacy"
	"github.com/privcom/privcom/storage"
	"github.com/privcom/privcom/synthesis"
)

// engine runs a release in this process: the reference product and goroutines.
type engine struct {
	blockmatmul.Local
	synthesis.LocalRunner
}

func openBucket(t testing.TB, where string) *storage.Bucket {
	t.Helper()
	b, err := storage.Open(context.Background(), where)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	return b
}

// ingest makes a graph folder of a text edge list.
func ingest(t testing.TB, edges string, shards int) *partition.Graph {
	t.Helper()
	ctx := context.Background()
	file := filepath.Join(t.TempDir(), "graph.txt")
	if err := os.WriteFile(file, []byte(edges), 0o600); err != nil {
		t.Fatal(err)
	}
	b := openBucket(t, t.TempDir())
	if _, _, err := partition.Ingest(ctx, partition.Options{Inputs: []string{file}, Shards: shards, Memory: 1 << 26, TempDir: t.TempDir()}, b); err != nil {
		t.Fatal(err)
	}
	g, err := partition.OpenGraph(ctx, b)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// planted is an edge list of two equal communities.
func planted(t testing.TB, n int64, in, out float64) string {
	t.Helper()
	var b strings.Builder
	err := generate.Generate(context.Background(), generate.SBM{N: n, Communities: 2, DegreeIn: in, DegreeOut: out, Seed: 1},
		func(u, v int64) error { _, err := fmt.Fprintln(&b, u, v); return err })
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// rig is everything that one release needs.
type rig struct {
	Options
	ledgerBucket *storage.Bucket
}

// memory is a bucket of its own in memory, quicker than a folder's fsync.
func memory(t testing.TB, name string) *storage.Bucket {
	return openBucket(t, fmt.Sprintf("mem://%s-%d", name, memories.Add(1)))
}

var memories atomic.Int64

// newRig prepares an edge-private release of a graph, in memory.
func newRig(t testing.TB, g *partition.Graph) *rig {
	t.Helper()
	whole, err := g.LoadWhole(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	p := Defaults()
	p.Unit, p.Epsilon, p.Rank, p.Steps = privacy.Edge, "2", 2, 4
	r := &rig{ledgerBucket: memory(t, "ledger")}
	ledger, err := privacy.OpenLedger(r.ledgerBucket, "people")
	if err != nil {
		t.Fatal(err)
	}
	r.Options = Options{ID: "r1", Params: p, Graph: g, Ledger: ledger, Tool: "privcom test",
		Engine: &engine{blockmatmul.Local{N: int(g.Manifest().Vertices), Blocks: []*blockmatmul.CSR{whole}},
			synthesis.LocalRunner{Handlers: synthesis.Handlers(), Workers: 2}},
		Out: memory(t, "out"), Work: memory(t, "work")}
	return r
}

// state reads the ledger, which must always be readable.
func (r *rig) state(t testing.TB) privacy.State {
	t.Helper()
	s, err := r.Ledger.State(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// keys lists the release folder.
func (r *rig) keys(t testing.TB) []string {
	t.Helper()
	keys, err := r.Out.List(context.Background(), "")
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

func mustRun(t testing.TB, r *rig) *Document {
	t.Helper()
	d, err := Run(context.Background(), r.Options)
	if err != nil {
		t.Fatal(err)
	}
	return d
}
