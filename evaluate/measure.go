package evaluate

import (
	"context"

	"golang.org/x/sync/errgroup"

	"github.com/privcom/privcom/evaluate/community"
	"github.com/privcom/privcom/evaluate/statistics"
)

// measure fills the graph figures and their errors.
func (c *comparison) measure(ctx context.Context, e *Evaluation) error {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() (err error) { e.Original, err = c.figures(ctx, c.original); return err })
	group.Go(func() (err error) { e.Synthetic, err = c.figures(ctx, c.synthetic); return err })
	if err := group.Wait(); err != nil {
		return err
	}
	e.Edges = change(float64(e.Original.Edges), float64(e.Synthetic.Edges))
	e.Degrees = degreeErrors(c.original, c.synthetic)
	e.Quantities = quantities(e)
	if !c.o.SkipPaths {
		d := statistics.Diverge(e.Original.Paths.Histogram, e.Synthetic.Paths.Histogram)
		e.Distances = &d
		x, y := e.Original.centrality, e.Synthetic.centrality
		e.Centrality = &VectorErrors{MeanAbsolute: statistics.MeanAbsolute(x, y), Correlation: statistics.Correlation(x, y)}
	}
	return nil
}

func (c *comparison) figures(ctx context.Context, g *community.Graph) (f Figures, err error) {
	f = Figures{Edges: g.Edges(), Degrees: statistics.DegreesOf(g), Assortativity: statistics.Assortativity(g)}
	if f.Clustering, err = statistics.ClusteringOf(ctx, g, c.o.Statistics); err != nil {
		return f, err
	}
	if !c.o.SkipPaths {
		paths, err := statistics.PathsOf(ctx, g, c.o.Statistics)
		if err != nil {
			return f, err
		}
		f.Paths = &paths
		if f.centrality, _, err = statistics.EigenvectorCentrality(ctx, g); err != nil {
			return f, err
		}
	}
	c.step("statistics")
	return f, nil
}

func degreeErrors(original, synthetic *community.Graph) DegreeErrors {
	a, b := statistics.DegreesOf(original), statistics.DegreesOf(synthetic)
	d := DegreeErrors{Mean: change(a.Mean, b.Mean), Max: change(float64(a.Max), float64(b.Max))}
	n := original.Vertices()
	from, to := make([]float64, n), make([]float64, n)
	for v := range n {
		from[v], to[v] = float64(original.Degree(v)), float64(synthetic.Degree(v))
		d.MaxAbsolute = max(d.MaxAbsolute, int(abs(from[v]-to[v])))
	}
	d.MeanAbsolute = statistics.MeanAbsolute(from, to)
	d.Correlation = statistics.Correlation(from, to)
	p, q := statistics.Histogram(original), statistics.Histogram(synthetic)
	d.Distribution = statistics.Diverge(p, q)
	d.HistogramFrom, d.HistogramTo = sparse(p), sparse(q)
	return d
}

func sparse(h []int64) [][2]int64 {
	s := [][2]int64{}
	for value, count := range h {
		if count > 0 {
			s = append(s, [2]int64{int64(value), count})
		}
	}
	return s
}

// quantities is the table of graph figures, after the queries of the Private Graph
// Benchmark (arXiv 2408.02928).
func quantities(e *Evaluation) []Quantity {
	a, b := &e.Original, &e.Synthetic
	line := func(name string, of func(*Figures) float64) Quantity {
		return Quantity{Name: name, Change: change(of(a), of(b))}
	}
	clustering := func(q Quantity, of func(statistics.Clustering) float64) Quantity {
		q.Sampled = !a.Clustering.Exact || !b.Clustering.Exact
		q.OriginalError, q.SyntheticError = of(a.Clustering), of(b.Clustering)
		return q
	}
	list := []Quantity{
		line("edges", func(f *Figures) float64 { return float64(f.Edges) }),
		line("mean degree", func(f *Figures) float64 { return f.Degrees.Mean }),
		line("degree variance", func(f *Figures) float64 { return f.Degrees.Variance }),
		line("maximum degree", func(f *Figures) float64 { return float64(f.Degrees.Max) }),
		line("isolated vertices", func(f *Figures) float64 { return float64(f.Degrees.Isolated) }),
		clustering(line("triangles", func(f *Figures) float64 { return f.Clustering.Triangles }),
			func(c statistics.Clustering) float64 { return ratio(c.Triangles*c.GlobalError, c.Global) }),
		clustering(line("global clustering", func(f *Figures) float64 { return f.Clustering.Global }),
			func(c statistics.Clustering) float64 { return c.GlobalError }),
		clustering(line("average clustering", func(f *Figures) float64 { return f.Clustering.Average }),
			func(c statistics.Clustering) float64 { return c.AverageError }),
		line("assortativity", func(f *Figures) float64 { return f.Assortativity }),
		{Name: "modularity", Change: change(e.ModularityOriginal, e.ModularitySynthetic)},
	}
	if a.Paths == nil || b.Paths == nil {
		return list
	}
	sampled := !a.Paths.Exact || !b.Paths.Exact
	diameter := line("diameter", func(f *Figures) float64 { return float64(f.Paths.Diameter) })
	diameter.Bound = sampled
	average := line("average distance", func(f *Figures) float64 { return f.Paths.Average })
	average.Sampled, average.OriginalError, average.SyntheticError = sampled, a.Paths.Error, b.Paths.Error
	return append(list, average, diameter,
		line("components", func(f *Figures) float64 { return float64(f.Paths.Components) }),
		line("largest component", func(f *Figures) float64 { return float64(f.Paths.LargestComponent) }))
}

func ratio(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}
