package cli

import (
	"bufio"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/privcom/privcom/privacy"
	"github.com/privcom/privcom/release"
)

// unitFlag is --unit.
type unitFlag struct{ u *privacy.Unit }

func (f unitFlag) String() string {
	if f.u == nil {
		return ""
	}
	return f.u.String()
}
func (f unitFlag) Set(s string) error { return f.u.UnmarshalText([]byte(s)) }
func (f unitFlag) Type() string       { return "unit" }

// paramFlags binds every public parameter of a release.
func paramFlags(fs *pflag.FlagSet, p *release.Params) {
	*p = release.Defaults()
	fs.Var(unitFlag{&p.Unit}, "unit", "who is protected: node, node-rewire or edge")
	fs.StringVar(&p.Epsilon, "epsilon", "", "privacy budget of this release (required)")
	fs.StringVar(&p.Delta, "delta", p.Delta, "δ of the guarantee")
	fs.Int64Var(&p.DegreeBound, "degree-bound", 0, "D: the guarantee is made for people with at most D contacts; a table states it for others (default n-1: everybody)")
	fs.IntVar(&p.Rank, "rank", p.Rank, "k: number of eigenvectors, one less than communities (default: node units 1; edge n/500-1, from 1 to 8; by a score 4)")
	fs.IntVar(&p.Steps, "steps", 0, "T: number of Oja steps, the paper's γ (default 32; paper profile: its rule)")
	fs.IntVar(&p.Order, "order", p.Order, "h: 2h+1 Katz terms; 0 means H = βA (default 0; paper profile: 1)")
	fs.Lookup("order").DefValue = "0" // help leaves it out: -1 only means that nothing is set
	fs.StringVar(&p.Beta, "beta", "", "Katz decay factor β (default 1 at order 0, 1/(2D) above; paper profile: its Lemma's bound)")
	fs.Float64Var(&p.Eta, "eta", 0, "fixed learning rate η on H̃V (default: x·√(ln n)·w_t/N)")
	fs.Float64Var(&p.StepFactor, "step-factor", p.StepFactor, "x in the learning rate x·√(ln n)·w_t/N")
	fs.Float64Var(&p.Growth, "growth", p.Growth, "g: step t gets a share of the budget that grows as g^t")
	fs.Float64Var(&p.RowNorm, "row-norm", p.RowNorm, "μ: rows of V are clipped to μ·√(k/n)")
	fs.StringVar(&p.RowClip, "row-clip", p.RowClip, "κ of the row clip κ·r·√D of the product: auto, none, a number, or two as in 1..3")
	fs.BoolVar(&p.Centre, "centre", p.Centre, "keep V orthogonal to the constant vector")
	fs.BoolVar(&p.Fit, "fit", p.Fit, "estimate the eigenvectors from all steps instead of the last")
	fs.StringVar(&p.Edges, "edges", p.Edges, "number of edges to publish: auto (a noisy count) or a public number")
	fs.Float64Var(&p.CountShare, "count-share", p.CountShare, "share of the budget for numbers of edges (--edges auto, --reconstruct blocks)")
	fs.Float64Var(&p.OwnShare, "own-share", p.OwnShare, "blocks: share of ε for a person's own row in the read-out of labels (default: the best by prediction, see plan)")
	fs.Float64Var(&p.LabelShare, "label-share", p.LabelShare, "blocks: share of the rest for the neighbours' rows (default: the best by prediction; edge: 0, no read-out)")
	fs.Lookup("own-share").DefValue, fs.Lookup("label-share").DefValue = "0", "0"
	fs.StringVar(&p.Reconstruct, "reconstruct", "", "blocks, inverse-katz, laplacian or paper-literal (default blocks at order 0, else inverse-katz; paper profile: paper-literal)")
	fs.Float64Var(&p.Alpha, "alpha", p.Alpha, "α of the regularised pseudoinverse (laplacian, paper-literal)")
	fs.StringVar(&p.Profile, "profile", "", "paper: the paper's own constants, which drown the signal (docs/paper.md)")
	fs.Uint64Var(&p.Seed, "seed", p.Seed, "seed of the public randomness only; noise is never seeded")
	fs.StringVar(&p.Initial, "initial", "", "text file with the initial matrix V₀, one row of k numbers per vertex")
}

// readMatrix reads V₀: n lines of k numbers.
func readMatrix(path string, n, k int) ([]float64, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("initial matrix: %w", err)
	}
	defer f.Close()
	out := make([]float64, 0, n*k)
	sc := bufio.NewScanner(f)
	sc.Buffer(nil, 1<<24)
	line := 0
	for sc.Scan() {
		fields := strings.FieldsFunc(sc.Text(), func(r rune) bool { return r == ' ' || r == '\t' || r == ',' || r == ';' })
		line++
		if len(fields) == 0 || strings.HasPrefix(fields[0], "#") {
			continue
		}
		if len(fields) != k {
			return nil, fmt.Errorf("%s:%d: %d numbers, want k = %d", path, line, len(fields), k)
		}
		for _, s := range fields {
			x, err := strconv.ParseFloat(s, 64)
			if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
				return nil, fmt.Errorf("%s:%d: %q is not a finite number", path, line, s)
			}
			out = append(out, x)
		}
	}
	if err := sc.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(out) != n*k {
		return nil, fmt.Errorf("%s: %d rows, the graph has %d vertices", path, len(out)/max(k, 1), n)
	}
	return out, nil
}
