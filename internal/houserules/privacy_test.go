package houserules

import (
	"fmt"
	"go/ast"
	"go/token"
	"path"
	"slices"
	"strings"
	"testing"
)

// under reports whether folder is top or inside of it.
func under(folder, top string) bool { return folder == top || strings.HasPrefix(folder, top+"/") }

// generators are sources of random numbers that no guarantee can stand on.
var generators = []string{"math/rand", "math/rand/v2", "gonum.org/v1/gonum/stat"}

// checkGenerators lists imports of generators.
func checkGenerators(s *source) []string {
	var wrong []string
	for p, line := range s.imports() {
		for _, g := range generators {
			if p == g || strings.HasPrefix(p, g+"/") && g != "math/rand" {
				wrong = append(wrong, fmt.Sprintf("%s:%d imports %s: noise comes from privacy's own exact sampler over a keyed stream, nothing else", s.path, line, p))
			}
		}
	}
	return wrong
}

func TestNoStatisticalGeneratorsBesideNoise(t *testing.T) {
	for _, s := range sources(t) {
		if !s.isTest() && (under(s.folder(), "privacy") || under(s.folder(), "blockmatmul")) && s.folder() != testSupport {
			for _, wrong := range checkGenerators(s) {
				t.Error(wrong)
			}
		}
	}
}

// use is one place where a file touches floating point.
type use struct {
	line     int
	function string // "" outside of functions; methods as Type.Name
	what     string
}

// floatUses finds the types float32, float64 and complex, literals with a
// point or exponent, and functions of package math other than integer limits.
func floatUses(s *source) []use {
	var uses []use
	for _, d := range s.syntax.Decls {
		name := ""
		if f, ok := d.(*ast.FuncDecl); ok {
			name = functionName(f)
		}
		ast.Inspect(d, func(n ast.Node) bool {
			what := ""
			switch n := n.(type) {
			case *ast.Ident:
				if slices.Contains([]string{"float32", "float64", "complex64", "complex128"}, n.Name) {
					what = n.Name
				}
			case *ast.BasicLit:
				if n.Kind == token.FLOAT || n.Kind == token.IMAG {
					what = n.Value
				}
			case *ast.SelectorExpr:
				if x, ok := n.X.(*ast.Ident); ok && x.Name == "math" && !integerLimit(n.Sel.Name) {
					what = "math." + n.Sel.Name
				}
			}
			if what != "" {
				uses = append(uses, use{s.line(n.Pos()), name, what})
			}
			return true
		})
	}
	return uses
}

// integerLimit reports constants like MaxInt64, but not MaxFloat64.
func integerLimit(name string) bool {
	return strings.HasPrefix(name, "MaxInt") || strings.HasPrefix(name, "MinInt") || strings.HasPrefix(name, "MaxUint")
}

func functionName(f *ast.FuncDecl) string {
	if f.Recv == nil || len(f.Recv.List) == 0 {
		return f.Name.Name
	}
	t := f.Recv.List[0].Type
	if p, ok := t.(*ast.StarExpr); ok {
		t = p.X
	}
	if id, ok := t.(*ast.Ident); ok {
		return id.Name + "." + f.Name.Name
	}
	return f.Name.Name
}

// noiseFiles are the files under privacy in which a noise sample comes into
// being: draws, random stream, acceptance probabilities.
var noiseFiles = []string{"gauss*.go", "noise*.go", "stream*.go", "expbounds*.go"}

func isNoiseFile(s *source) bool {
	return slices.ContainsFunc(noiseFiles, func(pattern string) bool {
		ok, _ := path.Match(pattern, s.base())
		return ok
	})
}

func TestNoiseIsMadeWithoutFloats(t *testing.T) {
	files := 0
	for _, s := range sources(t) {
		if s.isTest() || !under(s.folder(), "privacy") || !isNoiseFile(s) {
			continue
		}
		files++
		for _, u := range floatUses(s) {
			t.Errorf("%s:%d uses %s: a noise sample is exact (integers and rationals); floats leak low bits of what they are added to", s.path, u.line, u.what)
		}
	}
	if files == 0 {
		t.Errorf("no file under privacy/ matches %v: the rule has lost its subject", noiseFiles)
	}
}

