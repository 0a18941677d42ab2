package multipliertest

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2" // draws made-up graphs and matrices from fixed seeds; no noise
	"slices"
	"testing"

	"github.com/privcom/privcom/blockmatmul"
)

// Open makes the multiplier under test for the graph whose rows are in blocks, disjoint
// and in order, n rows together. It registers its own clean-up.
type Open func(t *testing.T, n int, blocks []*blockmatmul.CSR) blockmatmul.Multiplier

// Suite runs an implementation against Dense: graphs with hubs, isolated vertices and
// empty blocks; ranks; clips from none to one unit; Katz orders.
func Suite(t *testing.T, open Open) {
	for _, c := range []struct {
		name   string
		n      int
		p      float64 // of an edge of the made-up graph: public
		blocks int
	}{
		{"two vertices", 2, 1, 1}, {"sparse", 60, 0.05, 3}, {"dense", 45, 0.7, 2}, {"more blocks than rows", 5, 0.5, 8}, {"one block", 80, 0.2, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(uint64(c.n), 11))
			a := graph(rng, c.n, c.p)
			m := open(t, c.n, cut(rng, a, c.blocks))
			for _, k := range []int{1, 2, 3, 4, 8, 12, 16, 32} {
				v := operand(t, rng, c.n, k)
				for _, clip := range []int64{0, 1, v.Radius(), 2 * v.Radius()} {
					compare(t, fmt.Sprintf("k=%d clip=%d", k, clip), m, Dense(a), v, clip, 1)
				}
				for _, clip := range []int64{0, 2 * v.Radius()} {
					compare(t, fmt.Sprintf("k=%d clip=%d order 3", k, clip), m, Dense(a), v, clip, 3)
				}
			}
		})
	}
}

func compare(t *testing.T, name string, m, reference blockmatmul.Multiplier, v *blockmatmul.Operand, clip int64, order int) {
	t.Helper()
	s := blockmatmul.Series{Order: order, Num: 3, Bits: 6, DegreeLimit: int64(v.Rows() - 1)}
	got, err := s.Multiply(t.Context(), m, v, clip)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	want, err := s.Multiply(t.Context(), reference, v, clip)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if got.Rows != want.Rows || got.Cols != want.Cols || !slices.Equal(got.Data, want.Data) {
		t.Fatalf("%s: the product differs from its definition", name)
	}
}

// Dense is the definition: an n×n matrix of booleans, big integers, exact square roots.
type Dense [][]bool

// Multiply implements blockmatmul.Multiplier.
func (a Dense) Multiply(_ context.Context, v *blockmatmul.Operand, c int64) (*blockmatmul.Product, error) {
	k := v.Cols()
	q := &blockmatmul.Product{Rows: len(a), Cols: k, Data: make([]int64, len(a)*k)}
	for i, row := range a {
		out := q.Data[i*k : (i+1)*k]
		for j, on := range row {
			for x := 0; on && x < k; x++ {
				out[x] += int64(v.Data()[j*k+x])
			}
		}
		clip(out, c)
	}
	return q, nil
}

// clip is sgn(x)·⌊√(x²c²/‖x‖²)⌋ where ‖x‖ > c > 0.
func clip(row []int64, c int64) {
	norm, c2 := new(big.Int), new(big.Int).Mul(big.NewInt(c), big.NewInt(c))
	for _, x := range row {
		norm.Add(norm, new(big.Int).Mul(big.NewInt(x), big.NewInt(x)))
	}
	if c == 0 || norm.Cmp(c2) <= 0 {
		return
	}
	for j, x := range row {
		y := new(big.Int).Mul(big.NewInt(x), big.NewInt(x))
		y.Mul(y, c2).Quo(y, norm).Sqrt(y)
		if row[j] = y.Int64(); x < 0 {
			row[j] = -row[j]
		}
	}
}

// graph is a made-up graph; the probability is a float because nothing in it is private.
func graph(rng *rand.Rand, n int, p float64) [][]bool {
	a := make([][]bool, n)
	for i := range a {
		a[i] = make([]bool, n)
	}
	for i := range n {
		for j := range i {
			// Vertex 0 is a hub, the last vertex has no edge (but in the smallest graph).
			on := rng.Float64() < p || j == 0
			if on && (n == 2 || i != n-1) {
				a[i][j], a[j][i] = true, true
			}
		}
	}
	return a
}

func cut(rng *rand.Rand, a [][]bool, blocks int) []*blockmatmul.CSR {
	borders := []int{0, len(a)}
	for range blocks - 1 {
		borders = append(borders, rng.IntN(len(a)+1))
	}
	slices.Sort(borders)
	var out []*blockmatmul.CSR
	for b := range blocks {
		c := &blockmatmul.CSR{First: borders[b], Ptr: []int64{0}}
		for _, row := range a[borders[b]:borders[b+1]] {
			for j, on := range row {
				if on {
					c.Col = append(c.Col, int32(j))
				}
			}
			c.Ptr = append(c.Ptr, int64(len(c.Col)))
		}
		out = append(out, c)
	}
	return out
}

// operand is a made-up public V: floats stop at Quantise, as in the pipeline.
func operand(t *testing.T, rng *rand.Rand, n, k int) *blockmatmul.Operand {
	t.Helper()
	v := make([]float64, n*k)
	for i := range v {
		v[i] = rng.NormFloat64() / math.Sqrt(float64(n))
	}
	op, err := blockmatmul.Quantise(v, n, k, 0.5*math.Sqrt(float64(k)/float64(n)), 16)
	if err != nil {
		t.Fatal(err)
	}
	return op
}
