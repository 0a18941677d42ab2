package community

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
)

// readPairs reads "u v" lines of 0-based vertex numbers.
func readPairs(t testing.TB, path string, n int) *Graph {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var source, target []int32
	for lines := bufio.NewScanner(bytes.NewReader(raw)); lines.Scan(); {
		if b := lines.Bytes(); len(b) == 0 || b[0] == '#' {
			continue
		}
		var u, v int32
		if _, err := fmt.Sscan(lines.Text(), &u, &v); err != nil {
			t.Fatalf("%s: %q: %v", path, lines.Text(), err)
		}
		source, target = append(source, u), append(target, v)
	}
	return build(t, n, source, target)
}

func build(t testing.TB, n int, source, target []int32) *Graph {
	t.Helper()
	g, err := FromEdges(n, source, target)
	if err != nil {
		t.Fatal(err)
	}
	if err := g.Check(); err != nil {
		t.Fatal(err)
	}
	return g
}

type golden struct {
	Graph      string  `json:"graph"`
	Nodes      int     `json:"nodes"`
	Edges      int64   `json:"edges"`
	Case       string  `json:"case"`
	Detected   []int32 `json:"detected"`
	Truth      []int32 `json:"truth"`
	Modularity float64 `json:"modularity_detected"`
}

func readGolden(t testing.TB) []golden {
	t.Helper()
	raw, err := os.ReadFile("../metrics/testdata/partition_metrics.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []golden
	if err := json.Unmarshal(raw, &cases); err != nil {
		t.Fatal(err)
	}
	return cases
}

// planted draws a graph of n vertices in blocks of equal size, vertex v in block
// v·blocks/n, with n·inside/2 edges inside blocks and n·across/2 anywhere.
func planted(t testing.TB, n, blocks int, inside, across float64, seed uint64) (*Graph, []int32) {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 0))
	block := make([]int32, n)
	for v := range block {
		block[v] = int32(int64(v) * int64(blocks) / int64(n))
	}
	size := n / blocks
	var source, target []int32
	for range int(float64(n) * inside / 2) {
		b := rng.IntN(blocks) * size
		source, target = append(source, int32(b+rng.IntN(size))), append(target, int32(b+rng.IntN(size)))
	}
	for range int(float64(n) * across / 2) {
		source, target = append(source, int32(rng.IntN(n))), append(target, int32(rng.IntN(n)))
	}
	return build(t, n, source, target), block
}
