package cli

import (
	"fmt"
	"io"
	"math"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/privcom/privcom/privacy"
	"github.com/privcom/privcom/release"
)

// planView is what plan prints: the schedule, and what it can and cannot carry.
type planView struct {
	*privacy.Plan
	EpsilonCertified privacy.Decimal `json:"epsilon_certified"`
	GaussianDelta    float64         `json:"reference_gaussian_delta"`
	GaussianMu       float64         `json:"reference_gaussian_mu"`
	BasicComposition float64         `json:"reference_basic_composition_epsilon"`
	Communities      int             `json:"communities"`
	Ceiling          float64         `json:"ceiling"`
	Expected         float64         `json:"expect_eigenvalue,omitempty"`
	SmallestEpsilon  float64         `json:"smallest_epsilon,omitempty"`
	Accounts         int64           `json:"accounts,omitempty"`
	AccountsEpsilon  string          `json:"accounts_epsilon,omitempty"` // for somebody with that many vertices
	Suggested        suggestion      `json:"suggested"`
	Verdict          string          `json:"verdict"`
	// Predicted is the share of vertices that a read-out is expected to place right in a graph of
	// two equal communities whose eigenvalue is PredictedFor; 0 without a read-out.
	Predicted    float64 `json:"predicted_share,omitempty"`
	PredictedFor float64 `json:"predicted_for_eigenvalue,omitempty"`
}

// suggestion is what the documented rules choose from public parameters.
type suggestion struct {
	Steps   int     `json:"steps"`
	Rank    int     `json:"rank"`
	RowNorm float64 `json:"row_norm"`
	RowClip string  `json:"row_clip"`
	Why     string  `json:"why"`
}

// suggest follows prototype and proofs: many small steps, one column per community but
// one, rows of half their natural length, and for node units a row clip that grows with
// what rows come to know.
func suggest(u privacy.Unit, communities int) suggestion {
	s := suggestion{Steps: 32, Rank: communities - 1, RowNorm: 0.5, RowClip: "none",
		Why: fmt.Sprintf("%d communities need %d of V's columns, and each costs in noise; 32 steps are small enough to forget noise and few enough to be quick", communities, communities-1)}
	if u.PerVertex() {
		s.RowClip = "1..2"
	}
	return s
}

func newPlan(a *app) *cobra.Command {
	var p release.Params
	var graph string
	var grid string
	var vertices, communities int
	var accounts int64
	var expect float64
	c := &cobra.Command{Use: "plan (--graph DIR | --vertices N) --epsilon E", Short: "Show the noise, the guarantee and what they can carry, before anything is spent",
		Long: "plan computes a release's schedule from public numbers alone. It reads no edge: of a graph folder it reads only\nthe manifest's vertex count and checked degree bound.",
		Args: args(cobra.NoArgs), RunE: func(cmd *cobra.Command, _ []string) error {
			g := release.Graph{Vertices: vertices, DegreeLimit: int64(vertices) - 1}
			switch {
			case (graph == "") == (vertices == 0):
				return usagef("give either --graph DIR or --vertices N")
			case graph != "":
				opened, closeGraph, err := openGraph(cmd.Context(), graph)
				if err != nil {
					return err
				}
				g = release.Describe(opened)
				closeGraph()
			}
			if grid != "" {
				cells, err := compare(grid, p, g, communities, expect)
				if err != nil {
					return usage(err)
				}
				return a.print(cells, func(w io.Writer) error { return writeGrid(w, cells, expect, communities) })
			}
			plan, err := p.Plan(g)
			if err != nil {
				return usage(err)
			}
			v, err := viewPlan(plan, p, g, communities, expect)
			if err != nil {
				return usage(err)
			}
			if accounts > 1 {
				v.Accounts = accounts
				v.AccountsEpsilon = plan.Cost.Group(accounts).Epsilon(plan.Params.Target.Delta).String()
			}
			return a.print(v, v.text)
		}}
	paramFlags(c.Flags(), &p)
	a.checked(c, func() error { return p.Validate() })
	c.Flags().StringVar(&graph, "graph", "", "ingested graph folder")
	c.Flags().IntVar(&vertices, "vertices", 0, "number of vertices, instead of a graph")
	c.Flags().IntVar(&communities, "communities", 2, "q: equal communities supposed for the ceiling")
	c.Flags().StringVar(&grid, "compare", "", "print a grid over one or two of unit, epsilon, degree-bound, as in unit,epsilon")
	c.Flags().Int64Var(&accounts, "accounts", 1, "also say what holds for a person with this many vertices")
	c.Flags().Float64Var(&expect, "expect-eigenvalue", 0, "the eigenvalue of the communities that you suppose the graph has")
	return c
}

