package reader

import (
	"fmt"
	"strings"
	"testing"
)

// TestDeclaredWithFullPending: with more ids in use before their nodes than
// are kept with lines, a missing node is still an error.
func TestDeclaredWithFullPending(t *testing.T) {
	defer func(n int) { maxPending = n }(maxPending)
	maxPending = 3
	for missing := -1; missing < 10; missing++ {
		var b strings.Builder
		b.WriteString("graph [\n")
		for i := range 10 {
			fmt.Fprintf(&b, "edge [ source %d target %d ]\n", i, (i+1)%10)
		}
		for i := range 10 {
			if i != missing {
				fmt.Fprintf(&b, "node [ id %d ]\n", i)
			}
		}
		b.WriteString("]\n")
		_, err := readText(b.String(), Options{})
		switch {
		case missing < 0 && err != nil:
			t.Errorf("all declared: %v", err)
		case missing >= 0 && missing < 3 && (err == nil || !strings.Contains(err.Error(), fmt.Sprintf("an edge to \"%d\", which no node declares", missing))):
			t.Errorf("without %d: %v", missing, err)
		case missing >= 3 && (err == nil || !strings.Contains(err.Error(), "edges use 1 ids that no node declares")):
			t.Errorf("without %d: %v", missing, err)
		}
	}
}
