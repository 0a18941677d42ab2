package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/privcom/privcom/partition"
	"github.com/privcom/privcom/privacy"
	"github.com/privcom/privcom/release"
)

// dryRun checks what a release would be refused for, the initial matrix and the ledger
// included, and shows the plan. It writes nothing.
func (a *app) dryRun(ctx context.Context, p release.Params, f ledgerFlags, g *partition.Graph) error {
	d := release.Describe(g)
	plan, err := p.Plan(d)
	if err != nil {
		return usage(err)
	}
	if p.Initial != "" {
		if _, err := readMatrix(p.Initial, plan.Params.Vertices, plan.Params.Rank); err != nil {
			return input(err)
		}
	}
	ledger, closeLedger, err := f.open(ctx)
	if err != nil {
		return err
	}
	defer closeLedger()
	q, err := ledger.Quote(ctx, privacy.Request{Unit: plan.Params.Unit, DegreeBound: plan.Params.DegreeBound, Cost: plan.Cost, Target: plan.Params.Target})
	if err != nil {
		return fmt.Errorf("%w: %w", errCheckFailed, err)
	}
	if q.Refusal != nil {
		return q.Refusal
	}
	v, err := viewPlan(plan, p, d, 2, 0)
	if err != nil {
		return usage(err)
	}
	return a.print(v, func(w io.Writer) error {
		if err := v.text(w); err != nil {
			return err
		}
		limit := "no limit is set"
		if q.Limit != nil {
			limit = "limit " + q.Limit.String()
		}
		_, err := fmt.Fprintf(w, "ledger of %s: epsilon %s spent, %s with this release (at delta %s); %s\ndry run: no budget was spent, nothing was released\n",
			ledger.Dataset, q.Spent.Epsilon(plan.Params.Target.Delta), q.After.Epsilon(plan.Params.Target.Delta), plan.Params.Target.Delta, limit)
		return err
	})
}
