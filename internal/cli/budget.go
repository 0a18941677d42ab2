package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
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

// warnUnlimited says, before anything is spent, that no limit stands in a release's way: a
// mistyped data set name would pass the limit of the right one.
func (a *app) warnUnlimited(ctx context.Context, f ledgerFlags, l *privacy.Ledger, u privacy.Unit) error {
	if a.quiet {
		return nil
	}
	s, err := l.State(ctx)
	if err != nil || len(s.Limits) > 0 {
		return nil // a broken ledger is Reserve's to report
	}
	text := fmt.Sprintf("note: data set %s has no limit: every release is recorded and none is refused. Set one with: privcom budget init --dataset %s --unit %s --epsilon-limit …",
		f.dataset, f.dataset, u)
	b, err := openLasting(ctx, "ledger", f.url)
	if err != nil {
		return err
	}
	defer b.Close()
	others, err := privacy.Datasets(ctx, b)
	if err != nil {
		return err
	}
	if len(others) > 0 && !slices.Contains(others, f.dataset) {
		text += " The ledger knows " + strings.Join(others, ", ") + " and no " + f.dataset + "."
	}
	_, err = fmt.Fprintln(a.stderr, text)
	return err
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
	var degree int64
	var passed bool
	c := &cobra.Command{Use: "init", Short: "Set (or replace) the limit of a data set", Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			m, err := readLimit(eps, delta, rho)
			m.Renew, m.DegreeBound = renew, degree
			err = errors.Join(err, m.Validate())
			if degree != 0 && !unit.PerVertex() {
				err = errors.Join(err, fmt.Errorf("degree-bound is for units per vertex: unit %s has none", unit))
			}
			if err != nil {
				return usage(err)
			}
			l, closeLedger, err := f.open(cmd.Context())
			if err != nil {
				return err
			}
			defer closeLedger()
			s, err := l.State(cmd.Context())
			if err != nil {
				return fmt.Errorf("%w: %w", errCheckFailed, err)
			}
			if err := m.Passed(s, unit); err != nil && !passed {
				return usagef("%w; the limit stays as it was; to set it all the same, which stops the data set's releases, add --allow-passed", err)
			}
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
	c.Flags().Int64Var(&degree, "degree-bound", 0, "units per vertex: refuse releases that protect people with so many contacts less well (default 0: each release has its own bound, and the sum holds up to the smallest)")
	c.Flags().BoolVar(&passed, "allow-passed", false, "set a limit that is passed already: no release is made until it is raised or renewed")
	return c
}

// readLimit reads the numbers of a limit. In the place of one that cannot be read it puts one
// that is valid, so that each fault is told once.
func readLimit(eps, delta, rho string) (m privacy.Limit, err error) {
	set := func(name, text string, to **privacy.Decimal) {
		if text == "" {
			return
		}
		d, bad := privacy.ParseDecimal(text)
		if bad != nil {
			err = errors.Join(err, fmt.Errorf("%s: %w", name, bad))
			d = privacy.MustDecimal("0.001")
		}
		*to = &d
	}
	set("epsilon-limit", eps, &m.Epsilon)
	set("rho-limit", rho, &m.Rho)
	if m.Epsilon != nil {
		set("delta", delta, &m.Delta)
	}
	return m, err
}

// openExisting opens the ledger of a data set that must have one: a mistyped name has spent
// nothing, and to say so would be false comfort.
func (f *ledgerFlags) openExisting(ctx context.Context) (*privacy.Ledger, func(), error) {
	l, closeLedger, err := f.open(ctx)
	if err != nil {
		return nil, nil, err
	}
	b, err := openLasting(ctx, "ledger", f.url)
	if err == nil {
		var names []string
		names, err = privacy.Datasets(ctx, b)
		b.Close()
		if err == nil && !slices.Contains(names, f.dataset) {
			err = f.noSuch(names)
		}
	}
	if err != nil {
		closeLedger()
		return nil, nil, err
	}
	return l, closeLedger, nil
}

func (f *ledgerFlags) noSuch(names []string) error {
	if len(names) == 0 {
		return input(fmt.Errorf("%s holds no ledger: nothing was ever spent there and no limit is set; set one with: privcom budget init --epsilon-limit 10", f.url))
	}
	hint := ""
	if near := nearest(f.dataset, names); near != "" {
		hint = fmt.Sprintf("; did you mean %s?", near)
	}
	return input(fmt.Errorf("%s holds no data set %s, but %s%s", f.url, f.dataset, strings.Join(names, ", "), hint))
}

func (a *app) budgetShow() *cobra.Command {
	var f ledgerFlags
	var head string
	c := &cobra.Command{Use: "show", Short: "Show limit, spent, reserved, remaining and every release", Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			l, closeLedger, err := f.openExisting(cmd.Context())
			if err != nil {
				return err
			}
			defer closeLedger()
			if _, err := checkedState(cmd.Context(), l, head); err != nil {
				return err
			}
			return a.showBudget(cmd.Context(), l)
		}}
	f.add(c.Flags())
	headFlag(c, &head)
	return c
}

