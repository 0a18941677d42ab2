package release

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/privcom/privcom/privacy"
)

// complete lists the edges of a complete graph on vertices from..to-1.
func complete(from, to int) string {
	var b strings.Builder
	for i := from; i < to; i++ {
		for j := from; j < i; j++ {
			fmt.Fprintln(&b, i, j)
		}
	}
	return b.String()
}

// A budget that is spent must buy a release, whatever the graph: noise moves counts past
// what a dense, tiny or lopsided graph can have, and that must not end a run.
func TestEveryGraphGivesARelease(t *testing.T) {
	star := ""
	for i := 1; i < 40; i++ {
		star += fmt.Sprintln("hub", "n", i)
	}
	star = strings.ReplaceAll(star, "n ", "n")
	graphs := map[string]string{
		"one edge": "1 2\n", "a path of three": "1 2\n2 3\n", "a triangle": complete(0, 3), "complete": complete(0, 24),
		"two cliques": complete(0, 12) + complete(12, 24), "a star": star,
		"a matching": "1 2\n3 4\n5 6\n7 8\n",
	}
	for name, edges := range graphs {
		g := ingest(t, edges, 1)
		for _, unit := range privacy.Units() {
			for _, eps := range []string{"0.1", "30"} {
				t.Run(fmt.Sprint(name, "/", unit, "/", eps), func(t *testing.T) {
					for range 2 {
						r := newRig(t, g)
						r.Params.Unit, r.Params.Epsilon, r.Params.Rank, r.Params.Steps = unit, eps, 1, 3
						d := mustRun(t, r)
						if _, checks, err := Verify(context.Background(), r.Out); err != nil {
							t.Fatal(err)
						} else {
							for _, c := range checks {
								if !c.OK {
									t.Errorf("%s: %s", c.Name, c.Note)
								}
							}
						}
						n := int64(d.Graph.Vertices)
						if d.Graph.Edges > n*(n-1)/2 {
							t.Errorf("%d edges on %d vertices", d.Graph.Edges, n)
						}
					}
				})
			}
		}
	}
}
