package houserules

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"testing"
)

// checkParquet lists imports of another Parquet library than the one the module
// uses: two would mean two sets of types, defaults and faults.
func checkParquet(s *source) []string {
	var wrong []string
	for p, line := range s.imports() {
		if strings.HasPrefix(p, "github.com/parquet-go/") || p == module || strings.HasPrefix(p, module+"/") {
			continue
		}
		for _, part := range strings.Split(p, "/") {
			if part == "pqarrow" || strings.Contains(part, "parquet") {
				wrong = append(wrong, fmt.Sprintf("%s:%d imports %s: Parquet is read and written by github.com/parquet-go/parquet-go only", s.path, line, p))
				break
			}
		}
	}
	return wrong
}

func TestOneParquetLibrary(t *testing.T) {
	for _, s := range sources(t) {
		for _, wrong := range checkParquet(s) {
			t.Error(wrong)
		}
	}
}

// maxLines is about what a reader keeps in mind. A file that is better whole
// says why in a comment.
const maxLines = 450

var longReason = regexp.MustCompile(`(?m)^//lint:long +\S.*$`)

func checkLength(s *source) []string {
	lines := bytes.Count(s.text, []byte{'\n'})
	if lines <= maxLines || longReason.Match(s.text) {
		return nil
	}
	return []string{fmt.Sprintf("%s has %d lines, more than %d: split it by subject, or say why not in a comment line //lint:long reason", s.path, lines, maxLines)}
}

func TestFilesAreShort(t *testing.T) {
	for _, s := range sources(t) {
		for _, wrong := range checkLength(s) {
			t.Error(wrong)
		}
	}
}

// The words are put together here so that this file does not contain them.
var unfinished = regexp.MustCompile(`\b(` + strings.Join([]string{"TO" + "DO", "FIX" + "ME", "X" + "XX"}, "|") + `)\b`)

func checkUnfinished(s *source) []string {
	var wrong []string
	for i, line := range bytes.Split(s.text, []byte{'\n'}) {
		if word := unfinished.Find(line); word != nil {
			wrong = append(wrong, fmt.Sprintf("%s:%d says %s: finish it or leave it out", s.path, i+1, word))
		}
	}
	return wrong
}

func TestNothingIsUnfinished(t *testing.T) {
	for _, s := range sources(t) {
		for _, wrong := range checkUnfinished(s) {
			t.Error(wrong)
		}
	}
}

func TestTidyRulesBite(t *testing.T) {
	for _, p := range []string{"github.com/apache/arrow/go/v17/parquet", "github.com/apache/arrow/go/v17/parquet/pqarrow", "github.com/segmentio/parquet-go"} {
		if len(checkParquet(snippet(t, "a.go", "package a\nimport _ \""+p+"\"\n"))) != 1 {
			t.Errorf("%s is let through", p)
		}
	}
	for _, p := range []string{"github.com/parquet-go/parquet-go/compress/zstd", "github.com/apache/arrow/go/v17/arrow"} {
		if len(checkParquet(snippet(t, "a.go", "package a\nimport _ \""+p+"\"\n"))) != 0 {
			t.Errorf("%s is refused", p)
		}
	}
	long := "package a\n" + strings.Repeat("\n", maxLines)
	if len(checkLength(snippet(t, "a.go", long))) != 1 {
		t.Error("a long file is let through")
	}
	if len(checkLength(snippet(t, "a.go", "//lint:long one table\n\n"+long))) != 0 {
		t.Error("a long file with a reason is refused")
	}
	if len(checkLength(snippet(t, "a.go", "//lint:long \n\n"+long))) != 1 {
		t.Error("a reason can be empty")
	}
	if len(checkUnfinished(snippet(t, "a.go", "package a // "+"TO"+"DO: later\n"))) != 1 {
		t.Error("an unfinished file is let through")
	}
	if len(checkUnfinished(snippet(t, "a.go", "package a // mastodons, "+"TO"+"DOS\n"))) != 0 {
		t.Error("part of a word is refused")
	}
}
