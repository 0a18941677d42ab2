package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/privcom/privcom/cluster"
	"github.com/privcom/privcom/release"
	"github.com/privcom/privcom/storage"
)

// defaultRuns is where run folders are when --work is not given.
const defaultRuns = "privcom-runs"

// runFlags say where a run that can be taken up again keeps its records.
type runFlags struct {
	work  string
	lease time.Duration
}

func (f *runFlags) add(fs *pflag.FlagSet, run string) {
	fs.StringVar(&f.work, "work", "", "folder or bucket URL for the runs' own files (records, scratch), which the shards must reach and which stay private; run R keeps its in the folder R of it "+run)
	fs.DurationVar(&f.lease, "lease", release.DefaultLease, "how long another coordinator of the run must be silent before this one takes the run over")
}

func (f *runFlags) place() string {
	if f.work == "" {
		return defaultRuns
	}
	return f.work
}

// open opens a run's folder. Files in the default place are removed when the run is
// finished: tidy says so.
func (f *runFlags) open(ctx context.Context, id string) (work *storage.Bucket, tidy bool, closeWork func(), err error) {
	if err := cluster.ValidRun(defaultPrefix, id); err != nil {
		return nil, false, nil, usage(err)
	}
	b, err := openLasting(ctx, "work", f.place())
	if err != nil {
		return nil, false, nil, err
	}
	return b.Sub(id), f.work == "", func() { b.Close() }, nil
}

// sayTakenUp tells a person that a run goes on where it was interrupted, and what the ledger
// says of it: a run may have stopped before it reserved anything.
func (a *app) sayTakenUp(ctx context.Context, job *release.Job, id string, steps int) error {
	done, entry, err := job.Recorded(ctx)
	if err != nil || entry == "" || a.quiet {
		return err
	}
	reserved, err := job.Reserved(ctx)
	if err != nil {
		return err
	}
	stands := "nothing is reserved yet"
	if reserved {
		stands = "its reservation is " + entry
	}
	fmt.Fprintf(a.stderr, "run %s is taken up again: %d of %d steps are recorded; %s\n", id, done, steps, stands)
	return nil
}

// finished prints the release of a run that needs nothing more.
func (a *app) finished(s *summary) error {
	s.Already = true
	if !a.quiet {
		fmt.Fprintf(a.stderr, "run %s is finished already: nothing was spent and nothing was written\n", s.ID)
	}
	return a.print(s, s.text)
}

// leaveRun closes a coordinator: its shards end with it, unless another try may follow, for
// which they wait.
func leaveRun(c *cluster.Coordinator, err error) error {
	var lease *release.LeaseError
	code := exitCode(err)
	if err != nil && (code == ExitStorage || code == ExitSIGINT || errors.As(err, &lease)) {
		return c.Pause()
	}
	return c.Close()
}

// endWaiting ends shards that still wait for a coordinator of a finished run. It is a
// courtesy: they would end by themselves.
func endWaiting(ctx context.Context, n natsFlags) {
	n.wait = min(n.wait, 2*time.Second)
	conn, err := n.connect(ctx)
	if err != nil {
		return
	}
	defer conn.Close()
	_, _ = cluster.EndRun(ctx, conn, n.prefix, n.run, cluster.Return)
}

// ended is what privcom end says.
type ended struct {
	Run    string `json:"run"`
	Shards int    `json:"shards_ended"`
}

func newEnd(a *app) *cobra.Command {
	var n natsFlags
	c := &cobra.Command{Use: "end --run ID", Short: "End the shards of a run that has no coordinator any more",
		Long: `end tells the shards that wait for another coordinator of a run to go. A run with a living coordinator is left alone.
What is recorded of the run stays: a coordinator with new shards can take it up again.`,
		Args: args(cobra.NoArgs), RunE: func(cmd *cobra.Command, _ []string) error {
			conn, err := n.connectTo(cmd.Context(), "privcom end")
			if err != nil {
				return err
			}
			defer conn.Close()
			count, err := cluster.EndRun(cmd.Context(), conn, n.prefix, n.run, cluster.Return)
			if err != nil {
				return err
			}
			e := ended{n.run, count}
			return a.print(e, func(w io.Writer) error {
				_, err := fmt.Fprintf(w, "shards of run %s that were waiting and have ended: %d\n", e.Run, e.Shards)
				return err
			})
		}}
	n.add(c.Flags(), 10*time.Second)
	return c
}
