package cli

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/privcom/privcom/privacy"
	"github.com/privcom/privcom/release"
)

// gridCell is one choice of the parameters that plan --compare lays side by side.
type gridCell struct {
	Unit        privacy.Unit `json:"unit"`
	Epsilon     string       `json:"epsilon"`
	DegreeBound int64        `json:"degree_bound"`
	NoiseNorm   float64      `json:"noise_norm"`
	LambdaMin   float64      `json:"lambda_min"`
	Ceiling     float64      `json:"ceiling"`
	Finds       *bool        `json:"finds,omitempty"` // with --expect-eigenvalue

	row, column string
}

// axis is a parameter with the values that a grid shows.
type axis struct {
	name   string
	values []string
	set    func(p *release.Params, value string) error
}

func axes(g release.Graph) []axis {
	degrees := []string{}
	for d := int64(10); d < int64(g.Vertices-1); d *= 10 {
		degrees = append(degrees, strconv.FormatInt(d, 10))
	}
	degrees = append(degrees, strconv.Itoa(g.Vertices-1))
	var units []string
	for _, u := range privacy.Units() {
		units = append(units, u.String())
	}
	return []axis{
		{"unit", units, func(p *release.Params, v string) error { return p.Unit.UnmarshalText([]byte(v)) }},
		{"epsilon", []string{"0.5", "1", "2", "3", "5", "8", "12", "20"}, func(p *release.Params, v string) error { p.Epsilon = v; return nil }},
		{"degree-bound", degrees, func(p *release.Params, v string) (err error) {
			p.DegreeBound, err = strconv.ParseInt(v, 10, 64)
			return err
		}},
	}
}

// compare computes the grid over one or two axes.
func compare(spec string, p release.Params, g release.Graph, communities int, expect float64) ([]gridCell, error) {
	known := axes(g)
	var chosen []axis
	for _, name := range strings.Split(spec, ",") {
		i := slices.IndexFunc(known, func(a axis) bool { return a.name == name })
		if i < 0 || slices.ContainsFunc(chosen, func(a axis) bool { return a.name == name }) || len(chosen) == 2 {
			return nil, fmt.Errorf("compare %q: want one or two of unit, epsilon, degree-bound, as in --compare unit,epsilon", spec)
		}
		chosen = append(chosen, known[i])
	}
	if len(chosen) == 1 {
		chosen = append(chosen, axis{"", []string{""}, func(*release.Params, string) error { return nil }})
	}
	if p.Epsilon == "" {
		p.Epsilon = "1" // replaced where epsilon is an axis
		if !strings.Contains(spec, "epsilon") {
			return nil, fmt.Errorf("epsilon is not set: give --epsilon, or compare epsilons")
		}
	}
	var cells []gridCell
	for _, row := range chosen[0].values {
		for _, column := range chosen[1].values {
			q := p
			if err := firstError(chosen[0].set(&q, row), chosen[1].set(&q, column)); err != nil {
				return nil, err
			}
			plan, err := q.Plan(g)
			if err != nil {
				return nil, err
			}
			cell := gridCell{Unit: q.Unit, Epsilon: q.Epsilon, DegreeBound: plan.Params.DegreeBound, NoiseNorm: plan.NoiseNorm,
				LambdaMin: plan.LambdaMin, Ceiling: privacy.Ceiling(q.Unit, plan.Cost.Epsilon(plan.Params.Target.Delta).Float(), communities),
				row: row, column: column}
			if expect > 0 {
				finds := plan.LambdaMin <= expect
				cell.Finds = &finds
			}
			cells = append(cells, cell)
		}
	}
	return cells, nil
}

// writeGrid prints the smallest eigenvalue that each choice finds.
func writeGrid(w io.Writer, cells []gridCell, expect float64, communities int) error {
	fmt.Fprintf(w, "smallest eigenvalue that each choice can find")
	if expect > 0 {
		fmt.Fprintf(w, " (* : finds %g)", expect)
	}
	fmt.Fprintf(w, "; for node units in brackets the\nlargest share of vertices that any mechanism can place right among %d equal communities\n\n", communities)
	tw := tabwriter.NewWriter(w, 0, 4, 2, ' ', tabwriter.AlignRight)
	first := cells[0].row
	for _, c := range cells {
		if c.row == first {
			fmt.Fprintf(tw, "\t%s", c.column)
		}
	}
	row := ""
	for _, c := range cells {
		if c.row != row {
			row = c.row
			fmt.Fprintf(tw, "\t\n%s", row)
		}
		mark := ""
		if c.Finds != nil && *c.Finds {
			mark = "*"
		}
		share := ""
		if c.Unit.PerVertex() {
			share = fmt.Sprintf(" [%.2f]", c.Ceiling)
		}
		fmt.Fprintf(tw, "\t%.3g%s%s", c.LambdaMin, mark, share)
	}
	fmt.Fprintf(tw, "\t\n")
	return tw.Flush()
}