func viewPlan(plan *privacy.Plan, p release.Params, g release.Graph, communities int, expect float64) (*planView, error) {
	if communities < 2 {
		return nil, fmt.Errorf("communities is %d, must be at least 2", communities)
	}
	if !(expect >= 0) || math.IsInf(expect, 0) {
		return nil, fmt.Errorf("expect-eigenvalue is %g, must be positive", expect)
	}
	v := &planView{Plan: plan, EpsilonCertified: plan.Certified(), Communities: communities, Expected: expect}
	v.GaussianDelta = plan.Cost.GaussianDelta(v.EpsilonCertified)
	v.GaussianMu = math.Sqrt(2 * plan.Cost.Rho.Float())
	v.BasicComposition = plan.BasicComposition()
	v.Suggested = suggest(plan.Params.Unit, communities)
	v.Ceiling = privacy.Ceiling(plan.Params.Unit, v.EpsilonCertified.Float(), communities)
	if v.PredictedFor = expect; expect == 0 {
		v.PredictedFor = release.SupposedEigenvalue(plan.Params)
	}
	if x, ok := release.Predict(plan, v.PredictedFor); ok {
		v.Predicted = x
	} else {
		v.PredictedFor = 0
	}
	most := float64(plan.Params.DegreeLimit)
	switch {
	case expect > 0:
		if expect >= plan.LambdaMin {
			v.Verdict = fmt.Sprintf("This budget can find communities whose eigenvalue is %g: the smallest it can find is %.3g.", expect, plan.LambdaMin)
			break
		}
		v.Verdict = fmt.Sprintf("This budget cannot carry communities whose eigenvalue is %g: the smallest it can find is %.3g.", expect, plan.LambdaMin)
		if p.Profile == "" {
			eps, err := privacy.SmallestEpsilon(plan.Params, expect)
			if err != nil {
				return nil, err
			}
			v.SmallestEpsilon = eps
			v.Verdict += fmt.Sprintf(" The smallest epsilon that could is %.3g.", eps)
			if math.IsInf(eps, 1) {
				v.SmallestEpsilon = 0
				v.Verdict = strings.TrimSuffix(v.Verdict, " The smallest epsilon that could is +Inf.") + " No epsilon up to a million could."
			}
		}
	case plan.LambdaMin > most:
		v.Verdict = fmt.Sprintf("This budget cannot carry a signal: the smallest eigenvalue it can find is %.3g, and a graph of %d vertices has none above %.0f. Raise epsilon, or choose a smaller degree bound or another unit.",
			plan.LambdaMin, plan.Params.Vertices, most)
	default:
		v.Verdict = fmt.Sprintf("This budget can find communities whose eigenvalue is at least %.3g (for two communities: neighbours inside minus neighbours outside). Give --expect-eigenvalue to have it compared with your graph's.",
			plan.LambdaMin)
	}
	return v, nil
}

