package cluster

import (
	"sync"
	"time"
)

// Phase is where the caller of a coordinator stands, in its own words; it travels with the
// status. All of it is public.
type Phase struct {
	Name    string        `json:"name"`
	Done    int64         `json:"done"`
	Total   int64         `json:"total"`             // 0: not known
	Elapsed time.Duration `json:"elapsed"`           // since the phase began
	Left    time.Duration `json:"left,omitempty"`    // estimate of the rest; 0: none
	Started int64         `json:"started,omitempty"` // Done at the beginning, of a run taken up again
}

// phaseClock keeps the time of phases.
type phaseClock struct {
	mu    sync.Mutex
	phase Phase
	since time.Time
}

func (p *phaseClock) set(name string, done, total int64, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.since.IsZero() || name != p.phase.Name {
		p.phase, p.since = Phase{Name: name, Started: done}, now
	}
	p.phase.Done, p.phase.Total = done, total
}

// get is the phase at a moment, with the estimate of what is left: covered is the share of
// the piece in hand, 0 to 1.
func (p *phaseClock) get(now time.Time, covered float64) Phase {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.phase
	if p.since.IsZero() {
		return s
	}
	s.Elapsed = now.Sub(p.since)
	if done := float64(s.Done-s.Started) + covered; s.Total > 1 && done > 0 {
		left := max(float64(s.Total-s.Started)-done, 0)
		s.Left = time.Duration(float64(s.Elapsed) * left / done)
	}
	return s
}

// Note tells the coordinator in which phase its caller is, for whoever watches. It may be
// called at any time.
func (c *Coordinator) Note(phase string, done, total int64) {
	c.clock.set(phase, done, total, time.Now())
}

// Phase is what Note told last.
func (c *Coordinator) Phase() Phase { return c.clock.get(time.Now(), covered(c.Progress())) }

// Alive is the last turn of the coordinator's loop, which turns several times a second.
func (c *Coordinator) Alive() time.Time { return time.Unix(0, c.turned.Load()) }

// covered is the share of the work in hand that is there.
func covered(p Progress) float64 {
	if p.Total <= 0 {
		return 0
	}
	return float64(p.Done) / float64(p.Total)
}

// ShardState is a snapshot of a shard worker.
type ShardState struct {
	Joined bool      // a coordinator leads it
	Step   uint64    // operation in hand
	Loaded int       // shards in memory
	Alive  time.Time // last turn of its loop
}

// observe tells whoever wants to know where the worker stands, once per beat.
func (w *worker) observe(now time.Time) {
	if w.o.Observe == nil {
		return
	}
	loaded, _ := w.shards.state()
	w.o.Observe(ShardState{Joined: !w.alone(now), Step: w.step, Loaded: len(loaded), Alive: now})
}
