package privacy

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/privcom/privcom/blockmatmul"
)

// The tests below are the only place where the bounds meet the arithmetic: they run
// the real kernel and the real clip on every graph of up to five vertices.

// graphOf is the adjacency of the graph on n vertices whose edges are the bits of m.
func graphOf(n int, m uint) [][]bool {
	a := make([][]bool, n)
	for i := range a {
		a[i] = make([]bool, n)
	}
	for i, b := 0, 0; i < n; i++ {
		for j := i + 1; j < n; j, b = j+1, b+1 {
			on := m>>b&1 == 1
			a[i][j], a[j][i] = on, on
		}
	}
	return a
}

func csrOf(a [][]bool) *blockmatmul.CSR {
	c := &blockmatmul.CSR{Ptr: []int64{0}}
	for _, row := range a {
		for j, on := range row {
			if on {
				c.Col = append(c.Col, int32(j))
			}
		}
		c.Ptr = append(c.Ptr, int64(len(c.Col)))
	}
	return c
}

// answer runs the query's arithmetic: Katz rounds, each a kernel and a row clip.
func answer(a *blockmatmul.CSR, v []int32, q Query) []int64 {
	n, k := q.N, q.K
	w := make([]int64, n*k)
	u := append([]int32(nil), v...)
	for l := 1; ; l++ {
		a.MultiplyRows(w, u, k, 0, n)
		for i := range n {
			blockmatmul.ClipRow(w[i*k:(i+1)*k], q.Clip)
		}
		if l == q.Katz.Order {
			return w
		}
		for i := range u {
			u[i] = v[i] + int32(new(big.Int).Quo(new(big.Int).Mul(big.NewInt(w[i]), big.NewInt(q.Katz.Num)), new(big.Int).Lsh(big.NewInt(1), q.Katz.Bits)).Int64())
		}
	}
}

func distanceSquared(a, b []int64) *big.Int {
	sum, t := new(big.Int), new(big.Int)
	for i := range a {
		t.SetInt64(a[i] - b[i])
		sum.Add(sum, t.Mul(t, t))
	}
	return sum
}

func normsOf(v []int32, k int) Norms {
	h := Norms{Width: 1}
	for i := 0; i < len(v); i += k {
		sum := new(big.Int)
		for _, x := range v[i : i+k] {
			sum.Add(sum, big.NewInt(int64(x)*int64(x)))
		}
		r := ceilRoot(sum).Int64()
		for int64(len(h.Counts)) <= r {
			h.Counts = append(h.Counts, 0)
		}
		h.Counts[r]++
		h.Radius = max(h.Radius, r)
	}
	return h
}

// neighbours calls f with the edge masks of every graph that is a neighbour of m, and
// the degree that the unit's table goes by.
func neighbours(u Unit, n int, m uint, f func(other uint, degree int64)) {
	pairs := n * (n - 1) / 2
	incident := make([]uint, n) // edges at each vertex
	for i, b := 0, 0; i < n; i++ {
		for j := i + 1; j < n; j, b = j+1, b+1 {
			incident[i] |= 1 << b
			incident[j] |= 1 << b
		}
	}
	degree := func(m, at uint) int64 {
		d := int64(0)
		for b := range pairs {
			d += int64(m & at >> b & 1)
		}
		return d
	}
	switch u {
	case Edge:
		for b := range pairs {
			f(m^1<<b, 1)
		}
	case Node:
		for _, at := range incident {
			f(m&^at, degree(m, at))
		}
	case NodeRewire:
		for _, at := range incident {
			for sub := at; ; sub = (sub - 1) & at {
				other := m&^at | sub
				f(other, max(degree(m, at), degree(other, at)))
				if sub == 0 {
					break
				}
			}
		}
	}
}

func maxDegree(n int, m uint) int64 {
	most := int64(0)
	for _, row := range graphOf(n, m) {
		d := int64(0)
		for _, on := range row {
			if on {
				d++
			}
		}
		most = max(most, d)
	}
	return most
}

// matrices are the V of the brute force: adversarial ones that line rows up, that put
// all weight on one row, that sit on the clip's edge; and random ones.
func matrices(n, k int) map[string][]int32 {
	out := map[string][]int32{}
	add := func(name string, f func(i, j int) int32) {
		v := make([]int32, n*k)
		for i := range n {
			for j := range k {
				v[i*k+j] = f(i, j)
			}
		}
		out[name] = v
	}
	add("aligned", func(i, j int) int32 { return map[bool]int32{true: 1000}[j == 0] })
	add("one large row", func(i, j int) int32 {
		if i == 0 {
			return 700
		}
		return 10
	})
	add("alternating", func(i, j int) int32 { return 500 * int32(1-2*((i+j)%2)) })
	add("tiny", func(i, j int) int32 { return int32(1 + (i+j)%2) })
	rng := rand.New(rand.NewPCG(7, uint64(n*10+k)))
	for r := range 2 {
		add(fmt.Sprint("random ", r), func(i, j int) int32 { return int32(rng.IntN(2001)) - 1000 })
	}
	return out
}

