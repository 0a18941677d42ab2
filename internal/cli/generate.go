package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/privcom/privcom/export"
	"github.com/privcom/privcom/generate"
	"github.com/privcom/privcom/release"
)

// generated is what a generate command reports.
type generated struct {
	Out      string  `json:"out"`
	Labels   string  `json:"labels,omitempty"`
	Vertices int64   `json:"vertices"`
	Edges    int64   `json:"edges"`
	Seconds  float64 `json:"seconds"`
}

func newGenerate(a *app) *cobra.Command {
	c := group(&cobra.Command{Use: "generate", Short: "Make a synthetic test graph (seeded, streaming)",
		Long: "generate writes a random graph from a published model: a planted partition, the LFR benchmark, or R-MAT.\nThe format follows the file's name: .txt .tsv .edges .csv .mtx .gml .graphml .parquet, with .gz or .zst."})
	c.AddCommand(a.generateSBM(), a.generateLFR(), a.generateRMAT())
	return c
}

// generateCommand gives a model's command the flags that all of them share.
func (a *app) generateCommand(use, short string, seed *uint64, spec func() generate.Spec) *cobra.Command {
	var out, labels string
	var force bool
	c := &cobra.Command{Use: use, Short: short, Args: args(cobra.NoArgs), RunE: func(cmd *cobra.Command, _ []string) error {
		if out == "" {
			return usagef("--out is not set: name the file to write, for example --out graph.txt")
		}
		for _, path := range []string{out, labels} {
			if err := refuseExisting(path, force); err != nil {
				return err
			}
		}
		return a.generate(cmd.Context(), spec(), out, labels)
	}}
	c.Flags().StringVar(&out, "out", "", "file to write; its name says the format")
	c.Flags().StringVar(&labels, "labels", "", "also write the planted communities to this file")
	c.Flags().Uint64Var(seed, "seed", 1, "seed of the randomness")
	c.Flags().BoolVar(&force, "force", false, "replace files that exist")
	return c
}

// refuseExisting keeps a command from replacing a file that it was not told to.
func refuseExisting(path string, force bool) error {
	if path == "" || force {
		return nil
	}
	if _, err := os.Stat(path); err == nil {
		return fileExists(path)
	}
	return nil
}

// fileExists is an output that is there already (exit code 5).
type fileExists string

func (e fileExists) Error() string {
	return string(e) + " exists already; nothing was written; remove it or give --force"
}

func (e fileExists) Is(target error) bool { return target == release.ErrOccupied }

func (a *app) generate(ctx context.Context, spec generate.Spec, out, labels string) (err error) {
	if err := spec.Validate(); err != nil {
		return specFault(err)
	}
	start := time.Now()
	planted, err := spec.Labels()
	if err != nil {
		return specFault(err)
	}
	if labels != "" && planted == nil {
		return usagef("this model plants no communities: leave out --labels")
	}
	if err := os.MkdirAll(filepath.Dir(out), 0o755); err != nil {
		return err
	}
	w, err := export.NewWriter(out, export.Options{N: spec.Vertices(), Labels: planted})
	if err != nil {
		return usage(err)
	}
	defer func() { err = errors.Join(err, w.Abort()) }()
	p := a.newProgress()
	defer p.close()
	res := generated{Out: out, Labels: labels, Vertices: spec.Vertices()}
	err = generate.Generate(ctx, spec, func(u, v int64) error {
		if res.Edges++; res.Edges%(1<<20) == 1 {
			p.report("generating", res.Edges, 0)
		}
		return w.Write(u, v)
	})
	if err != nil {
		return specFault(err)
	}
	if err := w.Close(); err != nil {
		return err
	}
	if labels != "" {
		if err := export.WriteLabels(labels, planted, nil); err != nil {
			return err
		}
	}
	p.close()
	res.Seconds = time.Since(start).Seconds()
	return a.print(res, func(w io.Writer) error {
		_, err := fmt.Fprintf(w, "%s: %d vertices, %d edges, %.1f s\n", res.Out, res.Vertices, res.Edges, res.Seconds)
		return err
	})
}

// specFlags are the flags of the fields of a generate.Spec.
var specFlags = strings.NewReplacer("PIn", "--p-in", "POut", "--p-out", "DegreeIn", "--degree-in", "DegreeOut", "--degree-out",
	"Exponent", "--exponent", "Communities", "--communities", "Tau1", "--tau1", "Tau2", "--tau2", "Mu", "--mu",
	"AverageDegree", "--average-degree", "MaxDegree", "--max-degree", "MinCommunity", "--min-community", "MaxCommunity", "--max-community",
	"EdgeFactor", "--edge-factor", "Scale", "--scale", "A+B+C+D", "--a + --b + --c + --d")

