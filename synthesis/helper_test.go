package synthesis

import (
	"math"
	"math/rand/v2"
)

// shape is the kind of rows of a test model.
type shape string

const (
	plain  shape = "gaussian" // independent normal coordinates: no structure at all
	groups shape = "groups"   // eight directions with noise
	heavy  shape = "heavy"    // the same with row lengths of a power law (exponent 2.5)
)

// testModel is a model with eigenvalues 1 … 1/k, the last one negative.
func testModel(n, k int, seed uint64, s shape) *Model {
	random := rand.New(rand.NewPCG(seed, 2))
	m := &Model{N: n, K: k, X: make([]float64, n*k), M: make([]float64, k*k)}
	for a := range k {
		m.M[a*k+a] = float64(k-a) / float64(k)
	}
	if k > 1 {
		m.M[k*k-1] *= -1
	}
	for i := range n {
		length, noise := 1.0, 1.0
		if s == heavy {
			length = min(1000, math.Pow(1-random.Float64(), -1/2.5))
		}
		if s != plain {
			noise = 0.4
		}
		direction := random.IntN(8)
		for a := range k {
			x := noise * random.NormFloat64()
			if s != plain && a == 0 {
				x++
			}
			if s != plain && a == 1+direction%7 {
				x += 1.5
			}
			m.X[i*k+a] = length * x
		}
	}
	return m
}

func testTree(m *Model) *tree {
	y, sign, k, err := coordinates(m)
	if err != nil {
		panic(err)
	}
	return buildTree(y, sign, m.N, k)
}

// chiSquareZ turns a chi-square statistic into a standard normal deviate
// (Wilson and Hilferty 1931).
func chiSquareZ(statistic float64, freedom int) float64 {
	f := float64(freedom)
	return (math.Cbrt(statistic/f) - (1 - 2/(9*f))) / math.Sqrt(2/(9*f))
}
