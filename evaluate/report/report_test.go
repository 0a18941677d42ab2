package report

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/privcom/privcom/evaluate"
)

var rendered map[string]string // by the first test that asks

func pages(t *testing.T) map[string]string {
	t.Helper()
	if rendered != nil {
		return rendered
	}
	all := map[string]string{}
	render := func(name string, f func(b *bytes.Buffer) error) {
		var b bytes.Buffer
		if err := f(&b); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		all[name] = b.String()
	}
	render("release", func(b *bytes.Buffer) error { return WriteRelease(b, sampleRelease()) })
	render("evaluation", func(b *bytes.Buffer) error { return WriteEvaluation(b, sampleEvaluation(t, 7, 3)) })
	render("many communities", func(b *bytes.Buffer) error { return WriteEvaluation(b, sampleEvaluation(t, 40, 1)) })
	rendered = all
	return all
}

var (
	tag       = regexp.MustCompile(`<([a-z0-9]+)([^>]*)>`)
	heading   = regexp.MustCompile(`<h([1-6])`)
	id        = regexp.MustCompile(` id="([^"]*)"`)
	reference = regexp.MustCompile(` aria-labelledby="([^"]*)"`)
)

func TestPagesStandAlone(t *testing.T) {
	for name, page := range pages(t) {
		for _, outside := range []string{"http:", "https:", "//", "<script", `rel="stylesheet`, "<img", "<iframe", "@import", "url(", "src=", "onload="} {
			if strings.Contains(page, outside) {
				t.Errorf("%s: the page holds %q", name, outside)
			}
		}
		if !strings.Contains(page, `content="default-src 'none'; style-src 'unsafe-inline'; img-src data:"`) {
			t.Errorf("%s: no policy against loading", name)
		}
		if strings.Contains(page, "NaN") || strings.Contains(page, "Inf") || strings.Contains(page, "ZgotmplZ") || strings.Contains(page, "%!") {
			t.Errorf("%s: a figure or an escape went wrong", name)
		}
		if !strings.Contains(page, "prefers-color-scheme: dark") || !strings.Contains(page, "@media print") {
			t.Errorf("%s: no dark mode or no print style", name)
		}
	}
}

func TestPagesCanBeReadByKeyboardAndScreenReader(t *testing.T) {
	for name, page := range pages(t) {
		if !strings.Contains(page, `<html lang="en">`) || strings.Count(page, "<h1") != 1 || strings.Count(page, "<main") != 1 {
			t.Errorf("%s: language, one first heading or main part missing", name)
		}
		last := "0"
		for _, h := range heading.FindAllStringSubmatch(page, -1) {
			if h[1] > last && h[1][0]-last[0] > 1 {
				t.Errorf("%s: a heading of level %s follows level %s", name, h[1], last)
			}
			last = h[1]
		}
		seen := map[string]bool{}
		for _, m := range id.FindAllStringSubmatch(page, -1) {
			if seen[m[1]] {
				t.Errorf("%s: the id %q stands twice", name, m[1])
			}
			seen[m[1]] = true
		}
		for _, m := range reference.FindAllStringSubmatch(page, -1) {
			for _, to := range strings.Fields(m[1]) {
				if !seen[to] {
					t.Errorf("%s: a label refers to %q, which is not there", name, to)
				}
			}
		}
		drawings, tables := strings.Count(page, "<svg"), strings.Count(page, "<table")
		if drawings == 0 || strings.Count(page, "<desc ") != drawings || strings.Count(page, `role="img"`) != drawings {
			t.Errorf("%s: %d drawings, not all with title, description and role", name, drawings)
		}
		if tables == 0 || strings.Count(page, "<caption>") != tables || strings.Count(page, `class="scroll"`) != tables {
			t.Errorf("%s: %d tables, not all with a caption and a scroll region", name, tables)
		}
		for _, m := range tag.FindAllStringSubmatch(page, -1) {
			if m[1] == "th" && !strings.Contains(m[2], "scope=") {
				t.Errorf("%s: a table heading without scope: %s", name, m[0])
			}
			if strings.Contains(m[2], `class="scroll"`) && !strings.Contains(m[2], `tabindex="0"`) {
				t.Errorf("%s: a scroll region that the keyboard does not reach", name)
			}
		}
	}
}

