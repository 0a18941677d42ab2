package cli

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"

	"github.com/privcom/privcom/bench"
	"github.com/privcom/privcom/evaluate"
	"github.com/privcom/privcom/evaluate/community"
	"github.com/privcom/privcom/evaluate/method"
	"github.com/privcom/privcom/partition"
	"github.com/privcom/privcom/privacy"
	"github.com/privcom/privcom/release"
)

// benchGraph is a graph that releases are made of, read once.
type benchGraph struct {
	folder string // as ingested
	ids    []string
	graph  *community.Graph
}

// benchRunner makes the graphs of an experiment's jobs.
type benchRunner struct {
	a      *app
	temp   string // for ingested graphs and releases, private
	graphs map[string]*benchGraph
	done   int64 // releases made, for their folders' names
}

// load reads a graph file under a name.
func (r *benchRunner) load(ctx context.Context, name, path string, p *progress) error {
	folder := filepath.Join(r.temp, "graph-"+strconv.Itoa(len(r.graphs)))
	bucket, err := openLasting(ctx, "temp", folder)
	if err != nil {
		return err
	}
	defer bucket.Close()
	f := ingestFlags{memory: 1 << 30}
	o := f.options(r.a, []string{path})
	o.Shards, o.Progress = 1, p.report
	if _, _, err := partition.Ingest(ctx, o, bucket); err != nil {
		return input(err)
	}
	g, err := partition.OpenGraph(ctx, bucket)
	if err != nil {
		return err
	}
	b := &benchGraph{folder: folder}
	if b.ids, b.graph, err = wholeGraph(ctx, g); err != nil {
		return err
	}
	r.graphs[name] = b
	return nil
}

func (r *benchRunner) all() map[string]*community.Graph {
	m := map[string]*community.Graph{}
	for name, g := range r.graphs {
		m[name] = g.graph
	}
	return m
}

// make runs the method of a job.
func (r *benchRunner) make(ctx context.Context, j bench.Job, g *community.Graph) (*community.Graph, error) {
	switch j.Method {
	case bench.Ceiling, bench.OneCommunity, bench.Singletons:
		return g, nil
	case bench.RandomGraph:
		return evaluate.RandomGraph(ctx, g.Vertices(), g.Edges(), rand.New(rand.NewPCG(j.Seed, 'R')))
	case bench.PrivCom, bench.PrivComOne, bench.PaperProfile:
		return r.release(ctx, j, g)
	}
	m, err := method.Find(r.a.methods, j.Method)
	if err != nil {
		return nil, err
	}
	// The first cuts know no number of edges of their own: they are told the true one.
	return m.Run(ctx, g, method.Options{Epsilon: j.Epsilon, Delta: j.Delta, Seed: j.Seed, Edges: g.Edges()})
}

// release makes a release as the command does, under a ledger of its own, and reads it.
func (r *benchRunner) release(ctx context.Context, j bench.Job, g *community.Graph) (*community.Graph, error) {
	r.done++
	dir := filepath.Join(r.temp, "release-"+strconv.FormatInt(r.done, 10))
	defer os.RemoveAll(dir)
	p := release.Defaults()
	p.Dataset, p.Seed, p.DegreeBound = "bench", j.Seed, j.DegreeBound
	p.Epsilon, p.Delta = strconv.FormatFloat(j.Epsilon, 'f', -1, 64), strconv.FormatFloat(j.Delta, 'f', -1, 64)
	var err error
	if p.Unit, err = privacy.ParseUnit(j.Unit); err != nil {
		return nil, err
	}
	switch j.Method {
	case bench.PrivComOne:
		p.Rank = 1
	case bench.PaperProfile: // which cannot measure the number of edges: it is told the true one
		p.Profile, p.Edges = "paper", strconv.FormatInt(g.Edges(), 10)
	}
	b := r.graphs[j.Graph]
	silent := &app{stdin: r.a.stdin, stdout: io.Discard, stderr: io.Discard, output: "none", quiet: true}
	out := filepath.Join(dir, "out")
	f := releaseFlags{params: p, graph: b.folder, out: out, shards: 1, logs: logFlags{"text", "error"},
		ledger: ledgerFlags{url: filepath.Join(dir, "ledger"), dataset: "bench"}}
	if err := silent.release(ctx, &f); err != nil {
		return nil, err
	}
	_, made, err := loadRelease(ctx, out, b.ids)
	return made, err
}

// benchTitle is how the progress calls a job.
func benchTitle(j bench.Job) string {
	if j.Epsilon == 0 {
		return fmt.Sprintf("%s on %s", j.Method, j.Graph)
	}
	if j.DegreeBound > 0 {
		return fmt.Sprintf("%s on %s, %s D = %d ε = %g", j.Method, j.Graph, j.Unit, j.DegreeBound, j.Epsilon)
	}
	return fmt.Sprintf("%s on %s, %s ε = %g", j.Method, j.Graph, j.Unit, j.Epsilon)
}
