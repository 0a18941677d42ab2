package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/privcom/privcom/cluster"
)

func newStatus(a *app) *cobra.Command {
	var n natsFlags
	var once bool
	c := &cobra.Command{Use: "status --run ID", Short: "Follow a run over NATS",
		Long: `status shows where a run is: its phase and steps, the rows covered, the workers, MB/s, and the time left. It follows the run
until that ends, from anywhere that reaches NATS; the user of a watcher is enough. On a terminal the table is drawn in place,
elsewhere each status is a line. Standard error tells when nothing was heard of the run for 10 seconds.`,
		Args: args(cobra.NoArgs), RunE: func(cmd *cobra.Command, _ []string) error {
			conn, err := n.connectTo(cmd.Context(), "privcom status")
			if err != nil {
				return err
			}
			defer conn.Close()
			return a.follow(cmd.Context(), conn, n.prefix, n.run, once, statusPatience)
		}}
	n.add(c.Flags(), 10*time.Second)
	c.Flags().BoolVar(&once, "once", false, "print one status and end; without a word of the run for 10 seconds, exit code 6")
	return c
}

var errDone = errors.New("done")

// statusPatience is how long --once waits for a status, and after how much silence one who follows
// is told of it; coordinators send two a second.
const statusPatience = 10 * time.Second

func (a *app) follow(ctx context.Context, conn *cluster.Conn, prefix, run string, once bool, patience time.Duration) error {
	silent := fmt.Errorf("%w of run %s (subject %s.%s.status) for %v: it has ended, has not begun, or runs elsewhere", cluster.ErrNoCoordinator, run, prefix, run, patience)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var heard, noted atomic.Bool
	silence := time.AfterFunc(patience, func() {
		if once {
			cancel(silent)
			return
		}
		if a.quiet {
			return
		}
		noted.Store(true)
		switch {
		case !conn.IsConnected():
			fmt.Fprintf(a.stderr, "NATS is away, and with it the word of run %s; waiting for it\n", run)
		case heard.Load():
			fmt.Fprintf(a.stderr, "no word of run %s for %v: its coordinator has stopped, or its end was not heard here; waiting for another coordinator\n", run, patience)
		default:
			fmt.Fprintf(a.stderr, "no word of run %s yet; waiting for its coordinator\n", run)
		}
	})
	defer silence.Stop()
	v := statusView{}
	if f, ok := a.stdout.(*os.File); ok && !once && a.output == "text" && term.IsTerminal(int(f.Fd())) && os.Getenv("TERM") != "dumb" {
		v.redraw = true
	}
	err := cluster.Watch(ctx, conn, prefix, run, func(s cluster.Status) error {
		heard.Store(true)
		silence.Reset(patience)
		if noted.Swap(false) {
			v.drawn = 0 // the note stands below the table: the next one is drawn below both
		}
		v.take(s, time.Now())
		if err := a.print(s, v.text); err != nil {
			return err
		}
		if once || s.Ended {
			return errDone
		}
		return nil
	})
	if errors.Is(err, errDone) {
		return nil
	}
	return err
}

// statusView turns statuses into text; it remembers the last few for the rate.
type statusView struct {
	redraw bool // in place
	drawn  int  // lines of the last table
	recent []sample
	status cluster.Status
	now    time.Time
}

type sample struct {
	at    time.Time
	bytes int64
}

// rateWindow is how many statuses the rate is an average of: five seconds of them.
const rateWindow = 10

func (v *statusView) take(s cluster.Status, now time.Time) {
	if s.Stats.Term != v.status.Stats.Term {
		v.recent = nil // another coordinator counts from 0
	}
	v.status, v.now = s, now
	v.recent = append(v.recent, sample{now, s.Stats.BytesSent + s.Stats.BytesReceived})
	if len(v.recent) > rateWindow {
		v.recent = v.recent[1:]
	}
}

// rate is what the coordinator sends and receives, in MB/s; false with a single status.
func (v *statusView) rate() (float64, bool) {
	if len(v.recent) < 2 {
		return 0, false
	}
	a, b := v.recent[0], v.recent[len(v.recent)-1]
	took := b.at.Sub(a.at).Seconds()
	return float64(b.bytes-a.bytes) / 1e6 / took, took > 0
}

func (v *statusView) text(w io.Writer) error {
	if v.redraw {
		return v.table(w)
	}
	_, err := fmt.Fprintln(w, v.line())
	return err
}

