package cluster

import (
	"cmp"
	"encoding/json"
	"slices"
	"time"
)

// member is a live worker, as the coordinator sees it.
type member struct {
	id       string
	index    int
	cores    int
	loaded   map[int]bool   // shards that it holds in memory
	unable   map[int]string // shards that it failed to load, with the reason
	loading  time.Time      // since when it loads a shard; zero when it does not
	seen     time.Time      // last message
	progress time.Time      // last useful message
	held     map[int]bool   // units of the current job
	matrix   *delivery      // of the current step
	blocks   int64          // row blocks and items taken from it
	bytes    int64          // received from it
	busy     time.Duration  // time between asking and having, summed
}

// aliveNote is the payload of a heartbeat.
type aliveNote struct {
	Index   int    `json:"index"` // planned index, -1 for none
	Cores   int    `json:"cores"`
	Rows    int    `json:"rows"`   // of the graph that it serves
	Shards  int    `json:"shards"` // of the graph that it serves
	Graph   string `json:"graph,omitempty"`
	Loaded  []int  `json:"loaded,omitempty"`
	Loading bool   `json:"loading,omitempty"`
}

// maxNote bounds a JSON payload.
const maxNote = 1 << 20

func decodeAlive(data []byte) (aliveNote, bool) {
	var a aliveNote
	if len(data) > maxNote || json.Unmarshal(data, &a) != nil {
		return a, false
	}
	if a.Index < -1 || a.Cores < 1 || a.Cores > maxQueue || a.Rows < 0 || a.Rows > maxRows || a.Shards < 0 || len(a.Graph) > 256 || len(a.Loaded) > a.Shards {
		return a, false
	}
	for _, s := range a.Loaded {
		if s < 0 || s >= a.Shards {
			return a, false
		}
	}
	return a, true
}

// roster is the set of live workers, in the order of their ids.
type roster struct{ list []*member }

func (r *roster) find(id string) *member {
	i, ok := slices.BinarySearchFunc(r.list, id, func(m *member, id string) int { return cmp.Compare(m.id, id) })
	if !ok {
		return nil
	}
	return r.list[i]
}

func (r *roster) add(m *member) {
	i, _ := slices.BinarySearchFunc(r.list, m.id, func(m *member, id string) int { return cmp.Compare(m.id, id) })
	r.list = slices.Insert(r.list, i, m)
}

func (r *roster) remove(m *member) {
	r.list = slices.DeleteFunc(r.list, func(o *member) bool { return o == m })
}

// assignShards gives every shard an owner among the live workers: its owner of
// the step before; else the worker that was started for it; else one that has
// it in memory; else the one with the fewest shards. A worker that was started
// for a shard takes it back from one that only stood in for it. Owners hold at
// most ⌈shards/workers⌉ shards that were not meant for them, so that late joiners
// get their part. The result is a function of the arguments.
func assignShards(shards int, members []*member, before []*member) []*member {
	owners := make([]*member, shards)
	if len(members) == 0 {
		return owners
	}
	load := make(map[*member]int, len(members))
	most := (shards + len(members) - 1) / len(members)
	give := func(s int, m *member) { owners[s] = m; load[m]++ }
	able := func(m *member, s int) bool { _, failed := m.unable[s]; return !failed }
	for s := range shards { // planned workers; the one that has it already goes first
		var best *member
		for _, m := range members {
			if m.index == s && able(m, s) && (best == nil || s < len(before) && before[s] == m) {
				best = m
			}
		}
		if best != nil {
			give(s, best)
		}
	}
	for s := range shards { // stand-ins of the step before
		if owners[s] == nil && s < len(before) && before[s] != nil && load[before[s]] < most && slices.Contains(members, before[s]) && able(before[s], s) {
			give(s, before[s])
		}
	}
	for s := range shards {
		if owners[s] != nil {
			continue
		}
		var best *member
		for _, m := range members {
			if !able(m, s) {
				continue
			}
			if best == nil || load[m] < load[best] || load[m] == load[best] && m.loaded[s] && !best.loaded[s] {
				best = m
			}
		}
		if best != nil {
			give(s, best)
		}
	}
	return owners
}