// TestLemmas2To5BoundEveryGraphOnFiveVertices measures every neighbour pair of every
// unit on all graphs of 2 to 5 vertices, Katz orders 1, 3, 5, with and without clip,
// and asks of order 1 that some pair reaches 0.9 of its bound.
func TestLemmas2To5BoundEveryGraphOnFiveVertices(t *testing.T) {
	for _, unit := range Units() {
		for _, order := range []int{1, 3, 5} {
			for _, clip := range []int64{0, 900, 3000} {
				best, where := 0.0, ""
				for n := 2; n <= 5; n++ {
					for _, k := range []int{1, 2} {
						for name, v := range matrices(n, k) {
							q := Query{Unit: unit, N: n, K: k, Norms: normsOf(v, k), Clip: clip, DegreeLimit: int64(n - 1),
								Katz: Katz{Order: order, Num: 3, Bits: 5}}
							if err := q.Validate(); err != nil {
								t.Fatal(err)
							}
							r, w := worstPair(t, q, v)
							if r > best {
								best, where = r, fmt.Sprintf("n=%d k=%d %s, %s", n, k, name, w)
							}
						}
					}
				}
				t.Logf("%-11s order %d clip %4d: best ratio %.4f (%s)", unit, order, clip, best, where)
				if best > 1 {
					t.Errorf("%s, order %d, clip %d: bound broken", unit, order, clip)
				}
				if order == 1 && best < 0.9 {
					t.Errorf("%s, order %d, clip %d: bound reached only to %.3f, want ≥ 0.9", unit, order, clip, best)
				}
			}
		}
	}
}

func worstPair(t *testing.T, q Query, v []int32) (best float64, where string) {
	t.Helper()
	n := q.N
	answers := make([][]int64, 1<<(n*(n-1)/2))
	for m := range answers {
		answers[m] = answer(csrOf(graphOf(n, uint(m))), v, q)
	}
	bound := map[int64]*big.Int{}
	for m := range answers {
		neighbours(q.Unit, n, uint(m), func(other uint, d int64) {
			s2, ok := bound[d]
			if !ok {
				s2 = q.Squared(d)
				bound[d] = s2
			}
			got := distanceSquared(answers[m], answers[other])
			if got.Cmp(s2) > 0 {
				t.Errorf("%s n=%d k=%d order %d clip %d: graphs %b and %b (degree %d) move by √%s, bound √%s; V = %v",
					q.Unit, n, q.K, q.Katz.Order, q.Clip, m, other, d, got, s2, v)
			}
			if s2.Sign() > 0 {
				a, _ := new(big.Rat).SetFrac(got, s2).Float64()
				if r := math.Sqrt(a); r > best {
					best, where = r, fmt.Sprintf("graphs %b and %b", m, other)
				}
			}
		})
	}
	return best, where
}

func TestKatzWithADegreeLimitHoldsOnBoundedGraphs(t *testing.T) {
	const n, k = 5, 2
	for i, unit := range append(Units(), Units()...) {
		for name, v := range matrices(n, k) {
			q := Query{Unit: unit, N: n, K: k, Norms: normsOf(v, k), DegreeLimit: 2, Katz: Katz{Order: 3, Num: 1, Bits: 2}}
			if i >= len(Units()) {
				q.Clip = q.Norms.Radius // bites on every vertex of two aligned neighbours
			}
			for m := uint(0); m < 1<<10; m++ {
				if maxDegree(n, m) > 2 {
					continue
				}
				base := answer(csrOf(graphOf(n, m)), v, q)
				neighbours(unit, n, m, func(other uint, d int64) {
					if maxDegree(n, other) > 2 {
						return
					}
					if got := distanceSquared(base, answer(csrOf(graphOf(n, other)), v, q)); got.Cmp(q.Squared(d)) > 0 {
						t.Fatalf("%s, %s: graphs %b and %b move by √%s, bound √%s", unit, name, m, other, got, q.Squared(d))
					}
				})
			}
		}
	}
}

func TestSensitivityGrowsWithDegree(t *testing.T) {
	for _, u := range Units() {
		q := Query{Unit: u, N: 1000, K: 4, Norms: Uniform(1000, 16384), Clip: 500_000, Katz: Katz{Order: 1}}
		last := q.Squared(0)
		for d := int64(1); d < 1000; d += 37 {
			s := q.Squared(d)
			if s.Cmp(last) < 0 {
				t.Fatalf("%s: S(%d) is below S of a smaller degree", u, d)
			}
			last = s
		}
	}
}

func TestUnprovenQueriesAreRefused(t *testing.T) {
	ok := Query{Unit: Node, N: 10, K: 2, Norms: Uniform(10, 5), DegreeLimit: 9, Katz: Katz{Order: 1}}
	if err := ok.Validate(); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*Query){
		"even order":           func(q *Query) { q.Katz.Order = 2 },
		"negative clip":        func(q *Query) { q.Clip = -1 },
		"Katz without a bound": func(q *Query) { q.Katz.Order, q.DegreeLimit = 3, 0 },
		"no columns":           func(q *Query) { q.K = 0 },
	} {
		q := ok
		change(&q)
		if q.Validate() == nil {
			t.Errorf("%s was taken", name)
		}
	}
}
