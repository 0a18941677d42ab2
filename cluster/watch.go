package cluster

import (
	"context"
	"encoding/json"
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

// Watch calls show with every status of a run until ctx ends, whose cause it
// returns, or show returns an error.
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
			if _, err := decodeHead(m, run); err != nil {
				return err
			}
			var s Status
			if json.Unmarshal(m.Data, &s) != nil {
				continue
			}
			if err := show(s); err != nil {
				return err
			}
		}
	}
}
