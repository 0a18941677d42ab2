package cluster

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// Whatever happens, every unit is finished first exactly once, a worker's list and the
// units' lists of holders agree, and no unit is out of reach.
func TestBoardKeepsItsBooks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sizes := rapid.SliceOfN(rapid.IntRange(0, 6), 1, 4).Draw(t, "sizes")
		b := newBoard(pace{time.Second, 4 * time.Second, time.Second}, sizes)
		members := []*member{{id: "a"}, {id: "b"}, {id: "c"}}
		first := map[int]int{}
		now := time.Unix(0, 0)
		for range rapid.IntRange(0, 80).Draw(t, "steps") {
			now = now.Add(time.Duration(rapid.IntRange(0, 900).Draw(t, "ms")) * time.Millisecond)
			m := members[rapid.IntRange(0, 2).Draw(t, "member")]
			g := rapid.IntRange(0, len(sizes)-1).Draw(t, "group")
			switch rapid.IntRange(0, 5).Draw(t, "what") {
			case 0, 1:
				u := b.takeFront(g)
				if rapid.Bool().Draw(t, "back") {
					u = b.takeBack(g)
				}
				if u >= 0 {
					if !b.free(u) {
						t.Fatalf("unit %d is not free", u)
					}
					b.hold(u, m, now)
				}
			case 2:
				if len(b.units) > 0 {
					u := rapid.IntRange(0, len(b.units)-1).Draw(t, "unit")
					if fresh, _ := b.finish(u, m, now, 1); fresh {
						first[u]++
					}
				}
			case 3:
				b.drop(m)
			case 4:
				if u := b.rescue(m, now, 0, members, func(int) bool { return true }); u >= 0 {
					if b.holds(u, m) || b.units[u].done {
						t.Fatalf("rescue of unit %d", u)
					}
					b.hold(u, m, now)
				}
			case 5:
				for _, r := range b.overdue(now, members, 0, func(*member, int) bool { return false }) {
					if b.units[r.unit].done || r.attempt < 2 {
						t.Fatalf("asks again for %+v", r)
					}
				}
			}
			checkBooks(t, b, members)
		}
		for g := range sizes { // all that is left is found, from either end
			for u := b.takeFront(g); u >= 0; u = b.takeBack(g) {
				b.finish(u, members[0], now, 1)
				first[u]++
			}
		}
		for _, m := range members {
			for u := range m.held {
				b.finish(u, m, now, 1)
				first[u]++
			}
		}
		if b.left != 0 {
			t.Fatalf("%d units out of reach", b.left)
		}
		for u := range b.units {
			if first[u] != 1 {
				t.Fatalf("unit %d finished first %d times", u, first[u])
			}
		}
	})
}

func checkBooks(t *rapid.T, b *board, members []*member) {
	left := 0
	for u, un := range b.units {
		if !un.done {
			left++
		}
		for _, m := range members {
			if b.holds(u, m) != m.held[u] || un.done && m.held[u] {
				t.Fatalf("unit %d and worker %s disagree", u, m.id)
			}
		}
	}
	if left != b.left {
		t.Fatalf("%d units left, the board says %d", left, b.left)
	}
}

func ids(owners []*member) (all []string) {
	for _, m := range owners {
		if m == nil {
			all = append(all, "")
			continue
		}
		all = append(all, m.id)
	}
	return all
}

func TestAssignShards(t *testing.T) {
	w := func(id string, index int, loaded ...int) *member {
		m := &member{id: id, index: index, loaded: map[int]bool{}, unable: map[int]string{}}
		for _, s := range loaded {
			m.loaded[s] = true
		}
		return m
	}
	a0, b1, c0, d, e := w("a0", 0), w("b1", 1), w("c0", 0), w("d", -1), w("e", -1, 2)
	unable := w("u1", 1)
	unable.unable[1] = "no route to host"
	for name, c := range map[string]struct {
		shards  int
		members []*member
		before  []*member
		want    []string
	}{
		"nobody":                    {2, nil, nil, []string{"", ""}},
		"as planned":                {2, []*member{a0, b1}, nil, []string{"a0", "b1"}},
		"one for all":               {3, []*member{a0}, nil, []string{"a0", "a0", "a0"}},
		"two with one index":        {2, []*member{a0, c0}, nil, []string{"a0", "c0"}},
		"the second keeps its own":  {2, []*member{a0, c0}, []*member{c0, a0}, []string{"c0", "a0"}},
		"planned worker comes back": {2, []*member{a0, b1}, []*member{a0, a0}, []string{"a0", "b1"}},
		"stand-in gives half":       {4, []*member{d, e}, []*member{d, d, d, d}, []string{"d", "d", "e", "e"}},
		"loaded goes first":         {3, []*member{d, e}, nil, []string{"d", "e", "e"}},
		"unable":                    {2, []*member{a0, unable}, nil, []string{"a0", "a0"}},
		"all unable":                {2, []*member{unable}, nil, []string{"u1", ""}},
	} {
		if got := ids(assignShards(c.shards, c.members, c.before)); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// A unit that was asked for three times because messages were lost counts for the time of
// the request that was answered, and not at all where the answer does not say which one.
func TestLostMessagesDoNotSlowTheTempo(t *testing.T) {
	for _, c := range []struct {
		attempt int
		want    time.Duration
	}{{1, 7 * time.Second}, {2, 6 * time.Second}, {3, 4 * time.Second}, {0, 0}, {9, 0}} {
		b := newBoard(pace{time.Second, 4 * time.Second, time.Second}, []int{1})
		m := &member{id: "w"}
		now := time.Unix(0, 0)
		b.hold(0, m, now)
		for _, after := range []time.Duration{1, 3} {
			if again := b.overdue(now.Add(after*time.Second), []*member{m}, 0, func(*member, int) bool { return false }); len(again) != 1 {
				t.Fatalf("asked again %d times", len(again))
			}
		}
		if _, took := b.finish(0, m, now.Add(7*time.Second), c.attempt); took != c.want {
			t.Errorf("attempt %d: took %v, want %v", c.attempt, took, c.want)
		}
	}
}
