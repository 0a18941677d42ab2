package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/privcom/privcom/privacy"
	"github.com/privcom/privcom/release"
	"github.com/privcom/privcom/storage"
)

// Decisions that a quote comes to; workflows branch on them.
const (
	decisionReleased = "released" // --published holds a finished release
	decisionRefused  = "refused"  // the ledger would refuse
	decisionWithin   = "within"   // within the standing budget: nobody needs to be asked
	decisionAsk      = "ask"      // a person should approve
)

// quoteView is what budget quote prints.
type quoteView struct {
	Decision  string       `json:"decision"`
	Reason    string       `json:"reason"`
	Dataset   string       `json:"dataset"`
	Unit      privacy.Unit `json:"unit"`
	Epsilon   string       `json:"epsilon"` // of this release, certified
	Delta     string       `json:"delta"`
	Spent     string       `json:"epsilon_spent"` // before it
	After     string       `json:"epsilon_after"` // with it
	Limit     string       `json:"limit"`
	Standing  string       `json:"standing_epsilon,omitempty"`
	Remaining string       `json:"remaining"`           // after it
	Published string       `json:"published,omitempty"` // where the release is, or would be
	Verdict   string       `json:"verdict"`             // of the plan: what this budget can find
	Edges     *int64       `json:"edges,omitempty"`     // of the release that is there already
}

func (a *app) budgetQuote() *cobra.Command {
	var f ledgerFlags
	var p release.Params
	var graph, standing, published string
	var vertices int
	c := &cobra.Command{Use: "quote (--graph DIR | --vertices N) --epsilon E", Short: "Say what a release would spend and whether it needs a person; spends nothing",
		Long: `quote compares a release's plan with the ledger and decides: "refused" where the ledger would refuse it, "within" where the
total with it stays within --standing-epsilon, "released" where --published holds a finished release, else "ask". It ends with
0 whatever it decides. It reserves nothing, and release decides anew.`,
		Args: args(cobra.NoArgs), RunE: func(cmd *cobra.Command, _ []string) error {
			ctx := cmd.Context()
			done, err := finished(ctx, published)
			if err != nil {
				return err
			}
			v := &quoteView{Dataset: f.dataset, Unit: p.Unit, Standing: standing, Published: published}
			ledger, closeLedger, err := f.open(ctx)
			if err != nil {
				return err
			}
			defer closeLedger()
			if done != nil {
				q, err := ledger.Quote(ctx, privacy.Request{Unit: done.Guarantee.Unit})
				if err != nil {
					return fmt.Errorf("%w: %w", errCheckFailed, err)
				}
				v.Decision, v.Unit, v.Edges, v.Epsilon = decisionReleased, done.Guarantee.Unit, &done.Graph.Edges, "0"
				v.Reason = fmt.Sprintf("%s holds release %s (epsilon %s); nothing more will be spent", published, done.ID, done.Guarantee.Epsilon)
				v.account(q, done.Guarantee.Delta)
				return a.print(v, v.text)
			}
			g, err := planned(ctx, graph, vertices)
			if err != nil {
				return err
			}
			plan, err := p.Plan(g)
			if err != nil {
				return usage(err)
			}
			shown, err := viewPlan(plan, p, g, 2, 0)
			if err != nil {
				return usage(err)
			}
			q, err := ledger.Quote(ctx, privacy.Request{Unit: plan.Params.Unit, DegreeBound: plan.Params.DegreeBound, Cost: plan.Cost, Target: plan.Params.Target})
			if err != nil {
				return fmt.Errorf("%w: %w", errCheckFailed, err)
			}
			v.Epsilon, v.Verdict = plan.Certified().String(), shown.Verdict
			if err := v.decide(q, plan, standing); err != nil {
				return usage(err)
			}
			return a.print(v, v.text)
		}}
	fs := c.Flags()
	paramFlags(fs, &p)
	f.add(fs)
	fs.StringVar(&graph, "graph", "", "ingested graph folder or bucket URL")
	fs.IntVar(&vertices, "vertices", 0, "number of vertices, instead of a graph")
	fs.StringVar(&standing, "standing-epsilon", "0", "total ε of the data set up to which no person needs to be asked (at the δ of its limit)")
	fs.StringVar(&published, "published", "", "place of this release: where it is finished already, nothing is left to do")
	return c
}

