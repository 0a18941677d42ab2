package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/privcom/privcom/privacy"
)

// ledgerFlags name a ledger.
type ledgerFlags struct{ url, dataset string }

func (f *ledgerFlags) add(fs *pflag.FlagSet) {
	fs.StringVar(&f.url, "ledger", "privcom-ledger", "folder (or bucket URL) of the ledgers")
	fs.StringVar(&f.dataset, "dataset", "default", "name of the data set whose budget is spent: the people, not the file")
}

func (f *ledgerFlags) open(ctx context.Context) (*privacy.Ledger, func(), error) {
	b, err := openLasting(ctx, "ledger", f.url)
	if err != nil {
		return nil, nil, err
	}
	l, err := privacy.OpenLedger(b, f.dataset)
	if err != nil {
		b.Close()
		return nil, nil, usage(err)
	}
	return l, func() { b.Close() }, nil
}

func newBudget(a *app) *cobra.Command {
	c := group(&cobra.Command{Use: "budget", Short: "Set and show what a data set may spend and has spent"})
	c.AddCommand(a.budgetInit(), a.budgetQuote(), a.budgetShow(), a.budgetVerify(), a.budgetVoid())
	return c
}

func (a *app) budgetInit() *cobra.Command {
	var f ledgerFlags
	var unit privacy.Unit
	var eps, delta, rho, renew string
	c := &cobra.Command{Use: "init", Short: "Set (or replace) the limit of a data set", Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			m := privacy.Limit{Renew: renew}
			var errs []error
			set := func(name, text string, to **privacy.Decimal) {
				if text == "" {
					return
				}
				d, err := privacy.ParseDecimal(text)
				if err != nil {
					errs = append(errs, fmt.Errorf("%s: %w", name, err))
				}
				*to = &d
			}
			set("epsilon-limit", eps, &m.Epsilon)
			set("rho-limit", rho, &m.Rho)
			if m.Epsilon != nil {
				set("delta", delta, &m.Delta)
			}
			if err := errors.Join(append(errs, m.Validate())...); err != nil {
				return usage(err)
			}
			l, closeLedger, err := f.open(cmd.Context())
			if err != nil {
				return err
			}
			defer closeLedger()
			if err := l.SetLimit(cmd.Context(), unit, m); err != nil {
				return err
			}
			return a.showBudget(cmd.Context(), l)
		}}
	f.add(c.Flags())
	c.Flags().Var(unitFlag{&unit}, "unit", "unit that the limit is for: node, node-rewire or edge")
	c.Flags().StringVar(&eps, "epsilon-limit", "", "largest total ε")
	c.Flags().StringVar(&delta, "delta", "1e-5", "δ at which --epsilon-limit is meant")
	c.Flags().StringVar(&rho, "rho-limit", "", "largest total ρ (zCDP), instead of --epsilon-limit")
	c.Flags().StringVar(&renew, "renew", "", "renew the budget: daily, weekly, monthly or yearly")
	return c
}

func (a *app) budgetShow() *cobra.Command {
	var f ledgerFlags
	c := &cobra.Command{Use: "show", Short: "Show limit, spent, reserved, remaining and every release", Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			l, closeLedger, err := f.open(cmd.Context())
			if err != nil {
				return err
			}
			defer closeLedger()
			return a.showBudget(cmd.Context(), l)
		}}
	f.add(c.Flags())
	return c
}

func (a *app) budgetVerify() *cobra.Command {
	var f ledgerFlags
	c := &cobra.Command{Use: "verify", Short: "Check the hash chain of a ledger", Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			l, closeLedger, err := f.open(cmd.Context())
			if err != nil {
				return err
			}
			defer closeLedger()
			s, err := l.State(cmd.Context())
			if err != nil {
				return fmt.Errorf("%w: %w", errCheckFailed, err)
			}
			res := map[string]any{"dataset": l.Dataset, "entries": len(s.Entries), "ok": true}
			return a.print(res, func(w io.Writer) error {
				_, err := fmt.Fprintf(w, "ledger of %s: %d entries, chain intact\n", l.Dataset, len(s.Entries))
				return err
			})
		}}
	f.add(c.Flags())
	return c
}

func (a *app) budgetVoid() *cobra.Command {
	var f ledgerFlags
	var reason string
	c := &cobra.Command{Use: "void ID --reason TEXT", Short: "Give back a reservation under which no noise was drawn",
		Long: "void gives back a reservation that is not committed. Only a person can know that no noise was drawn for it\n(for example, the run was refused by the cluster before its first step); the reason is kept in the ledger for good.",
		Args: args(cobra.ExactArgs(1)), RunE: func(cmd *cobra.Command, ids []string) error {
			l, closeLedger, err := f.open(cmd.Context())
			if err != nil {
				return err
			}
			defer closeLedger()
			if err := l.Void(cmd.Context(), ids[0], reason); err != nil {
				return usage(err)
			}
			return a.showBudget(cmd.Context(), l)
		}}
	f.add(c.Flags())
	c.Flags().StringVar(&reason, "reason", "", "why no noise was drawn (kept in the ledger)")
	return c
}

// budgetView is what budget show prints.
type budgetView struct {
	Dataset  string       `json:"dataset"`
	Ledger   string       `json:"ledger"`
	Units    []unitView   `json:"units"`
	Releases []budgetLine `json:"releases"`
}

