package cli

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
	"golang.org/x/term"
)

// progress shows phases as they go: bars on a terminal, a line per phase otherwise,
// nothing with --quiet. It also keeps the time of each phase for the summary.
type progress struct {
	mu     sync.Mutex
	w      io.Writer
	bars   *mpb.Progress // nil when not on a terminal
	bar    *mpb.Bar
	quiet  bool
	phase  string
	total  int64
	since  time.Time
	Phases []phaseTime
}

// phaseTime is how long a phase took.
type phaseTime struct {
	Phase   string  `json:"phase"`
	Seconds float64 `json:"seconds"`
}

func (a *app) newProgress() *progress {
	p := &progress{w: a.stderr, quiet: a.quiet}
	if f, ok := a.stderr.(*os.File); ok && !a.quiet && term.IsTerminal(int(f.Fd())) && os.Getenv("TERM") != "dumb" {
		p.bars = mpb.New(mpb.WithOutput(f), mpb.WithWidth(40))
	}
	return p
}

// report tells that a phase is done of total; total 0 is unknown. A new phase ends the
// one before.
func (p *progress) report(phase string, done, total int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if phase != p.phase {
		p.finishPhase()
		p.phase, p.since, p.total = phase, time.Now(), total
		switch {
		case p.quiet || phase == "":
		case p.bars != nil:
			p.bar = p.bars.AddBar(total,
				mpb.PrependDecorators(decor.Name(phase, decor.WC{W: 22, C: decor.DindentRight})),
				mpb.AppendDecorators(decor.Percentage(decor.WC{W: 5}), decor.Name("  "), decor.OnComplete(decor.AverageETA(decor.ET_STYLE_GO), "done")))
		default:
			fmt.Fprintf(p.w, "%s ...\n", phase)
		}
	}
	if p.bar != nil {
		if total > 0 {
			p.total = total
			p.bar.SetTotal(total, false)
		}
		p.bar.SetCurrent(done)
	}
}

func (p *progress) finishPhase() {
	if p.phase == "" {
		return
	}
	p.Phases = append(p.Phases, phaseTime{p.phase, time.Since(p.since).Seconds()})
	if p.bar != nil {
		p.bar.SetCurrent(max(p.bar.Current(), p.total, 1)) // a finished phase is full, also one of unknown length
		p.bar.SetTotal(-1, true)
		p.bar = nil
	}
	p.phase = ""
}

// close ends the last phase and the drawing.
func (p *progress) close() {
	p.report("", 0, 0)
	if p.bars != nil {
		p.bars.Wait()
		p.bars = nil
		fmt.Fprintln(p.w)
	}
}
