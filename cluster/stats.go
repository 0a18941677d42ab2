package cluster

import (
	"sync"
	"time"
)

// Progress is a snapshot of the work in hand. Its numbers are public: they count
// rows and items, not arcs.
type Progress struct {
	Step    uint64 `json:"step"`
	Kind    string `json:"kind"` // "multiply", the handler's name, or "" between
	Done    int    `json:"done"` // rows, or items
	Total   int    `json:"total"`
	Workers int    `json:"workers"`
}

// Stats sums up what a coordinator did so far.
type Stats struct {
	Term          string   `json:"term"`
	Steps         uint64   `json:"steps"`          // multiplications and runs finished
	BytesSent     int64    `json:"bytes_sent"`     // published by the coordinator
	BytesReceived int64    `json:"bytes_received"` // by the coordinator
	Broadcast     int64    `json:"broadcast"`      // messages of V, each sent once to all
	Repaired      int64    `json:"repaired"`       // messages of V that were sent again to one worker
	AskedAgain    int64    `json:"asked_again"`    // row blocks and items asked for again
	Repeated      int64    `json:"repeated"`       // results that came again, equal, and were ignored
	Rescued       int64    `json:"rescued"`        // units taken from a slow worker
	Lost          int64    `json:"lost"`           // messages that a broken connection swallowed
	Rejected      int64    `json:"rejected"`       // messages that failed a check
	Left          int64    `json:"left"`           // workers that died or said goodbye
	Refused       []string `json:"refused,omitempty"`

	ShardBusy []time.Duration `json:"shard_busy,omitempty"` // per shard, between asking for its rows and having them, summed
	Other     string          `json:"other,omitempty"`      // term of another coordinator on this run
	Workers   []WorkerStats   `json:"workers"`
}

// WorkerStats is one live worker's part.
type WorkerStats struct {
	ID     string        `json:"id"`
	Index  int           `json:"index"` // -1: not started for a shard
	Shards []int         `json:"shards"`
	Blocks int64         `json:"blocks"` // row blocks and items taken from it
	Bytes  int64         `json:"bytes"`
	Busy   time.Duration `json:"busy,omitempty"` // between asking and having, summed
	Silent time.Duration `json:"silent"`
}

// ledger is the part of Stats that the loop counts, behind a lock.
type ledger struct {
	mu sync.Mutex
	s  Stats
	// progress of the work in hand
	now Progress
}

func (l *ledger) count(f func(*Stats)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f(&l.s)
}

func (l *ledger) snapshot() (Stats, Progress) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.s
	s.ShardBusy = append([]time.Duration(nil), l.s.ShardBusy...)
	s.Refused = append([]string(nil), l.s.Refused...)
	s.Workers = append([]WorkerStats(nil), l.s.Workers...)
	return s, l.now
}