// specLetters are fields whose names are letters, where they stand alone.
var specLetters = regexp.MustCompile(`\b(N|A|B|C|D)\b`)

// specFault says what is wrong with a model's parameters by their flags.
func specFault(err error) error {
	var spec *generate.SpecError
	var place *generate.NoPlaceError
	if !errors.As(err, &spec) && !errors.As(err, &place) {
		return err
	}
	text := specLetters.ReplaceAllStringFunc(specFlags.Replace(err.Error()), func(letter string) string {
		if letter == "N" {
			return "--vertices"
		}
		return "--" + strings.ToLower(letter)
	})
	return usagef("%s", text)
}

func (a *app) generateSBM() *cobra.Command {
	s := generate.SBM{}
	c := a.generateCommand("sbm", "Planted partition (stochastic block model)", &s.Seed, func() generate.Spec { return s })
	f := c.Flags()
	f.Int64Var(&s.N, "vertices", 1000, "number of vertices")
	f.IntVar(&s.Communities, "communities", 2, "number of equal communities")
	f.Float64Var(&s.DegreeIn, "degree-in", 0, "expected neighbours inside the own community")
	f.Float64Var(&s.DegreeOut, "degree-out", 0, "expected neighbours outside of it")
	f.Float64Var(&s.PIn, "p-in", 0, "probability of an edge inside a community, instead of --degree-in")
	f.Float64Var(&s.POut, "p-out", 0, "probability of an edge between communities, instead of --degree-out")
	f.Float64Var(&s.Exponent, "exponent", 0, "power law of the degrees (above 2); 0: all alike")
	f.BoolVar(&s.Ordered, "ordered", false, "number vertices by community")
	return c
}

func (a *app) generateLFR() *cobra.Command {
	s := generate.DefaultLFR(1000)
	set := map[string]bool{}
	c := a.generateCommand("lfr", "LFR benchmark: power-law degrees and community sizes", &s.Seed, func() generate.Spec {
		d := generate.DefaultLFR(s.N)
		for name, copyField := range map[string]func(){
			"tau1": func() { d.Tau1 = s.Tau1 }, "tau2": func() { d.Tau2 = s.Tau2 }, "mu": func() { d.Mu = s.Mu },
			"average-degree": func() { d.AverageDegree = s.AverageDegree }, "max-degree": func() { d.MaxDegree = s.MaxDegree },
			"min-community": func() { d.MinCommunity = s.MinCommunity }, "max-community": func() { d.MaxCommunity = s.MaxCommunity },
		} {
			if set[name] {
				copyField()
			}
		}
		d.Seed = s.Seed
		return d
	})
	f := c.Flags()
	f.Int64Var(&s.N, "vertices", 1000, "number of vertices")
	f.Float64Var(&s.Tau1, "tau1", s.Tau1, "exponent of the degrees")
	f.Float64Var(&s.Tau2, "tau2", s.Tau2, "exponent of the community sizes")
	f.Float64Var(&s.Mu, "mu", s.Mu, "share of neighbours outside the own community")
	f.Float64Var(&s.AverageDegree, "average-degree", s.AverageDegree, "mean degree (default depends on --vertices)")
	f.Int64Var(&s.MaxDegree, "max-degree", s.MaxDegree, "largest degree (default depends on --vertices)")
	f.Int64Var(&s.MinCommunity, "min-community", s.MinCommunity, "smallest community (default depends on --vertices)")
	f.Int64Var(&s.MaxCommunity, "max-community", s.MaxCommunity, "largest community (default depends on --vertices)")
	run := c.RunE
	c.RunE = func(cmd *cobra.Command, rest []string) error {
		for _, name := range []string{"tau1", "tau2", "mu", "average-degree", "max-degree", "min-community", "max-community"} {
			set[name] = cmd.Flags().Changed(name)
		}
		return run(cmd, rest)
	}
	return c
}

func (a *app) generateRMAT() *cobra.Command {
	s := generate.DefaultRMAT(16)
	c := a.generateCommand("rmat", "R-MAT (Graph500) power-law graph", &s.Seed, func() generate.Spec { return s })
	f := c.Flags()
	f.IntVar(&s.Scale, "scale", s.Scale, "2^scale vertices")
	f.IntVar(&s.EdgeFactor, "edge-factor", s.EdgeFactor, "edges drawn per vertex, before repeats and loops are dropped")
	f.Float64Var(&s.A, "a", s.A, "probability of quadrant (0,0)")
	f.Float64Var(&s.B, "b", s.B, "probability of quadrant (0,1)")
	f.Float64Var(&s.C, "c", s.C, "probability of quadrant (1,0)")
	f.Float64Var(&s.D, "d", s.D, "probability of quadrant (1,1)")
	f.BoolVar(&s.Unscrambled, "unscrambled", false, "keep the model's vertex numbers")
	return c
}