// floatsAllowed are the functions of blockmatmul that may use floats, with the
// reason: what they touch is public.
var floatsAllowed = map[string]string{
	"Quantise":      "turns the public matrix V into integers: the last place before the graph where floats are allowed",
	"quantiseRow":   "does it for one row",
	"Operand.Float": "gives the integers of the public V back in real units",
}

// testSupport is linked into tests only: it makes random graphs and matrices for them.
const testSupport = "blockmatmul/multipliertest"

func checkProductFloats(s *source) []string {
	var wrong []string
	for _, u := range floatUses(s) {
		if floatsAllowed[u.function] == "" {
			where := u.function
			if where == "" {
				where = "a declaration"
			}
			wrong = append(wrong, fmt.Sprintf("%s:%d: %s uses %s: between the graph and the noise there are only integers; "+
				"if it never touches graph data, add it with its reason to floatsAllowed in internal/houserules/privacy_test.go", s.path, u.line, where, u.what))
		}
	}
	return wrong
}

func TestProductIsExact(t *testing.T) {
	for _, s := range sources(t) {
		if !s.isTest() && under(s.folder(), "blockmatmul") && s.folder() != testSupport {
			for _, wrong := range checkProductFloats(s) {
				t.Error(wrong)
			}
		}
	}
}

// silent are the packages that see the graph or its products and return errors
// and reports instead of logging: a count in a log line is a release.
var silent = []string{"privacy", "blockmatmul", "partition", "privoja", "cholesky", "synthesis"}

func checkLogging(s *source) []string {
	var wrong []string
	for _, p := range []string{"log", "log/slog"} {
		if line, ok := s.imports()[p]; ok {
			wrong = append(wrong, fmt.Sprintf("%s:%d imports %s: this package does not log, since a logged count of the graph is a release; "+
				"return an error or a report and let the command decide", s.path, line, p))
		}
	}
	return wrong
}

func TestPackagesBesideTheGraphDoNotLog(t *testing.T) {
	for _, s := range sources(t) {
		if s.isTest() || !slices.ContainsFunc(silent, func(top string) bool { return under(s.folder(), top) }) {
			continue
		}
		for _, wrong := range checkLogging(s) {
			t.Error(wrong)
		}
	}
}

func TestPrivacyRulesBite(t *testing.T) {
	bad := snippet(t, "privacy/gauss_bad.go", `package privacy
import (
	"log/slog"
	"math"
	"math/rand/v2"
	"gonum.org/v1/gonum/stat/distuv"
)
const half = 0.5
type T[E any] struct{}
func (t *T[E]) Draw() float64 { return math.Sqrt(2) }
func limit() int64 { return math.MaxInt64 } // float64 in a comment is fine
var _, _, _ = slog.Info, rand.Int, distuv.Normal{}
`)
	if got := len(checkGenerators(bad)); got != 2 {
		t.Errorf("%d generators found, want 2", got)
	}
	if got := len(checkLogging(bad)); got != 1 {
		t.Errorf("%d log imports found, want 1", got)
	}
	var found []string
	for _, u := range floatUses(bad) {
		found = append(found, u.what)
	}
	if want := []string{"0.5", "float64", "math.Sqrt"}; !slices.Equal(found, want) {
		t.Errorf("floats %v, want %v", found, want)
	}
	if !isNoiseFile(bad) {
		t.Error("gauss_bad.go is not taken for a noise file")
	}
	product := snippet(t, "blockmatmul/x.go", `package blockmatmul
func Quantise(x float64) int64 { return int64(x) }
func (o *Operand) Float() float64 { return 0 }
func (o *Operand) Scale() int64 { return int64(float64(3)) }
`)
	if wrong := checkProductFloats(product); len(wrong) != 1 || !strings.Contains(wrong[0], "Operand.Scale uses float64") {
		t.Errorf("found %v, want Operand.Scale only", wrong)
	}
	good := snippet(t, "privacy/gauss.go", "package privacy\nimport \"crypto/rand\"\nvar _ = rand.Reader\n")
	if wrong := append(checkGenerators(good), checkLogging(good)...); len(wrong) > 0 || len(floatUses(good)) > 0 {
		t.Errorf("crypto/rand is refused: %v", wrong)
	}
}
