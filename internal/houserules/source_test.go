package houserules

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/privcom/privcom"

// source is one parsed Go file of the module.
type source struct {
	path   string // from the module's root, with slashes
	text   []byte
	syntax *ast.File
	fset   *token.FileSet
}

func (s *source) folder() string { return path.Dir(s.path) }
func (s *source) isTest() bool   { return strings.HasSuffix(s.path, "_test.go") }
func (s *source) base() string   { return path.Base(s.path) }

func (s *source) line(p token.Pos) int { return s.fset.Position(p).Line }

// imports are the import paths with their lines.
func (s *source) imports() map[string]int {
	found := map[string]int{}
	for _, spec := range s.syntax.Imports {
		if p, err := strconv.Unquote(spec.Path.Value); err == nil {
			found[p] = s.line(spec.Pos())
		}
	}
	return found
}

func parse(name string, text []byte) (*source, error) {
	s := &source{path: name, text: text, fset: token.NewFileSet()}
	var err error
	s.syntax, err = parser.ParseFile(s.fset, name, text, parser.ParseComments)
	return s, err
}

// root is the folder of go.mod.
func root(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("go", "env", "GOMOD").Output()
	if err != nil {
		t.Fatalf("go env GOMOD: %v", err)
	}
	return filepath.Dir(strings.TrimSpace(string(out)))
}

// sources parses every Go file of the module.
func sources(t *testing.T) []*source {
	t.Helper()
	top := root(t)
	var all []*source
	err := filepath.WalkDir(top, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		base := d.Name()
		if d.IsDir() {
			if name != top && (base[0] == '.' || base[0] == '_' || base == "testdata") {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(base, ".go") || base[0] == '.' || base[0] == '_' {
			return nil
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(top, name)
		if err != nil {
			return err
		}
		s, err := parse(filepath.ToSlash(rel), text)
		if err != nil {
			t.Errorf("%v", err)
			return nil
		}
		all = append(all, s)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(all) == 0 {
		t.Fatal("no Go files found")
	}
	return all
}

// snippet parses the text of a file in a rule's own test.
func snippet(t *testing.T, name, text string) *source {
	t.Helper()
	s, err := parse(name, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}