// finished opens the release at a place; nil where there is none.
func finished(ctx context.Context, where string) (*release.Document, error) {
	if where == "" {
		return nil, nil
	}
	b, err := storage.Open(ctx, where)
	if err != nil {
		return nil, usage(err)
	}
	defer b.Close()
	doc, err := release.Open(ctx, b)
	if errors.Is(err, release.ErrNotRelease) {
		return nil, nil
	}
	return doc, err
}

// planned is what a plan may know: the graph folder's public numbers, or a vertex count.
func planned(ctx context.Context, graph string, vertices int) (release.Graph, error) {
	if (graph == "") == (vertices == 0) {
		return release.Graph{}, usagef("give either --graph DIR or --vertices N")
	}
	if graph == "" {
		return release.Graph{Vertices: vertices, DegreeLimit: int64(vertices) - 1}, nil
	}
	g, closeGraph, err := openGraph(ctx, graph)
	if err != nil {
		return release.Graph{}, err
	}
	defer closeGraph()
	return release.Describe(g), nil
}

// decide fills in the decision and the numbers that it rests on.
func (v *quoteView) decide(q privacy.Quote, plan *privacy.Plan, standing string) error {
	most, err := privacy.ParseDecimal(standing)
	if err != nil || most.Sign() < 0 {
		return fmt.Errorf("standing-epsilon is %q, must be a decimal of at least 0", standing)
	}
	if q.Refusal != nil {
		q.After = q.Spent // nothing will be added
	}
	after := v.account(q, plan.Params.Target.Delta)
	switch {
	case q.Refusal != nil:
		v.Decision, v.Reason = decisionRefused, q.Refusal.Error()
	case after.Cmp(most) <= 0:
		v.Decision, v.Reason = decisionWithin, fmt.Sprintf("the total with it, epsilon %s, is within the standing budget of %s", v.After, standing)
	default:
		v.Decision, v.Reason = decisionAsk, fmt.Sprintf("the total with it, epsilon %s, passes the standing budget of %s: a person should approve", v.After, standing)
	}
	return nil
}

// account fills in what is spent and what remains, at the δ of the limit where there is
// one, and returns the total ε.
func (v *quoteView) account(q privacy.Quote, delta privacy.Decimal) privacy.Decimal {
	v.Limit = "none"
	if q.Limit != nil {
		v.Limit = q.Limit.String()
		if q.Limit.Delta != nil {
			delta = *q.Limit.Delta
		}
		v.Remaining, _ = q.Limit.Remaining(q.After, nil)
	}
	after := q.After.Epsilon(delta)
	v.Delta, v.Spent, v.After = delta.String(), q.Spent.Epsilon(delta).String(), after.String()
	return after
}

func (v *quoteView) text(w io.Writer) error {
	fmt.Fprintf(w, "%s: %s\n\n", v.Decision, v.Reason)
	tw := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	row := func(name, value string) {
		if value != "" {
			fmt.Fprintf(tw, "%s\t%s\n", name, value)
		}
	}
	row("data set, unit", v.Dataset+", "+v.Unit.String())
	row("this release", "epsilon "+v.Epsilon)
	row("spent before", v.Spent)
	row("spent with it", v.After)
	row("at delta", v.Delta)
	row("limit", v.Limit)
	row("remaining", v.Remaining)
	if err := tw.Flush(); err != nil || v.Verdict == "" {
		return err
	}
	_, err := fmt.Fprintf(w, "\n%s\n", v.Verdict)
	return err
}