func (v *planView) text(w io.Writer) error {
	p := v.Params
	tw := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	fmt.Fprintf(tw, "unit\t%s: %s\n", p.Unit, p.Unit.Protects())
	fmt.Fprintf(tw, "guarantee\tepsilon %s at delta %s (rho %s)\n", v.EpsilonCertified, p.Target.Delta, v.Rho)
	fmt.Fprintf(tw, "for comparison\ta continuous Gaussian of the same rho is %.4g-GDP, delta %.2g; the paper's basic composition would count epsilon %.4g\n",
		v.GaussianMu, v.GaussianDelta, v.BasicComposition)
	if p.Unit.PerVertex() {
		fmt.Fprintf(tw, "degree bound\t%d of at most %d\n", p.DegreeBound, p.Vertices-1)
	}
	fmt.Fprintf(tw, "vertices, rank\tn = %d, k = %d, Katz terms %d\n", p.Vertices, p.Rank, p.Katz.Order)
	first, last := v.Steps[0], v.Steps[len(v.Steps)-1]
	fmt.Fprintf(tw, "steps\t%d; rho from %s (first) to %s (last)\n", len(v.Steps), first.Rho, last.Rho)
	if first.ClipFactor > 0 {
		fmt.Fprintf(tw, "row clip\t%.3g to %.3g times r·√D\n", first.ClipFactor, last.ClipFactor)
	} else {
		fmt.Fprintf(tw, "row clip\tnone\n")
	}
	if v.CountRho.Sign() > 0 {
		fmt.Fprintf(tw, "edge counts\trho %s\n", v.CountRho)
	}
	if v.LabelRho.Sign() > 0 {
		fmt.Fprintf(tw, "read-out of labels\trho %s for neighbours' rows", v.LabelRho)
		if v.OwnEpsilon.Sign() > 0 {
			fmt.Fprintf(tw, ", pure epsilon %s (%.0f %% of it) for the own row", v.OwnEpsilon, 100*p.OwnShare)
		}
		fmt.Fprintln(tw)
	}
	if v.Predicted > 0 {
		fmt.Fprintf(tw, "expected\t%.0f %% of vertices placed right, if the graph is two equal communities of eigenvalue %.4g\n", 100*v.Predicted, v.PredictedFor)
	}
	if v.EigenRho.Sign() > 0 {
		fmt.Fprintf(tw, "eigenvalues\trho %s each; the paper's noise multiplier is %.4g\n", v.EigenRho, v.PaperSigma)
	}
	fmt.Fprintf(tw, "noise\tN = %.4g per column, in units of an eigenvalue of A\n", v.NoiseNorm)
	fmt.Fprintf(tw, "smallest eigenvalue found\t%.4g\n", v.LambdaMin)
	if p.Unit.PerVertex() {
		fmt.Fprintf(tw, "ceiling\tno mechanism places more than %.1f %% of vertices right among %d equal communities\n", 100*v.Ceiling, v.Communities)
	}
	if v.Accounts > 1 {
		fmt.Fprintf(tw, "%d accounts\tepsilon %s for a person who has that many\n", v.Accounts, v.AccountsEpsilon)
	}
	profile := ""
	if v.EigenRho.Sign() > 0 { // the paper's profile has its own constants
		profile = "without --profile paper: "
	}
	fmt.Fprintf(tw, "suggested\t%s--steps %d --rank %d --row-norm %g --row-clip %s\n", profile, v.Suggested.Steps, v.Suggested.Rank, v.Suggested.RowNorm, v.Suggested.RowClip)
	fmt.Fprintf(tw, "\t%s\n", v.Suggested.Why)
	if err := tw.Flush(); err != nil {
		return err
	}
	if err := writeDegreeTable(w, v.DegreeTable, p.DegreeBound); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "\n%s\n", v.Verdict)
	return err
}

// writeDegreeTable prints ε by degree.
func writeDegreeTable(w io.Writer, rows []privacy.DegreeRow, bound int64) error {
	if len(rows) == 0 {
		return nil
	}
	fmt.Fprintln(w, "\nwhat holds for a person with at most d contacts:")
	tw := tabwriter.NewWriter(w, 0, 4, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(tw, "d\tepsilon\t")
	for _, r := range rows {
		mark := ""
		if r.Degree == bound {
			mark = "  ← degree bound"
		}
		fmt.Fprintf(tw, "%d\t%.4g\t%s\n", r.Degree, r.Epsilon.Float(), mark)
	}
	return tw.Flush()
}
