package release

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/privcom/privcom/partition"
)

// Nothing of the input may be in a public file but the vertex list: not a weight, not a
// file's name, not the number of edges, not a hash that a guess of the graph could be
// compared with.
func TestPublicFilesHoldNothingOfTheInput(t *testing.T) {
	ctx := context.Background()
	const marker = "zqxplantedmarkerqz"
	var rows strings.Builder
	fmt.Fprintln(&rows, "source,target,note")
	for _, line := range strings.Fields(strings.ReplaceAll(strings.TrimSpace(planted(t, 90, 18, 4)), " ", ",")) {
		fmt.Fprintf(&rows, "%s,%s\n", line, marker)
	}
	dir := t.TempDir()
	file := filepath.Join(dir, marker+".csv")
	if err := os.WriteFile(file, []byte(rows.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	folder := openBucket(t, filepath.Join(dir, marker+"-graph"))
	if _, _, err := partition.Ingest(ctx, partition.Options{Inputs: []string{file}, Shards: 2, Memory: 1 << 26, TempDir: dir}, folder); err != nil {
		t.Fatal(err)
	}
	g, err := partition.OpenGraph(ctx, folder)
	if err != nil {
		t.Fatal(err)
	}
	m := g.Manifest()
	secrets := []string{marker, dir, m.Hash, m.Content}
	for _, s := range m.Shards {
		secrets = append(secrets, s.SHA256, s.Key)
	}
	// A number of edges given in public: the true one is then nowhere to be found.
	for _, blocks := range []string{InverseKatz, Blocks} {
		r := newRig(t, g)
		r.Params.Reconstruct, r.Params.Initial = blocks, filepath.Join(dir, marker, "v0.txt")
		r.Params.Edges = strconv.FormatInt(m.Arcs/2+137, 10)
		mustRun(t, r)
		number := regexp.MustCompile(fmt.Sprintf(`\b(%d|%d)\b`, m.Arcs, m.Arcs/2))
		for _, key := range r.keys(t) {
			data, err := r.Out.ReadAll(ctx, key)
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range secrets {
				if s == "" {
					t.Fatal("an empty secret")
				}
				// A hash may also stand shortened.
				for _, form := range []string{s, s[:min(len(s), 12)]} {
					if form != dir[:min(len(dir), 12)] && strings.Contains(string(data), form) {
						t.Errorf("%s holds %q", key, form)
					}
				}
			}
			if key == DocumentKey || key == ReportKey {
				if at := number.FindIndex(data); at != nil {
					t.Errorf("%s holds the number of edges or arcs: …%s…", key, data[max(0, at[0]-60):min(len(data), at[1]+60)])
				}
			}
		}
	}
}