type unitView struct {
	Unit      privacy.Unit   `json:"unit"`
	Limit     *privacy.Limit `json:"limit,omitempty"`
	Spent     privacy.Cost   `json:"spent"`    // committed and reserved, this period
	Reserved  privacy.Cost   `json:"reserved"` // of it, not committed
	Epsilon   string         `json:"epsilon_spent"`
	Delta     string         `json:"delta"`
	Remaining string         `json:"remaining,omitempty"`
	Nights    *int           `json:"nights_left,omitempty"` // more releases like the last
	Text      string         `json:"-"`
}

type budgetLine struct {
	ID      string          `json:"id"`
	Time    string          `json:"time"`
	Unit    privacy.Unit    `json:"unit"`
	Status  privacy.Status  `json:"status"`
	Epsilon privacy.Decimal `json:"epsilon"`
	Delta   privacy.Decimal `json:"delta"`
	Degree  int64           `json:"degree_bound"` // ε holds for people with at most so many contacts
	Cost    privacy.Cost    `json:"cost"`
	Release string          `json:"release,omitempty"`
	Reason  string          `json:"reason,omitempty"`
}

// bound is the degree bound as a table cell: an edge has none.
func (l budgetLine) bound() string {
	if !l.Unit.PerVertex() {
		return "-"
	}
	return strconv.FormatInt(l.Degree, 10)
}

func (a *app) showBudget(ctx context.Context, l *privacy.Ledger) error {
	s, err := l.State(ctx)
	if err != nil {
		return fmt.Errorf("%w: %w", errCheckFailed, err)
	}
	v := budgetView{Dataset: l.Dataset, Ledger: l.URL(), Units: []unitView{}, Releases: []budgetLine{}}
	for _, u := range privacy.Units() {
		if view, ok := viewUnit(s, u); ok {
			v.Units = append(v.Units, view)
		}
	}
	for _, r := range s.Reservations {
		line := budgetLine{ID: r.Reserve.ID, Time: r.Reserve.Time.Format("2006-01-02 15:04"), Unit: r.Reserve.Unit, Status: r.Status,
			Epsilon: r.Reserve.Target.Epsilon, Delta: r.Reserve.Target.Delta, Degree: r.Reserve.DegreeBound, Cost: *r.Reserve.Cost}
		if r.Commit != nil {
			line.Release = r.Commit.Release
		}
		if r.Void != nil {
			line.Reason = r.Void.Reason
		}
		v.Releases = append(v.Releases, line)
	}
	return a.print(v, v.text)
}

// viewUnit sums up one unit; false where nothing is known of it.
func viewUnit(s privacy.State, u privacy.Unit) (unitView, bool) {
	v := unitView{Unit: u, Spent: s.Spent(u)}
	var last *privacy.Entry
	for i, r := range s.Reservations {
		if r.Reserve.Unit != u {
			continue
		}
		last = &s.Reservations[i].Reserve
		if r.Status == privacy.Reserved {
			v.Reserved = v.Reserved.Plus(*r.Reserve.Cost)
		}
	}
	delta := privacy.MustDecimal("1e-5")
	if last != nil {
		delta = last.Target.Delta
	}
	if m, ok := s.Limits[u]; ok {
		v.Limit = &m
		if m.Delta != nil {
			delta = *m.Delta
		}
		v.Remaining, v.Nights = m.Remaining(v.Spent, last)
	} else if last == nil {
		return v, false
	}
	v.Delta, v.Epsilon = delta.String(), v.Spent.Epsilon(delta).String()
	return v, true
}

func (v budgetView) text(w io.Writer) error {
	fmt.Fprintf(w, "data set %s, ledger %s\n", v.Dataset, v.Ledger)
	if len(v.Units) == 0 {
		fmt.Fprintln(w, "nothing spent, no limit set; set one with: privcom budget init --epsilon-limit 10")
		return nil
	}
	for _, u := range v.Units {
		fmt.Fprintf(w, "\nunit %s\n", u.Unit)
		tw := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
		if u.Limit != nil {
			fmt.Fprintf(tw, "  limit\t%s\n", u.Limit)
		} else {
			fmt.Fprintf(tw, "  limit\tnone: every release is recorded, none is refused\n")
		}
		fmt.Fprintf(tw, "  spent\tepsilon %s at delta %s (rho %s)\n", u.Epsilon, u.Delta, u.Spent.Rho)
		if !u.Reserved.IsZero() {
			fmt.Fprintf(tw, "  of it reserved\trho %s: runs under way, or dead\n", u.Reserved.Rho)
		}
		if u.Remaining != "" {
			fmt.Fprintf(tw, "  remaining\t%s\n", u.Remaining)
		}
		if u.Nights != nil {
			fmt.Fprintf(tw, "  releases left\t%d more like the last one\n", *u.Nights)
		}
		if err := tw.Flush(); err != nil {
			return err
		}
	}
	if len(v.Releases) == 0 {
		return nil
	}
	fmt.Fprintln(w)
	tw := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	fmt.Fprintln(tw, "id\ttime (UTC)\tunit\tstatus\tepsilon\tdelta\tdegree bound\trelease")
	for _, r := range v.Releases {
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s%s\n", r.ID, r.Time, r.Unit, r.Status, r.Epsilon, r.Delta, r.bound(), r.Release, r.Reason)
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	for _, r := range v.Releases {
		if r.Unit.PerVertex() {
			_, err := fmt.Fprintln(w, "\nepsilon holds for people with at most as many contacts as the degree bound; sums hold up to the smallest bound listed")
			return err
		}
	}
	return nil
}
