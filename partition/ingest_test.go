package partition

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	"github.com/privcom/privcom/storage"
)

// kinds of ids, each for another way through the intake.
var kinds = map[string]func(i int) string{
	"small numbers": number,
	"gaps":          func(i int) string { return number(i * i * 997) },
	"large numbers": func(i int) string { return fmt.Sprint(uint64(i+1) * 0x9e3779b97f4a7c15) },
	"both":          func(i int) string { return fmt.Sprint(uint64(i*i*i) << (i % 50)) },
	"words":         func(i int) string { return fmt.Sprintf("user %x", i*7919) },
	"leading zeros": func(i int) string { return fmt.Sprintf("%03d", i) },
	"late word":     func(i int) string { return strings.Replace(number(i), "17", "seventeen", 1) },
	"late large":    func(i int) string { return strings.Replace(number(i), "17", "9999999999999999999", 1) },
	"shared prefix": func(i int) string { return "prefix--" + strings.Repeat("a", i%5) + "\x00\xff"[:i%3] + number(i/7) },
	"around 2^31":   func(i int) string { return fmt.Sprint(uint64(1)<<31 - 20 + uint64(i)) },
	"around 2^64": func(i int) string {
		return strings.Replace(fmt.Sprint(^uint64(0)-uint64(i)), "18446744073709551610", "18446744073709551616", 1)
	},
	"digits, longer": func(i int) string { return "184467440737095516150" + number(i) },
}

// The folder is what the plain computation says, for all kinds of ids, with
// memory for a few rows or for all, any number of shards, both policies.
func TestIngestAgainstPlainComputation(t *testing.T) {
	names := slices.Sorted(maps.Keys(kinds))
	for i := range 3 {
		t.Run(number(i), func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(rt *rapid.T) {
				id := kinds[rapid.SampledFrom(names).Draw(rt, "kind")]
				n := rapid.IntRange(2, 60).Draw(rt, "n")
				draw := rapid.IntRange(0, n-1)
				s := &sliceSource{weighted: rapid.Bool().Draw(rt, "weighted")}
				for range rapid.IntRange(1, 120).Draw(rt, "rows") {
					s.rows = append(s.rows, row{id(draw.Draw(rt, "a")), id(draw.Draw(rt, "b")), float64(draw.Draw(rt, "w"))})
				}
				for range rapid.IntRange(0, 3).Draw(rt, "listed") {
					s.vertices = append(s.vertices, id(draw.Draw(rt, "v")))
				}
				o := Options{
					Shards:       rapid.IntRange(1, 4).Draw(rt, "shards"),
					Memory:       int64(rapid.SampledFrom([]int{1 << 10, 1 << 14, 1 << 16, 1 << 22}).Draw(rt, "memory")),
					RowGroupArcs: int64(rapid.SampledFrom([]int{1, 2, 7, 1 << 20}).Draw(rt, "group")),
					Mutual:       rapid.Bool().Draw(rt, "mutual"),
				}
				if s.weighted {
					least := float64(n / 4)
					o.MinWeight = &least
				}
				want := expect(s, &o, nil)
				b, m, r, err := ingestSource(t, o, s)
				if want.edges == 0 {
					if !errors.Is(err, ErrNoEdges) {
						rt.Fatalf("a graph without edges gave %v", err)
					}
					return
				}
				if err != nil {
					rt.Fatal(err)
				}
				wantGraph(t, b, m, r, want)
			})
		})
	}
}

// The same rows in another order, with another memory budget, give the same
// bytes; another number of shards gives the same content.
func TestSameGraphSameBytes(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for kind, id := range kinds {
		s := &sliceSource{}
		for range 1000 {
			s.rows = append(s.rows, row{a: id(rng.IntN(300)), b: id(rng.IntN(300))})
		}
		var first *Manifest
		for _, memory := range []int64{1 << 22, 1 << 12, 1 << 15} {
			_, m, r, err := ingestSource(t, Options{Shards: 3, Memory: memory}, s)
			if err != nil {
				t.Fatalf("%s: %v", kind, err)
			}
			if spilled := r.SpilledBytes > 0; spilled != (memory < 1<<20) {
				t.Errorf("%s: %d bytes spilled with memory %d", kind, r.SpilledBytes, memory)
			}
			if first == nil {
				first = m
			}
			if m.Hash != first.Hash {
				t.Errorf("%s: manifest %s with memory %d, %s before", kind, m.Hash, memory, first.Hash)
			}
			rng.Shuffle(len(s.rows), func(i, j int) { s.rows[i], s.rows[j] = s.rows[j], s.rows[i] })
		}
		_, m, _, err := ingestSource(t, Options{Shards: 7}, s)
		if err != nil || m.Content != first.Content || m.Hash == first.Hash {
			t.Errorf("%s: content %s, %v; want %s in other files", kind, m.Content, err, first.Content)
		}
	}
}

