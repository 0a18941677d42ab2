package cluster

import (
	"slices"
	"time"

	"github.com/privcom/privcom/blockmatmul"
	"github.com/privcom/privcom/storage"
)

// shelf holds the shards that a worker has in memory. The worker's loop owns it.
type shelf struct {
	w     *worker
	slots map[int]*slot
	clock uint64
}

// slot is one shard: loading (rows and err are nil), there, or failed.
type slot struct {
	rows *blockmatmul.CSR
	err  error
	note failNote // of err
	used uint64
}

const loadTries = 3

// load begins to load a shard, unless it is on the shelf in whatever state.
func (s *shelf) load(i int) {
	if s.slots[i] != nil {
		return
	}
	s.evict()
	sl := &slot{}
	s.use(sl)
	s.slots[i] = sl
	w := s.w
	w.wg.Go(func() {
		rows, err := w.loadShard(i)
		w.post(func(now time.Time) {
			sl.rows, sl.err = rows, err
			if err != nil {
				sl.note = noteOf(err)
				w.log.Warn("shard could not be loaded", "rows_of_shard", i, "error", err)
			}
			w.alive(now)
		})
	})
}

// loadShard loads and checks a shard; what storage calls retryable is tried again.
func (w *worker) loadShard(i int) (*blockmatmul.CSR, error) {
	for try := 1; ; try++ {
		rows, err := loadChecked(w.ctx, w.o.Source, i)
		if err == nil || try == loadTries || storage.Class(err) != storage.ClassRetryable {
			return rows, err
		}
		select {
		case <-time.After(backoff(try)):
		case <-w.ctx.Done():
			return nil, w.ctx.Err()
		}
	}
}

func (s *shelf) use(sl *slot) {
	s.clock++
	sl.used = s.clock
}

// evict drops the shard that was unused for longest, where the shelf is full.
func (s *shelf) evict() {
	if s.w.o.KeepLoaded <= 0 {
		return
	}
	for len(s.slots) >= s.w.o.KeepLoaded {
		oldest := -1
		for i, sl := range s.slots {
			if sl.rows != nil && (oldest < 0 || sl.used < s.slots[oldest].used) {
				oldest = i
			}
		}
		if oldest < 0 {
			return // all are loading
		}
		delete(s.slots, oldest)
	}
}

// state lists the shards that are in memory, and says whether one is coming.
func (s *shelf) state() (loaded []int, loading bool) {
	for i, sl := range s.slots {
		if sl.rows != nil {
			loaded = append(loaded, i)
		}
		loading = loading || sl.rows == nil && sl.err == nil
	}
	slices.Sort(loaded)
	return loaded, loading
}
