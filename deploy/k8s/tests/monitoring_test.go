package tests

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql/parser"
)

// metrics are the names that exist, with their own labels: those of docs/metrics.md, which a test of the product compares with
// what it serves, and those that the workflow adds to Argo's controller.
func metrics(t *testing.T) map[string][]string {
	t.Helper()
	page, err := os.ReadFile("../../../docs/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]string{"process_resident_memory_bytes": nil}
	for _, m := range regexp.MustCompile("(?m)^\\| `(privcom_[a-z_]+)(?:\\{([a-z_,]+)\\})?` \\| (?:gauge|counter|histogram) \\|").FindAllStringSubmatch(string(page), -1) {
		out[m[1]] = append(out[m[1]], strings.Split(m[2], ",")...)
	}
	if len(out) < 20 {
		t.Fatalf("docs/metrics.md has %d metrics that I can read", len(out))
	}
	for _, step := range list(copyOf(t, "argo/local", "WorkflowTemplate/privcom-night").tree, "spec", "templates") {
		for _, m := range list(step, "metrics", "prometheus") {
			var labels []string
			for _, l := range list(m, "labels") {
				labels = append(labels, text(l, "key"))
			}
			out["argo_workflows_"+text(m, "name")] = labels // the controller's prefix
		}
	}
	return out
}

// scraped are the labels that Prometheus adds.
var scraped = map[string]bool{"job": true, "instance": true, "namespace": true, "pod": true, "__name__": true}

// checkQuery parses an expression and compares its metrics and labels with those that exist.
func checkQuery(known map[string][]string, expr string) error {
	e, err := parser.NewParser(parser.Options{}).ParseExpr(expr)
	if err != nil {
		return err
	}
	found := 0
	var wrong error
	parser.Inspect(e, func(n parser.Node, _ []parser.Node) error {
		s, ok := n.(*parser.VectorSelector)
		if !ok {
			return nil
		}
		found++
		labels, ok := known[s.Name]
		if !ok {
			wrong = fmt.Errorf("there is no metric %s", s.Name)
			return nil
		}
		for _, m := range s.LabelMatchers {
			if !scraped[m.Name] && !strings.Contains(","+strings.Join(labels, ",")+",", ","+m.Name+",") {
				wrong = fmt.Errorf("%s has no label %s", s.Name, m.Name)
			}
		}
		return nil
	})
	if wrong == nil && found == 0 {
		wrong = fmt.Errorf("no metric in %s", expr)
	}
	return wrong
}

func alerts(t *testing.T, data []byte) *rulefmt.RuleGroups {
	t.Helper()
	groups, errs := rulefmt.Parse(data, false, model.UTF8Validation, parser.NewParser(parser.Options{}), slog.New(slog.DiscardHandler))
	for _, err := range errs {
		t.Error(err)
	}
	return groups
}

func TestAlertRules(t *testing.T) {
	data, err := os.ReadFile("../../monitoring/alerts.yaml")
	if err != nil {
		t.Fatal(err)
	}
	operations, err := os.ReadFile("../../../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	known, count := metrics(t), 0
	for _, g := range alerts(t, data).Groups {
		for _, r := range g.Rules {
			count++
			if err := checkQuery(known, r.Expr); err != nil {
				t.Errorf("%s: %v", r.Alert, err)
			}
			if r.Labels["severity"] == "" || r.Annotations["summary"] == "" || r.Annotations["action"] == "" {
				t.Errorf("%s lacks severity, summary or action", r.Alert)
			}
			if !bytes.Contains(operations, []byte("`"+r.Alert+"`")) {
				t.Errorf("docs/operations.md does not say what %s means", r.Alert)
			}
		}
	}
	if count < 10 {
		t.Errorf("%d rules", count)
	}
}

func TestDashboard(t *testing.T) {
	data, err := os.ReadFile("../../monitoring/dashboard.json")
	if err != nil {
		t.Fatal(err)
	}
	var d struct {
		UID, Title    string
		SchemaVersion int
		Panels        []struct {
			ID          int
			Type, Title string
			GridPos     struct{ H, W, X, Y int }
			Targets     []struct{ Expr, LegendFormat string }
		}
		Templating struct {
			List []struct{ Name, Query string }
		}
	}
	if err := json.Unmarshal(data, &d); err != nil {
		t.Fatal(err)
	}
	if d.UID == "" || d.Title == "" || d.SchemaVersion < 36 {
		t.Errorf("uid %q, title %q, schema version %d", d.UID, d.Title, d.SchemaVersion)
	}
	known, queries, ids, taken := metrics(t), 0, map[int]bool{}, map[[2]int]string{}
	for _, p := range d.Panels {
		if ids[p.ID] {
			t.Errorf("panel %q has the id of another", p.Title)
		}
		ids[p.ID] = true
		for x := p.GridPos.X; x < p.GridPos.X+p.GridPos.W; x++ {
			for y := p.GridPos.Y; y < p.GridPos.Y+p.GridPos.H; y++ {
				if other := taken[[2]int{x, y}]; other != "" || x >= 24 {
					t.Fatalf("panel %q lies over %q, or beyond the edge", p.Title, other)
				}
				taken[[2]int{x, y}] = p.Title
			}
		}
		if p.Type != "row" && len(p.Targets) == 0 {
			t.Errorf("panel %q shows nothing", p.Title)
		}
		for _, q := range p.Targets {
			queries++
			expr := strings.NewReplacer("$__rate_interval", "5m", "$namespace", "privcom").Replace(q.Expr)
			if err := checkQuery(known, expr); err != nil || strings.Contains(expr, "$") {
				t.Errorf("panel %q: %s: %v", p.Title, q.Expr, err)
			}
		}
	}
	if queries < 15 {
		t.Errorf("%d queries", queries)
	}
	for _, v := range d.Templating.List {
		if m := regexp.MustCompile(`label_values\(([a-z_]+), ([a-z]+)\)`).FindStringSubmatch(v.Query); m != nil {
			if err := checkQuery(known, m[1]); err != nil || !scraped[m[2]] {
				t.Errorf("variable %s: %v", v.Name, err)
			}
		}
	}
}

func TestMonitoringChecksBite(t *testing.T) {
	known := metrics(t)
	for _, expr := range []string{"privcom_runs_total", "rate(privcom_sent_bytes_total)", "privcom_phase{stage=\"done\"}", "privcom_workers <", "1 + 1",
		"argo_workflows_privcom_nights_total{result=\"refused\"}", "up"} {
		if checkQuery(known, expr) == nil {
			t.Errorf("%s passes", expr)
		}
	}
	for _, rules := range []string{"groups: [{name: a, rules: [{alert: A, expr: 'sum('}]}]", "groups: [{name: a, rule: []}]"} {
		if _, errs := rulefmt.Parse([]byte(rules), false, model.UTF8Validation, parser.NewParser(parser.Options{}), slog.New(slog.DiscardHandler)); len(errs) == 0 {
			t.Errorf("%s passes", rules)
		}
	}
}
