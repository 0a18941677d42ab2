package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/privcom/privcom/blockmatmul"
)

// FuzzDecode feeds header lines and a payload to every decoder: nothing panics, and
// what passes keeps the bounds that the rest relies on.
func FuzzDecode(f *testing.F) {
	rows, err := encodeRows(2, 3, []int32{1, 2, 3, 4, 5, 6})
	if err != nil {
		f.Fatal(err)
	}
	good := head{Term: "s", Worker: "w", Step: 3, Shard: 1, From: 2, To: 4, Matrix: matrix{Rows: 9, Cols: 3, ChunkRows: 2}}
	f.Add(headText(good.encode("r", rows)), rows)
	good.Matrix.Wide, good.Size, good.Pieces, good.Kind = true, 10, 4096, "sample"
	f.Add(headText(good.encode("r", rows)), rows)
	note, err := json.Marshal(aliveNote{Index: 1, Cores: 2, Rows: 9, Shards: 3, Loaded: []int{1}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(headText(good.encode("r", note)), note)
	f.Add("Privcom-Version: 3\nPrivcom-Worker: w", []byte(`{"kind":"corrupt","detail":"x"}`))
	f.Add("", []byte(`{"run":"r","rows":9,"progress":{"kind":"multiply","done":3,"total":2},"phase":{"name":"\u001b[2J","done":1}}`))
	f.Add("", []byte(`{"run":"r","progress":{"kind":"\u001b[2J","done":1,"total":2},"stats":{"workers":[{"id":"w\n"}]}}`))
	f.Fuzz(func(t *testing.T, lines string, payload []byte) {
		m := &nats.Msg{Subject: "p.r.q", Header: nats.Header{}, Data: payload}
		for line := range strings.SplitSeq(lines, "\n") {
			key, value, _ := strings.Cut(line, ": ")
			m.Header[key] = []string{value}
		}
		h, err := decodeHead(m, "r")
		if err == nil {
			if h.From > h.To || h.Shard < -1 || h.Matrix.Rows > 0 && (h.Matrix.ChunkRows < 1 || h.Matrix.Cols < 1) {
				t.Fatalf("header passes: %+v", h)
			}
			if _, err := newParcel(h); err == nil && h.Size > maxItem {
				t.Fatalf("item of %d bytes passes", h.Size)
			}
			if rows, err := decodeAs[int32](h, payload); err == nil && len(rows) != (h.To-h.From)*h.Matrix.Cols {
				t.Fatalf("%d entries for rows [%d, %d)", len(rows), h.From, h.To)
			}
			_, _ = decodeRows(h, payload)
			_, _ = decodeMatrix(h, payload)
		}
		if a, ok := decodeAlive(payload); ok && (a.Cores < 1 || a.Index < -1) {
			t.Fatalf("heartbeat passes: %+v", a)
		}
		decodeFail(payload)
		if s, ok := decodeStatus(payload); ok {
			if p := s.Progress; len(payload) > maxNote || p.Done > p.Total || p.Done < 0 || strings.ContainsAny(s.Phase.Name+p.Kind, "\x1b\n\r") {
				t.Fatalf("status passes: %+v", s)
			}
		}
		if b, ok := bitmapFrom(payload, 8*len(payload)); ok {
			b.count()
		}
	})
}

func headText(h nats.Header) string {
	var b strings.Builder
	for key, values := range h {
		fmt.Fprintf(&b, "%s: %s\n", key, values[0])
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// script turns fuzz bytes into small numbers.
type script []byte

func (s *script) number(below int) int {
	if len(*s) == 0 {
		return 0
	}
	b := (*s)[0]
	*s = (*s)[1:]
	return int(b) % below
}

// message makes a message that passes the header check, with fields from a small world,
// so that many of them mean something.
func (s *script) message(term string, verbs []string, m matrix) inbound {
	h := head{
		Term: term, Worker: []string{"a", "b", "c"}[s.number(3)], Step: uint64(s.number(4)), Attempt: s.number(3),
		Shard: s.number(5) - 1, From: s.number(12), Matrix: m, Kind: []string{"", "echo", endPause, "no"}[s.number(4)],
		Size: []int64{0, 3, 5000, 100_000}[s.number(4)], Pieces: []int{0, 4096, 1 << 20}[s.number(3)], Piece: s.number(3),
	}
	h.To = h.From + s.number(12)
	switch s.number(6) {
	case 0:
		h.Matrix = matrix{}
	case 1:
		h.Matrix = matrix{Rows: 1 + s.number(20), Cols: 1 + s.number(3), ChunkRows: 1 + s.number(9), Narrow: s.number(2) == 1, Wide: s.number(2) == 1}
	}
	in := inbound{verb: verbs[s.number(len(verbs))], head: h}
	n := s.number(6)
	for range n {
		in.data = append(in.data, byte(s.number(256)))
	}
	switch s.number(3) {
	case 0:
		in.head.SHA256 = digest(in.data)
	case 1:
		in.data, _ = json.Marshal(aliveNote{Index: s.number(4) - 1, Cores: 1, Rows: m.Rows, Shards: 3, Loaded: []int{s.number(3)}})
	}
	return in
}

var silent = slog.New(slog.DiscardHandler)

func deafSender(subj subjects) *sender {
	return &sender{subj: subj, limit: func() int64 { return maxChunk }, put: func(*nats.Msg) error { return nil }}
}

// FuzzCoordinator plays any messages against a coordinator with a step, then a
// list of items, in hand. Nothing panics, and no row is counted twice.
func FuzzCoordinator(f *testing.F) {
	f.Add([]byte("a few messages that mean little to anybody"))
	f.Add([]byte{0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 1, 2, 0, 1, 1, 1, 0, 1, 3, 4, 5, 2})
	f.Fuzz(func(t *testing.T, data []byte) {
		c := stillCoordinator(t)
		v, err := blockmatmul.Quantise(make1(20), 20, 1, 1, 8)
		if err != nil {
			t.Fatal(err)
		}
		m, blockRows, err := planStep(v, 0, 2*headroom, 16*headroom, 3)
		if err != nil {
			t.Fatal(err)
		}
		m.ChunkRows, blockRows = 7, 3
		now := time.Now()
		jobs := []func(uint64) job{
			func(step uint64) job { return newMultiplication(c, step, v, m, blockRows) },
			func(step uint64) job { return newErrand(c, step, "echo", someItems(3, 3), 4096) },
		}
		s := script(data)
		for _, make := range jobs {
			o := &order{make: make, done: chanOfError()}
			c.start(now, o)
			for steps := 0; c.current == o && len(s) > 0 && steps < 200; steps++ {
				now = now.Add(time.Duration(s.number(200)) * time.Millisecond)
				in := s.message(c.term, append(upwardVerbs, verbRefuse), m)
				in.head.Step = c.step
				if in.verb == verbRows {
					in.rows = rowsFor(in.head)
				}
				c.take(now, in)
				c.tick(now)
				if p := c.Progress(); p.Done > p.Total {
					t.Fatalf("%d rows of %d", p.Done, p.Total)
				}
			}
			c.settle(ErrClosed)
		}
	})
}

// rowsFor gives what the decoder would, for a header that passed it.
func rowsFor(h head) any {
	n := max(h.To-h.From, 0) * h.Matrix.Cols
	if h.Matrix.Wide {
		return make([]int64, n)
	}
	return make([]int32, n)
}

// stillCoordinator has no loop and no network.
func stillCoordinator(t *testing.T) *Coordinator {
	o := CoordinatorOptions{Conn: &Conn{}, Prefix: "p", Run: "r", Rows: 20, Shards: []Range{{0, 9}, {9, 9}, {9, 20}}, Logger: silent}
	if err := o.check(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	t.Cleanup(func() { cancel(nil) })
	return &Coordinator{
		o: o, t: o.Timeouts, subj: subjects{"p", "r"}, term: "s", out: deafSender(subjects{"p", "r"}), log: silent,
		ctx: ctx, cancel: cancel, done: make(chan struct{}), refused: map[string]string{}, owners: make([]*member, 3),
	}
}

// FuzzWorker plays any messages against a shard worker.
func FuzzWorker(f *testing.F) {
	f.Add([]byte("a few messages that mean little to anybody"))
	f.Add([]byte{1, 0, 0, 0, 1, 0, 3, 4, 1, 1, 1, 0, 2, 3, 3, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9})
	f.Fuzz(func(t *testing.T, data []byte) {
		w, events := stillWorker(t)
		now := time.Now()
		m := matrix{Rows: 20, Cols: 1, ChunkRows: 7}
		s := script(data)
		for steps := 0; len(s) > 0 && steps < 200; steps++ {
			now = now.Add(time.Duration(s.number(200)) * time.Millisecond)
			in := s.message([]string{"s", "s", "s", "other"}[s.number(4)], append(broadcastVerbs, unicastVerbs...), m)
			if in.verb == verbMatrix || in.verb == verbRepair {
				if in.head.From >= in.head.To || in.head.To > in.head.Matrix.Rows {
					continue // the decoder would not let it pass
				}
				in.rows = make([]int32, (in.head.To-in.head.From)*in.head.Matrix.Cols)
			}
			w.take(now, in)
			w.tick(now)
			w.work()
			for more := true; more; {
				select {
				case e := <-events:
					e(now)
				default:
					more = false
				}
			}
		}
		w.stop()
		close(w.done)
		w.wg.Wait()
	})
}

// stillWorker has no loop and no network.
func stillWorker(t *testing.T) (*worker, chan func(time.Time)) {
	g := newGraph(20, 3, 1, 1)
	g.ranges = []Range{{0, 9}, {9, 9}, {9, 20}}
	o := ShardOptions{Conn: &Conn{}, Source: g, Index: 0, Logger: silent, Cores: 2, Worker: "a", KeepLoaded: 2,
		Handlers: map[string]Handler{"echo": stretch(1)}}
	if err := o.check(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	w := &worker{
		o: o, t: o.Timeouts, subj: subjects{"p", "r"}, out: deafSender(subjects{"p", "r"}), log: silent, ctx: ctx,
		event: make(chan func(time.Time), 1000), done: make(chan struct{}), heard: time.Now(),
	}
	w.shards = shelf{w: w, slots: map[int]*slot{}}
	w.stepCtx, w.stop = context.WithCancel(ctx)
	return w, w.event
}