func headFlag(c *cobra.Command, head *string) {
	c.Flags().StringVar(head, "head", "", "hash that an earlier show or verify printed as the head (12 digits or more): check that the chain still holds that entry, so that none was cut off its end")
}

// checkedState reads and verifies a ledger, which must hold the entry of that hash where one
// is given.
func checkedState(ctx context.Context, l *privacy.Ledger, head string) (privacy.State, error) {
	s, err := l.State(ctx)
	if err != nil {
		return s, fmt.Errorf("%w: %w", errCheckFailed, err)
	}
	if head != "" && len(head) < 12 {
		return s, usagef("head %q is too short: give at least 12 digits", head)
	}
	if head != "" && s.Holds(head) == 0 {
		return s, fmt.Errorf("%w: the ledger of %s has %d entries and none with the hash %s: entries were cut off its end, or it was written anew; restore it from a backup before anything more is released",
			errCheckFailed, l.Dataset, len(s.Entries), head)
	}
	return s, nil
}

func (a *app) budgetVerify() *cobra.Command {
	var f ledgerFlags
	var head string
	c := &cobra.Command{Use: "verify", Short: "Check the hash chain of a ledger",
		Long: `verify checks every entry and the chain of their hashes. A chain cannot tell by itself that entries were cut off its end:
keep the head that verify prints somewhere else, and give it with --head the next time. Keep it private: it depends on
the hashes of the graphs.`, Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			l, closeLedger, err := f.openExisting(cmd.Context())
			if err != nil {
				return err
			}
			defer closeLedger()
			s, err := checkedState(cmd.Context(), l, head)
			if err != nil {
				return err
			}
			res := map[string]any{"dataset": l.Dataset, "entries": len(s.Entries), "head": s.Head(), "ok": true}
			return a.print(res, func(w io.Writer) error {
				fmt.Fprintf(w, "ledger of %s: %d entries, chain intact\n", l.Dataset, len(s.Entries))
				if head != "" {
					fmt.Fprintf(w, "the head given is entry %d of it\n", s.Holds(head))
				}
				_, err := fmt.Fprintf(w, "head %s\n", s.Head())
				return err
			})
		}}
	f.add(c.Flags())
	headFlag(c, &head)
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
	Entries  int          `json:"entries"`
	Head     string       `json:"head"` // SHA-256 of the last entry
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
	v := budgetView{Dataset: l.Dataset, Ledger: l.URL(), Entries: len(s.Entries), Head: s.Head(), Units: []unitView{}, Releases: []budgetLine{}}
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
	fmt.Fprintf(w, "data set %s, ledger %s\n%d entries, head %s\n", v.Dataset, v.Ledger, v.Entries, v.Head)
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