func TestRefusals(t *testing.T) {
	loops := &sliceSource{rows: rowsOf("1", "1", "2", "2"), vertices: []string{"3"}}
	if _, m, r, err := ingestSource(t, Options{}, loops); !errors.Is(err, ErrNoEdges) || m != nil || r.Loops != 2 || r.Isolated != 3 {
		t.Errorf("only loops: %v, %+v", err, r)
	}
	oneWay := &sliceSource{rows: rowsOf("1", "2", "2", "3")}
	if _, _, r, err := ingestSource(t, Options{Mutual: true}, oneWay); !errors.Is(err, ErrNoEdges) || r.OneWay != 2 {
		t.Errorf("nothing mutual: %v", err)
	}
	star := &sliceSource{rows: rowsOf("0", "1", "0", "2", "0", "3", "5", "6", "5", "7", "5", "8", "8", "9")}
	b, _, _, err := ingestSource(t, Options{DegreeBound: 2}, star)
	var bound *DegreeBoundError
	if !errors.As(err, &bound) || bound.Vertices != 2 || bound.Bound != 2 || !strings.Contains(err.Error(), "2 vertices") {
		t.Errorf("degree bound 2: %v", err)
	}
	if keys, _ := b.List(t.Context(), ""); len(keys) > 0 {
		t.Errorf("a refused graph left %q", keys)
	}
	_, m, _, err := ingestSource(t, Options{DegreeBound: 3}, star)
	if err != nil || m.DegreeBound != 3 {
		t.Errorf("degree bound 3: %v", err)
	}
	least := 1.0
	if _, _, _, err := ingestSource(t, Options{MinWeight: &least}, star); err == nil || !strings.Contains(err.Error(), "made-up:1") {
		t.Errorf("least weight without weights: %v", err)
	}
	broken := &sliceSource{rows: star.rows, fail: errors.New("line 8 is torn")}
	if b, _, _, err := ingestSource(t, Options{}, broken); !errors.Is(err, broken.fail) {
		t.Errorf("failing input: %v", err)
	} else if keys, _ := b.List(t.Context(), ""); len(keys) > 0 {
		t.Errorf("a failed input left %q", keys)
	}
}

func TestBalanceIsChecked(t *testing.T) {
	s := &sliceSource{rows: rowsOf("1", "2")}
	r := &Report{Rows: 1, Edges: 1}
	if err := r.check(s.Stats()); err != nil {
		t.Error(err)
	}
	for _, bad := range []*Report{{Rows: 1}, {Rows: 2, Edges: 2}, {Rows: 1, Edges: 1, Loops: 1}} {
		var loss *LossError
		if err := bad.check(s.Stats()); !errors.As(err, &loss) {
			t.Errorf("%+v passed: %v", bad, err)
		}
	}
}

func TestOptionsNameAllFaults(t *testing.T) {
	_, err := Options{Shards: -1, Memory: 5, DegreeBound: -2, MaxBadLines: -1, RowGroupArcs: -1, IDType: "float"}.withDefaults()
	for _, want := range []string{"no input", "-1 shards", "5 bytes", "bound -2", "bad lines -1", "row groups of -1", `"float"`} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in %v", want, err)
		}
	}
}

// A second graph in the same folder is refused, before the input is read and,
// when two run at once, at the manifest.
func TestExistingGraphIsRefused(t *testing.T) {
	file := writeFile(t, "g.txt", "1 2\n2 3\n")
	b, _ := storage.Open(t.Context(), t.TempDir())
	var won atomic.Int64
	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() {
			_, _, err := Ingest(t.Context(), Options{Inputs: []string{file}, Shards: 2}, b)
			if err == nil {
				won.Add(1)
			} else if !errors.Is(err, storage.ErrExists) || !strings.Contains(err.Error(), b.URL()) {
				t.Errorf("loser got %v", err)
			}
		})
	}
	wait.Wait()
	if won.Load() != 1 {
		t.Fatalf("%d of 4 simultaneous ingests succeeded", won.Load())
	}
	g, err := OpenGraph(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	if err := g.Verify(t.Context()); err != nil {
		t.Error(err)
	}
	_, _, err = Ingest(t.Context(), Options{Inputs: []string{file + ".not there"}}, b)
	if !errors.Is(err, storage.ErrExists) {
		t.Errorf("got %v, want ErrExists before the input is opened", err)
	}
}