func TestOpenedTagsAreClosed(t *testing.T) {
	element := regexp.MustCompile(`<(/?)([a-z0-9]+)([^>]*?)(/?)>`)
	empty := map[string]bool{"meta": true, "link": true, "br": true}
	for name, page := range pages(t) {
		var open []string
		for _, m := range element.FindAllStringSubmatch(page, -1) {
			switch {
			case m[4] == "/" || empty[m[2]]:
			case m[1] == "":
				open = append(open, m[2])
			case len(open) == 0 || open[len(open)-1] != m[2]:
				t.Fatalf("%s: </%s> closes %v", name, m[2], open)
			default:
				open = open[:len(open)-1]
			}
		}
		if len(open) > 0 {
			t.Errorf("%s: %v stay open", name, open)
		}
	}
}

func TestThePrivatePageSaysSo(t *testing.T) {
	all := pages(t)
	page := all["evaluation"]
	banner := strings.Index(page, `class="banner"`)
	if banner < 0 || banner > strings.Index(page, "<main") || !strings.Contains(page, "PRIVATE. Inside the boundary: do not publish.") {
		t.Error("no banner before the content")
	}
	if !strings.Contains(style, ".banner {\n  position: sticky; top: 0;") || !strings.Contains(style, ".banner { display: table-header-group;") {
		t.Error("the banner does not stay on the screen and on every printed page")
	}
	for _, word := range []string{"singletons", "one community", "permuted labels", "random graph", "ceiling", "lowest run"} {
		if !strings.Contains(page, word) {
			t.Errorf("no %q", word)
		}
	}
	if strings.Contains(all["release"], "PRIVATE") || strings.Contains(all["release"], `class="banner"`) {
		t.Error("the public page says it is private")
	}
}

const hostile = `</title></style><script>alert("1")</script>&<img src=x onerror='1'>`

// Every string of a report, wherever it sits, is set to markup, and none survives.
func TestAllTextIsEscaped(t *testing.T) {
	release, evaluation := sampleRelease(), sampleEvaluation(t, 5, 1)
	poison(reflect.ValueOf(&release).Elem())
	poison(reflect.ValueOf(&evaluation).Elem())
	for i := range evaluation.Evaluation.Rows {
		evaluation.Evaluation.Rows[i].Kind = evaluate.KindRelease
	}
	var a, b bytes.Buffer
	if err := errors.Join(WriteRelease(&a, release), WriteEvaluation(&b, evaluation)); err != nil {
		t.Fatal(err)
	}
	for name, page := range map[string]string{"release": a.String(), "evaluation": b.String()} {
		if strings.Contains(page, "<script") || strings.Contains(page, "<img") || strings.Contains(page, "'1'>") {
			t.Errorf("%s: markup came through", name)
		}
		if !strings.Contains(page, "&lt;script&gt;alert(") {
			t.Errorf("%s: the text is not shown either", name)
		}
	}
}

func poison(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		if v.CanSet() {
			v.SetString(hostile)
		}
	case reflect.Pointer:
		if !v.IsNil() {
			poison(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			poison(v.Field(i))
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			poison(v.Index(i))
		}
	}
}

func TestThePageIsAFunctionOfItsInput(t *testing.T) {
	r := sampleRelease()
	var a, b bytes.Buffer
	if err := errors.Join(WriteRelease(&a, r), WriteRelease(&b, r)); err != nil || !bytes.Equal(a.Bytes(), b.Bytes()) {
		t.Errorf("two pages of one report differ: %v", err)
	}
	if r.CommunitySizes[0] != 3 {
		t.Error("writing changed the report")
	}
}

func TestAnEmptyReleaseStillMakesAPage(t *testing.T) {
	for _, r := range []ReleaseReport{
		{Guarantee: "g"},
		{Guarantee: "g", Vertices: 5, DegreeHistogram: [][2]int64{{0, 5}}, CommunitySizes: []int64{1, 1, 1, 1, 1}, Spectrum: []Eigenvalue{{0, 0}}},
		{Guarantee: "g", Vertices: 2, Edges: 1, DegreeHistogram: [][2]int64{{1, 2}}, CommunitySizes: []int64{2}, Spectrum: []Eigenvalue{{-3, 1}}},
	} {
		var b bytes.Buffer
		if err := WriteRelease(&b, r); err != nil || strings.Contains(b.String(), "NaN") || strings.Contains(b.String(), "Inf") {
			t.Errorf("%+v: %v", r, err)
		}
	}
}

