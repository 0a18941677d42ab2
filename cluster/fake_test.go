package cluster

import (
	"encoding/json"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
)

// fake is a worker whose every answer a test decides.
type fake struct {
	tc   *testCluster
	id   string
	conn *Conn
	subj subjects
	out  *sender
	note aliveNote

	mu    sync.Mutex
	term  string
	heard chan struct{}
	once  sync.Once
}

func newFake(tc *testCluster, id string, index int) *fake {
	f := &fake{
		tc: tc, id: id, conn: tc.conn(id), subj: subjects{"privcom.test", "r1"}, heard: make(chan struct{}),
		note: aliveNote{Index: index, Cores: 1, Rows: tc.g.n, Shards: len(tc.g.ranges), Graph: tc.g.hash},
	}
	f.out = newSender(f.conn, f.subj, nil)
	f.listen(f.subj.all(verbHello), func(h head, _ []byte) {
		f.mu.Lock()
		f.term = h.Term
		f.mu.Unlock()
		f.once.Do(func() { close(f.heard) })
		f.alive()
	})
	return f
}

func (f *fake) listen(subject string, handle func(head, []byte)) {
	_, err := f.conn.Subscribe(subject, func(m *nats.Msg) {
		if h, err := decodeHead(m, "r1"); err == nil {
			handle(h, m.Data)
		}
	})
	if err != nil {
		f.tc.t.Error(err)
	}
}

// on handles messages to this worker.
func (f *fake) on(verb string, handle func(head, []byte)) { f.listen(f.subj.to(f.id, verb), handle) }

func (f *fake) say(verb string, h head, payload []byte) {
	f.mu.Lock()
	h.Term, h.Worker = f.term, f.id
	f.mu.Unlock()
	if err := f.out.send(f.subj.all(verb), h, payload); err != nil {
		f.tc.t.Log(err)
	}
}

func (f *fake) alive() {
	note, err := json.Marshal(f.note)
	if err != nil {
		f.tc.t.Error(err)
	}
	f.say(verbAlive, head{Shard: f.note.Index}, note)
}

// join waits until the coordinator has called, and answers it.
func (f *fake) join() {
	select {
	case <-f.heard:
	case <-time.After(5 * time.Second):
		f.tc.t.Fatal("no hello")
	}
	f.alive()
}
