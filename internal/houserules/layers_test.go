package houserules

import (
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// place is where a package stands. A package imports packages of lower levels
// only, and of those only the listed ones; within one top folder it may also
// import a listed neighbour of its own level.
type place struct {
	level   int
	imports []string // from the module's root; anyBelow for all lower levels
}

const anyBelow = "*"

// layers is the module's shape:
//
//	5  cmd/*
//	4  internal/cli
//	3  cluster, release, generate, export, baseline, bench
//	2  privoja, synthesis, partition, evaluate
//	1  privacy, cholesky, blockmatmul
//	0  storage, internal/ops, internal/parallel
//
// baseline is for comparisons only: see
// TestPipelineDoesNotImportBaseline. Imports of test files are free.
var layers = map[string]place{
	"cmd/privcom":     {5, []string{anyBelow}},
	"cmd/coordinator": {5, []string{anyBelow}},
	"cmd/shard":       {5, []string{anyBelow}},

	"e2e": {6, []string{anyBelow}}, // tests of the built commands

	"internal/cli": {4, []string{anyBelow}},

	"cluster": {3, []string{"blockmatmul", "storage", "partition", "synthesis", "internal/parallel"}},
	"release": {3, []string{"privoja", "privacy", "cholesky", "synthesis", "blockmatmul", "partition", "storage",
		"evaluate", "evaluate/report", "evaluate/community"}},
	"baseline":              {3, []string{"baseline/dk", "baseline/firstcut", "baseline/hrg", "baseline/privgraph", "baseline/tmf", "evaluate/community", "evaluate/method"}},
	"bench":                 {3, []string{"evaluate", "evaluate/community", "evaluate/metrics"}},
	"baseline/dk":           {3, []string{"baseline/draw", "evaluate/community"}},
	"baseline/draw":         {3, nil},
	"baseline/baselinetest": {3, []string{"baseline/draw", "evaluate", "evaluate/community"}},
	"baseline/firstcut":     {3, []string{"evaluate/community", "cholesky", "privacy"}},
	"baseline/hrg":          {3, []string{"baseline/draw", "evaluate/community"}},
	"baseline/privgraph":    {3, []string{"baseline/draw", "evaluate/community"}},
	"baseline/tmf":          {3, []string{"baseline/draw", "evaluate/community"}},
	"generate":              {3, nil},
	"export":                {3, nil},

	"privoja":             {2, []string{"privacy", "cholesky", "blockmatmul", "storage", "internal/parallel"}},
	"synthesis":           {2, []string{"privacy", "cholesky", "blockmatmul", "storage"}},
	"partition":           {2, []string{"partition/reader", "blockmatmul", "storage"}},
	"partition/reader":    {2, []string{"storage"}},
	"evaluate":            {2, []string{"evaluate/community", "evaluate/metrics", "evaluate/statistics", "evaluate/report", "blockmatmul", "storage"}},
	"evaluate/report":     {2, []string{"evaluate", "evaluate/community", "evaluate/metrics", "evaluate/statistics"}},
	"evaluate/statistics": {2, []string{"evaluate/community", "evaluate/metrics"}},
	"evaluate/method":     {2, []string{"evaluate/community"}},
	"evaluate/metrics":    {2, nil},
	"evaluate/community":  {2, nil},

	"privacy":     {1, []string{"storage"}},
	"cholesky":    {1, []string{"storage", "internal/parallel"}},
	"blockmatmul": {1, []string{"storage", "internal/parallel"}},

	"blockmatmul/multipliertest": {2, []string{"blockmatmul"}},

	"storage": {0, nil},

	"internal/ops":      {0, nil},
	"internal/parallel": {0, nil},

	"internal/houserules": {0, nil},
}

// checkImports lists what is wrong with the imports of one package.
func checkImports(table map[string]place, pkg string, imported []string) []string {
	here, known := table[pkg]
	if !known {
		return []string{fmt.Sprintf("package %s is not in the table of layers; add it to internal/houserules/layers_test.go with "+
			"its level and with what it may import", pkg)}
	}
	var wrong []string
	for _, to := range imported {
		there, known := table[to]
		sameFolder := strings.Split(pkg, "/")[0] == strings.Split(to, "/")[0]
		switch {
		case !known:
			wrong = append(wrong, fmt.Sprintf("package %s imports %s, which is not in the table of layers", pkg, to))
		case there.level > here.level || (there.level == here.level && !sameFolder):
			wrong = append(wrong, fmt.Sprintf("package %s (level %d) imports %s (level %d): imports point downwards only; "+
				"move what is shared below both, or pass it in as an interface", pkg, here.level, to, there.level))
		case !slices.Contains(here.imports, anyBelow) && !slices.Contains(here.imports, to):
			wrong = append(wrong, fmt.Sprintf("package %s imports %s, which its row does not list (it lists %s); "+
				"if it really needs to, add it to internal/houserules/layers_test.go", pkg, to, strings.Join(here.imports, ", ")))
		}
	}
	return wrong
}

// internalImports maps each package to the packages of this module that its
// non-test files import.
func internalImports(all []*source) map[string][]string {
	graph := map[string][]string{}
	for _, s := range all {
		if s.isTest() {
			if _, ok := graph[s.folder()]; !ok {
				graph[s.folder()] = nil
			}
			continue
		}
		list := graph[s.folder()]
		for p := range s.imports() {
			if p == module {
				list = append(list, ".")
			} else if rest, ok := strings.CutPrefix(p, module+"/"); ok {
				list = append(list, rest)
			}
		}
		graph[s.folder()] = list
	}
	for pkg, list := range graph {
		slices.Sort(list)
		graph[pkg] = slices.Compact(list)
	}
	return graph
}

// ownModule reports whether a folder belongs to a module below this one, whose
// go.mod keeps its dependencies apart. Such folders have no layer; every other
// rule holds for them.
func ownModule(top, folder string) bool {
	for ; folder != "."; folder = path.Dir(folder) {
		if _, err := os.Stat(filepath.Join(top, filepath.FromSlash(folder), "go.mod")); err == nil {
			return true
		}
	}
	return false
}

func TestImportsPointDownwards(t *testing.T) {
	graph := internalImports(sources(t))
	top := root(t)
	for _, pkg := range slices.Sorted(maps.Keys(graph)) {
		if ownModule(top, pkg) {
			continue // the compiler keeps the product from importing it
		}
		for _, wrong := range checkImports(layers, pkg, graph[pkg]) {
			t.Error(wrong)
		}
	}
}

// pathTo finds a chain of imports from one package to another, nil if there is
// none.
func pathTo(graph map[string][]string, from, to string) []string {
	seen := map[string]bool{}
	var visit func(pkg string) []string
	visit = func(pkg string) []string {
		if pkg == to {
			return []string{pkg}
		}
		if seen[pkg] {
			return nil
		}
		seen[pkg] = true
		for _, next := range graph[pkg] {
			if chain := visit(next); chain != nil {
				return append([]string{pkg}, chain...)
			}
		}
		return nil
	}
	return visit(from)
}

// pipeline are the packages that make a release.
var pipeline = []string{"cmd/coordinator", "cmd/shard", "release", "cluster", "privoja", "synthesis", "partition",
	"privacy", "cholesky", "blockmatmul", "storage"}

func TestPipelineDoesNotImportBaseline(t *testing.T) {
	graph := internalImports(sources(t))
	for _, pkg := range pipeline {
		for to := range graph {
			if to != "baseline" && !strings.HasPrefix(to, "baseline/") {
				continue
			}
			if chain := pathTo(graph, pkg, to); chain != nil {
				t.Errorf("the pipeline reaches baseline, which is for comparisons only: %s", strings.Join(chain, " imports "))
			}
		}
	}
}

// The table itself: rows list packages that it has, below them or beside.
func TestTableOfLayersIsConsistent(t *testing.T) {
	for pkg, p := range layers {
		for _, to := range p.imports {
			if to == anyBelow {
				continue
			}
			for _, wrong := range checkImports(layers, pkg, []string{to}) {
				t.Error("in the table: ", wrong)
			}
		}
	}
}

func TestEveryPackageHasADoc(t *testing.T) {
	documented := map[string]bool{}
	for _, s := range sources(t) {
		has := documented[s.folder()]
		documented[s.folder()] = has || (s.base() == "doc.go" && s.syntax.Doc != nil)
	}
	for _, folder := range slices.Sorted(maps.Keys(documented)) {
		if !documented[folder] {
			t.Errorf("package %s has no doc.go with a package comment; say what it promises, its units and what it refuses", folder)
		}
	}
}

func TestLayerRuleBites(t *testing.T) {
	table := map[string]place{
		"top": {2, []string{anyBelow}}, "mid": {1, []string{"low"}}, "mid/sub": {1, nil}, "mid2": {1, []string{"mid"}},
		"low": {0, nil}, "other": {0, nil},
	}
	for _, c := range []struct {
		pkg  string
		to   []string
		want string
	}{
		{"top", []string{"mid", "low"}, ""},
		{"mid", []string{"low"}, ""},
		{"mid", []string{"other"}, "does not list"},
		{"low", []string{"mid"}, "downwards only"},
		{"mid2", []string{"mid"}, "downwards only"},
		{"mid", []string{"mid/sub"}, "does not list"},
		{"new", nil, "is not in the table"},
		{"top", []string{"new"}, "not in the table"},
	} {
		got := strings.Join(checkImports(table, c.pkg, c.to), "\n")
		if (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s → %v: %q, want %q", c.pkg, c.to, got, c.want)
		}
	}
	graph := internalImports([]*source{
		snippet(t, "a/a.go", "package a\nimport \""+module+"/b\""),
		snippet(t, "b/b.go", "package b\nimport \""+module+"/baseline\""),
		snippet(t, "c/c_test.go", "package c\nimport \""+module+"/baseline\""),
	})
	if chain := path.Join(pathTo(graph, "a", "baseline")...); chain != "a/b/baseline" {
		t.Errorf("chain %q", chain)
	}
	if pathTo(graph, "c", "baseline") != nil {
		t.Error("an import of a test file counts")
	}
}