func TestRefusals(t *testing.T) {
	for name, change := range map[string]func(*ReleaseReport){
		"guarantee":          func(r *ReleaseReport) { r.Guarantee = " " },
		"epsilon is NaN":     func(r *ReleaseReport) { r.Epsilon = math.NaN() },
		"delta is -1":        func(r *ReleaseReport) { r.Delta = -1 },
		"rho is +Inf":        func(r *ReleaseReport) { r.Rho = math.Inf(1) },
		"eigenvalue 2":       func(r *ReleaseReport) { r.Spectrum[1].Noise = math.NaN() },
		"degree 10":          func(r *ReleaseReport) { r.DegreeTable[1].Epsilon = math.NaN() },
		"histogram":          func(r *ReleaseReport) { r.DegreeHistogram[3][0] = 1 },
		"community is empty": func(r *ReleaseReport) { r.CommunitySizes[0] = 0 },
	} {
		r := sampleRelease()
		change(&r)
		var b bytes.Buffer
		if err := WriteRelease(&b, r); err == nil || !strings.Contains(err.Error(), name) || b.Len() > 0 {
			t.Errorf("%s: error %v, %d bytes written", name, err, b.Len())
		}
	}
	for name, change := range map[string]func(*EvaluationReport){
		"no evaluation": func(r *EvaluationReport) { r.Evaluation = nil },
		`"ceiling"`:     func(r *EvaluationReport) { r.Yardstick("ceiling").AMI = math.NaN() },
		"histogram":     func(r *EvaluationReport) { r.Evaluation.Degrees.HistogramTo[0][1] = -1 },
		"heat map":      func(r *EvaluationReport) { r.Evaluation.Matching.Count[0] = nil },
		"ties":          func(r *EvaluationReport) { r.Evaluation.Structure.Original.Edges = nil },
	} {
		r := sampleEvaluation(t, 5, 1)
		change(&r)
		var b bytes.Buffer
		if err := WriteEvaluation(&b, r); err == nil || !strings.Contains(err.Error(), name) || b.Len() > 0 {
			t.Errorf("%s: error %v, %d bytes written", name, err, b.Len())
		}
	}
	full := errors.New("disk full")
	if err := WriteRelease(failing{full}, sampleRelease()); !errors.Is(err, full) {
		t.Errorf("a failing writer: %v", err)
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

func TestFormats(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{number(0.00001), "1 × 10⁻⁵"}, {number(-12345.6), "−12,346"}, {number(3), "3"}, {number(0.12345), "0.1235"},
		{number(2e15), "2 × 10¹⁵"}, {count(-1234567), "−1,234,567"}, {score(-0.0001), "0.000"}, {score(-0.25), "−0.250"},
		{percent(0.5), "50 %"}, {percent(0.013), "1.3 %"}, {percent(0.001), "0.1 %"}, {percent(0.00001), "0.001 %"}, {percent(0), "0 %"},
		{percent(0.0996), "10 %"}, {bytesOf(1000), "1,000 B"}, {bytesOf(3 << 20), "3.0 MiB"}, {bytesOf(math.MaxInt64), "8192.0 PiB"},
	} {
		if c.got != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
	for _, c := range []struct {
		s    scale
		want []float64
	}{
		{scale{from: 0, to: 10}, []float64{0, 2, 4, 6, 8, 10}},
		{scale{from: -21, to: 74}, []float64{-20, 0, 20, 40, 60}},
		{scale{from: 0, to: 531}, []float64{0, 100, 200, 300, 400, 500}},
		{scale{from: 1, to: 1}, []float64{1}},
	} {
		if got := c.s.ticks(); fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("ticks from %v to %v: %v, want %v", c.s.from, c.s.to, got, c.want)
		}
	}
	if got := (scale{from: 1e-9, to: 1}).decades(); len(got) > 7 {
		t.Errorf("%d decades", len(got))
	}
}

// With PRIVCOM_CHROMIUM set to a browser, each page is loaded without a network: the
// parsed document must have the elements of the source, in their places.
func TestABrowserReadsThePages(t *testing.T) {
	browser := os.Getenv("PRIVCOM_CHROMIUM")
	if browser == "" {
		t.Skip("set PRIVCOM_CHROMIUM to the path of a Chromium to load the pages in it")
	}
	for name, page := range pages(t) {
		folder := t.TempDir()
		path := filepath.Join(folder, "page.html")
		if err := os.WriteFile(path, []byte(page), 0o600); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
		defer cancel()
		dom, err := exec.CommandContext(ctx, browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking",
			"--disable-component-update", "--disable-sync", "--user-data-dir="+filepath.Join(folder, "profile"), "--dump-dom", "file://"+path).Output()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got, want := outline(string(dom)), outline(page); got != want {
			t.Errorf("%s: the browser reads another document", name)
		}
	}
}

// outline is the sequence of opened elements.
func outline(page string) string {
	var b strings.Builder
	for _, m := range tag.FindAllStringSubmatch(page, -1) {
		b.WriteString(m[1] + " ")
	}
	return b.String()
}
