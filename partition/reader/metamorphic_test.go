package reader

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// graphRows draws rows of an edge list with ids that need care.
func graphRows(t *rapid.T) [][2]string {
	id := rapid.OneOf(
		rapid.Map(rapid.Uint64(), func(n uint64) string { return fmt.Sprint(n) }),
		rapid.SampledFrom([]string{"0", "1", "4294967296", "9007199254740993", "9223372036854775808", "18446744073709551615", "a#b", "x%y", "é", "1e", "-a", "007"}),
	)
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) [2]string { return [2]string{id.Draw(t, "source"), id.Draw(t, "target")} }), 2, 40).Draw(t, "rows")
}

func arrows(rows [][2]string) string {
	var all []string
	for _, r := range rows {
		all = append(all, r[0]+">"+r[1])
	}
	return strings.Join(all, " ")
}

// TestNoiseLinesChangeNothing: blank lines, comments, line ends, white space,
// a byte order mark and packing change no edge.
func TestNoiseLinesChangeNothing(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		rows := graphRows(rt)
		var b strings.Builder
		for _, r := range rows {
			b.WriteString(rapid.SampledFrom([]string{"", "", "\n", "# a b\n", "%c d\r\n", "  \t\n", "\r"}).Draw(rt, "noise"))
			b.WriteString(rapid.SampledFrom([]string{"", " ", "\t"}).Draw(rt, "indent"))
			b.WriteString(r[0] + rapid.SampledFrom([]string{" ", "\t", "   "}).Draw(rt, "gap") + r[1])
			b.WriteString(rapid.SampledFrom([]string{"", " ", "\t "}).Draw(rt, "trail"))
			b.WriteString(rapid.SampledFrom([]string{"\n", "\r\n", "\r"}).Draw(rt, "end"))
		}
		text := b.String()
		switch rapid.IntRange(0, 3).Draw(rt, "packing") {
		case 1:
			text = "\ufeff" + text
		case 2:
			text = string(gzipped(t, text))
		case 3:
			text = string(zstandard(t, text))
		}
		g, err := readText(text, Options{Format: "edgelist"})
		if err != nil || g.edges != arrows(rows) {
			rt.Fatalf("%q: %q, want %q: %v", text, g.edges, arrows(rows), err)
		}
	})
}

// TestPartsChangeNothing: rows split over files are the same rows.
func TestPartsChangeNothing(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		rows := graphRows(rt)
		var paths []string
		for rest := rows; len(rest) > 0; {
			n := rapid.IntRange(0, len(rest)).Draw(rt, "part")
			var b strings.Builder
			for _, r := range rest[:n] {
				b.WriteString(r[0] + "\t" + r[1] + "\n")
			}
			rest = rest[n:]
			sub := writeFiles(t, "p", b.String())
			paths = append(paths, filepath.Join(sub, "p"))
		}
		g, err := readInputs(paths, Options{Format: "edgelist"})
		if err != nil || g.edges != arrows(rows) {
			rt.Fatalf("%q, want %q: %v", g.edges, arrows(rows), err)
		}
	})
}

// TestFormatsAgree: the same integer graph reads the same from every format
// that names its ids.
func TestFormatsAgree(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(2, 12).Draw(rt, "n")
		vertex := rapid.IntRange(1, n)
		rows := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) [2]int { return [2]int{vertex.Draw(t, "source"), vertex.Draw(t, "target")} }), 1, 30).Draw(rt, "rows")
		var want []string
		texts := map[string]string{"csv": "source,target\n", "gml": "graph [\n", "graphml": "<graphml><graph>\n", "gexf": "<gexf><graph>\n",
			"mtx": fmt.Sprintf("%%%%MatrixMarket matrix coordinate pattern general\n%d %d %d\n", n, n, len(rows)), "pajek": fmt.Sprintf("*Vertices %d\n*Arcs\n", n)}
		for v := 1; v <= n; v++ {
			texts["gml"] += fmt.Sprintf("node [ id %d ]\n", v)
			texts["graphml"] += fmt.Sprintf("<node id='%d'/>\n", v)
			texts["gexf"] += fmt.Sprintf("<node id='%d'/>\n", v)
		}
		for _, r := range rows {
			want = append(want, fmt.Sprintf("%d>%d", r[0], r[1]))
			texts["csv"] += fmt.Sprintf("%d,%d\n", r[0], r[1])
			texts["gml"] += fmt.Sprintf("edge [ source %d target %d ]\n", r[0], r[1])
			texts["graphml"] += fmt.Sprintf("<edge source='%d' target='%d'/>\n", r[0], r[1])
			texts["gexf"] += fmt.Sprintf("<edge source='%d' target='%d'/>\n", r[0], r[1])
			texts["mtx"] += fmt.Sprintf("%d %d\n", r[0], r[1])
			texts["pajek"] += fmt.Sprintf("%d %d\n", r[0], r[1])
		}
		texts["gml"] += "]\n"
		texts["graphml"] += "</graph></graphml>"
		texts["gexf"] += "</graph></gexf>"
		var listed []string
		for v := 1; v <= n; v++ {
			listed = append(listed, fmt.Sprint(v))
		}
		for format, text := range texts {
			g, err := readText(text, Options{})
			if err != nil || g.stats.Format != format || g.edges != strings.Join(want, " ") {
				rt.Fatalf("%s: %q as %s: %v", format, g.edges, g.stats.Format, err)
			}
			if format != "csv" && g.vertices != strings.Join(listed, " ") {
				rt.Fatalf("%s: vertices %q", format, g.vertices)
			}
		}
	})
}

// TestIDSetIsASet compares with a map over ids of every kind.
func TestIDSetIsASet(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		id := rapid.OneOf(rapid.StringMatching(`n?[0-9]{1,4}`), rapid.StringMatching(`[a-l]?[0-9]{18,21}`), rapid.String(), rapid.SampledFrom([]string{"", "0", "00", "n0", "n00"}))
		var s idSet
		want := map[string]bool{}
		for _, x := range rapid.SliceOfN(id, 0, 300).Draw(rt, "ids") {
			if s.has([]byte(x)) != want[x] {
				rt.Fatalf("has(%q) is %v", x, !want[x])
			}
			if s.add([]byte(x)) == want[x] {
				rt.Fatalf("add(%q) said %v", x, want[x])
			}
			want[x] = true
		}
		if int(s.len) != len(want) {
			rt.Fatalf("%d ids, want %d", s.len, len(want))
		}
	})
}

// TestIDSetLarge goes through bitmaps, growth and sparse pages.
func TestIDSetLarge(t *testing.T) {
	var s idSet
	var ids []string
	for i := range 30_000 {
		ids = append(ids, fmt.Sprint(i), fmt.Sprintf("n%d", 2*i), fmt.Sprintf("name %d x", i), fmt.Sprint(uint64(i)*2_862_933_555_777_941_757))
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	for _, x := range ids {
		if !s.add([]byte(x)) {
			t.Fatalf("%q is new", x)
		}
	}
	for _, x := range ids {
		if s.add([]byte(x)) || !s.has([]byte(x)) {
			t.Fatalf("%q is there", x)
		}
	}
	if s.has([]byte("n1")) || s.has([]byte("30000")) || len(s.pages) > sparsePages+sparsePages/8 {
		t.Errorf("%d pages", len(s.pages))
	}
}