// phase is the phase in words.
func (v *statusView) phase() string {
	p := v.status.Phase
	switch {
	case v.status.Ended:
		return "the run has ended"
	case v.status.Paused:
		return "the coordinator stopped; shards wait for another"
	case p.Name == "":
		return "starting"
	case p.Total > 1 && p.Name != waitingPhase:
		return fmt.Sprintf("%s, %d of %d done", p.Name, p.Done, p.Total)
	}
	return p.Name
}

func (v *statusView) rateText() string {
	if r, ok := v.rate(); ok {
		return fmt.Sprintf("%.1f MB/s", r)
	}
	return "- MB/s"
}

func (v *statusView) left() string {
	if v.status.Phase.Left <= 0 || v.status.Ended || v.status.Paused {
		return ""
	}
	return fmt.Sprintf("about %v left in this phase", roughly(v.status.Phase.Left))
}

// roughly rounds a duration to what an estimate can carry.
func roughly(d time.Duration) time.Duration {
	switch {
	case d > time.Hour:
		return d.Round(time.Minute)
	case d > 10*time.Second:
		return d.Round(time.Second)
	}
	return d.Round(100 * time.Millisecond)
}

func (v *statusView) covered() string {
	p := v.status.Progress
	switch p.Kind {
	case "":
		return "between operations"
	case "multiply":
		return fmt.Sprintf("%d of %d rows", p.Done, p.Total)
	}
	return fmt.Sprintf("%d of %d items", p.Done, p.Total)
}

func (v *statusView) line() string {
	s := v.status
	parts := []string{fmt.Sprintf("%s run %s: %s", v.now.Format("15:04:05"), s.Run, v.phase()), v.covered(),
		fmt.Sprintf("%d workers for %d shards", s.Progress.Workers, s.Shards), v.rateText()}
	if left := v.left(); left != "" {
		parts = append(parts, left)
	}
	if s.Stats.Repaired+s.Stats.AskedAgain > 0 {
		parts = append(parts, fmt.Sprintf("repaired %d, asked again %d", s.Stats.Repaired, s.Stats.AskedAgain))
	}
	return strings.Join(parts, ", ")
}

// mostWorkerLines bounds the table, which must fit a screen.
const mostWorkerLines = 16

func (v *statusView) table(w io.Writer) error {
	s := v.status
	var b strings.Builder
	tw := tabwriter.NewWriter(&b, 0, 4, 2, ' ', 0)
	fmt.Fprintf(tw, "run\t%s\n", s.Run)
	fmt.Fprintf(tw, "phase\t%s\n", v.phase())
	fmt.Fprintf(tw, "time\t%v in this phase", roughly(s.Phase.Elapsed))
	if left := v.left(); left != "" {
		fmt.Fprintf(tw, ", %s", left)
	}
	share := 0.0
	if s.Progress.Total > 0 {
		share = float64(s.Progress.Done) / float64(s.Progress.Total)
	}
	full := int(share * 30)
	fmt.Fprintf(tw, "\ncovered\t[%s%s] %s\n", strings.Repeat("#", full), strings.Repeat(".", 30-full), v.covered())
	fmt.Fprintf(tw, "traffic\t%s; sent %.1f MB, received %.1f MB\n", v.rateText(), float64(s.Stats.BytesSent)/1e6, float64(s.Stats.BytesReceived)/1e6)
	fmt.Fprintf(tw, "repairs\t%d messages again, %d blocks asked again, %d taken from slow workers\n", s.Stats.Repaired, s.Stats.AskedAgain, s.Stats.Rescued)
	fmt.Fprintf(tw, "workers\t%d for %d shards\n", s.Progress.Workers, s.Shards)
	if err := tw.Flush(); err != nil {
		return err
	}
	if len(s.Stats.Workers) > 0 {
		fmt.Fprintf(tw, "\n  worker\tshards\tblocks\tMB\tlast word\n")
		for i, m := range s.Stats.Workers {
			if i == mostWorkerLines {
				fmt.Fprintf(tw, "  and %d more\n", len(s.Stats.Workers)-i)
				break
			}
			var shards []string
			for _, x := range m.Shards {
				shards = append(shards, strconv.Itoa(x))
			}
			fmt.Fprintf(tw, "  %s\t%s\t%d\t%.1f\t%v ago\n", m.ID, strings.Join(shards, " "), m.Blocks, float64(m.Bytes)/1e6, m.Silent.Round(100*time.Millisecond))
		}
		if err := tw.Flush(); err != nil {
			return err
		}
	}
	text := b.String()
	if v.drawn > 0 {
		text = fmt.Sprintf("\x1b[%dA\x1b[J%s", v.drawn, text) // up to where the last table begins, and clear
	}
	v.drawn = strings.Count(b.String(), "\n")
	_, err := io.WriteString(w, text)
	return err
}