func TestPowerLawShardsAreBalanced(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	s := &sliceSource{}
	for range 60000 {
		pick := func() string { return number(int(20000 * rng.Float64() * rng.Float64() * rng.Float64())) }
		s.rows = append(s.rows, row{a: pick(), b: pick()})
	}
	for _, shards := range []int{2, 5, 16} {
		_, m, r, err := ingestSource(t, Options{Shards: shards, RowGroupArcs: 1000}, s)
		if err != nil {
			t.Fatal(err)
		}
		var largest int64
		for _, s := range m.Shards {
			largest = max(largest, s.Arcs)
			for _, g := range s.Groups {
				if g.Arcs > 1000 {
					t.Errorf("a row group of %d arcs", g.Arcs)
				}
			}
		}
		if mean := float64(m.Arcs) / float64(shards); float64(largest) > 1.05*mean {
			t.Errorf("%d shards: largest has %d arcs, mean %.0f (largest degree %d)", shards, largest, mean, r.Degrees.Max)
		}
	}
}

// More shards than rows: empty shards are real files.
func TestEmptyShards(t *testing.T) {
	s := &sliceSource{rows: rowsOf("1", "2"), vertices: []string{"9"}}
	b, m, r, err := ingestSource(t, Options{Shards: 8}, s)
	if err != nil {
		t.Fatal(err)
	}
	wantGraph(t, b, m, r, expect(s, &Options{}, nil))
	empty := 0
	for i, shard := range m.Shards {
		if shard.Rows == 0 {
			empty++
		}
		for _, key := range []string{shard.Key, m.VertexFiles[i].Key} {
			if ok, err := b.Exists(t.Context(), key); !ok || err != nil {
				t.Errorf("%s: %v %v", key, ok, err)
			}
		}
	}
	if empty < 5 || len(slices.Compact(slices.Sorted(keysOf(m)))) != 16 {
		t.Errorf("%d empty shards, keys %v", empty, slices.Sorted(keysOf(m)))
	}
}

func keysOf(m *Manifest) func(func(string) bool) {
	return func(yield func(string) bool) {
		for i := range m.Shards {
			if !yield(m.Shards[i].Key) || !yield(m.VertexFiles[i].Key) {
				return
			}
		}
	}
}

// A hub's row is divided over row groups, other rows are not.
func TestRowGroupsEndAtRows(t *testing.T) {
	s := &sliceSource{}
	for i := 1; i <= 25; i++ {
		s.rows = append(s.rows, row{a: "0", b: number(i)}, row{a: number(i), b: number(i%25 + 1)})
	}
	b, m, r, err := ingestSource(t, Options{Shards: 1, RowGroupArcs: 10}, s)
	if err != nil {
		t.Fatal(err)
	}
	wantGraph(t, b, m, r, expect(s, &Options{}, nil))
	groups := m.Shards[0].Groups
	want := []Group{{0, 1, 10}, {0, 1, 10}, {0, 2, 8}, {2, 3, 9}}
	if !slices.Equal(groups[:4], want) {
		t.Errorf("groups %v, want %v", groups[:4], want)
	}
}

func TestReportDescribesDegrees(t *testing.T) {
	s := &sliceSource{rows: rowsOf("0", "1", "0", "2", "0", "3", "0", "4", "3", "4"), vertices: []string{"7", "8"}}
	_, _, r, err := ingestSource(t, Options{}, s)
	if err != nil {
		t.Fatal(err)
	}
	d := r.Degrees
	if d.Min != 0 || d.Q25 != 0 || d.Q50 != 1 || d.Q75 != 2 || d.Max != 4 || d.Mean != 10.0/7 || !slices.Equal(d.Histogram, []int64{2, 2, 2, 1}) {
		t.Errorf("%+v", d)
	}
	if r.Directed != "unknown" || r.Isolated != 2 {
		t.Errorf("%+v", r)
	}
	both := &sliceSource{rows: rowsOf("0", "1", "1", "0")}
	if _, _, r, _ = ingestSource(t, Options{}, both); r.Directed != "no" {
		t.Errorf("both ways: %s, %s", r.Directed, r.DirectedReason)
	}
	some := &sliceSource{rows: rowsOf("0", "1", "1", "0", "1", "2")}
	if _, _, r, _ = ingestSource(t, Options{}, some); r.Directed != "yes" || !strings.Contains(r.DirectedReason, "50.0 %") {
		t.Errorf("one of two both ways: %s, %s", r.Directed, r.DirectedReason)
	}
}
