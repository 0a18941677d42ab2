package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go"
)

// Status is what a coordinator tells whoever watches its run, once per beat.
type Status struct {
	Run      string   `json:"run"`
	Rows     int      `json:"rows"` // vertices, a public number
	Shards   int      `json:"shards"`
	Progress Progress `json:"progress"`
	Stats    Stats    `json:"stats"`
	Phase    Phase    `json:"phase"`
	Ended    bool     `json:"ended,omitempty"`  // the last status, which may come several times: the run is over
	Paused   bool     `json:"paused,omitempty"` // the last status of this coordinator: the run goes on under another
}

// decodeStatus takes a status whose numbers are within their bounds; its words, which a
// watcher prints, are made printable.
func decodeStatus(data []byte) (Status, bool) {
	var s Status
	if len(data) > maxNote || json.Unmarshal(data, &s) != nil {
		return s, false
	}
	p := s.Progress
	if s.Rows < 0 || s.Rows > maxRows || s.Shards < 0 || p.Total < 0 || p.Done < 0 || p.Done > p.Total || p.Workers < 0 ||
		s.Phase.Done < 0 || s.Phase.Total < 0 || s.Phase.Started < 0 || s.Phase.Elapsed < 0 || s.Phase.Left < 0 {
		return s, false
	}
	for _, word := range []*string{&s.Progress.Kind, &s.Phase.Name, &s.Stats.Term, &s.Stats.Other} {
		*word = clean(*word)
	}
	for i := range s.Stats.Refused {
		s.Stats.Refused[i] = clean(s.Stats.Refused[i])
	}
	for i := range s.Stats.Workers {
		s.Stats.Workers[i].ID = clean(s.Stats.Workers[i].ID)
	}
	return s, true
}

// Watch calls show with every status of a run until ctx ends, whose cause it
// returns, a coordinator of another protocol version speaks (*VersionError), or show
// returns an error.
func Watch(ctx context.Context, conn *Conn, prefix, run string, show func(Status) error) error {
	subj, err := newSubjects(prefix, run)
	if err != nil {
		return err
	}
	messages := make(chan *nats.Msg, 16) // a watcher that is slow misses some
	sub, err := conn.ChanSubscribe(subj.all(verbStatus), messages)
	if err != nil {
		return fmt.Errorf("cluster: watch run %s: %w", run, err)
	}
	defer unsubscribeAll([]*nats.Subscription{sub})
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case m := <-messages:
			var version *VersionError
			if _, err := decodeHead(m, run); errors.As(err, &version) {
				version.Peer = "the coordinator of run " + run
				return version
			} else if err != nil {
				continue // damaged on the way; the next one comes in a beat
			}
			s, ok := decodeStatus(m.Data)
			if !ok || s.Run != run {
				continue
			}
			if err := show(s); err != nil {
				return err
			}
		}
	}
}
