package release

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/privcom/privcom/privacy"
)

func usable() Params {
	p := Defaults()
	p.Epsilon = "1"
	return p
}

// faults are values that Validate refuses without the graph, with what it must say.
var faults = []struct {
	name, says string
	set        func(*Params)
}{
	{"no epsilon", "epsilon is not set", func(p *Params) { p.Epsilon = "" }},
	{"epsilon 0", "epsilon is 0", func(p *Params) { p.Epsilon = "0" }},
	{"epsilon below 0", "epsilon is -2", func(p *Params) { p.Epsilon = "-2" }},
	{"epsilon NaN", `epsilon: "NaN"`, func(p *Params) { p.Epsilon = "NaN" }},
	{"epsilon infinite", `epsilon: "Infinity"`, func(p *Params) { p.Epsilon = "Infinity" }},
	{"delta 1", "delta is 1", func(p *Params) { p.Delta = "1" }},
	{"delta empty", "delta", func(p *Params) { p.Delta = "" }},
	{"profile", `profile "thesis"`, func(p *Params) { p.Profile = "thesis" }},
	{"reconstruct", `reconstruct "magic"`, func(p *Params) { p.Reconstruct = "magic" }},
	{"alpha 0", "alpha is 0", func(p *Params) { p.Alpha = 0 }},
	{"alpha NaN", "alpha is NaN", func(p *Params) { p.Alpha = math.NaN() }},
	{"eta", "eta is -1", func(p *Params) { p.Eta = -1 }},
	{"eta infinite", "eta is +Inf", func(p *Params) { p.Eta = math.Inf(1) }},
	{"order", "order is 51", func(p *Params) { p.Order = 51 }},
	{"order below", "order is -2", func(p *Params) { p.Order = -2 }},
	{"degree bound", "degree bound is -1", func(p *Params) { p.DegreeBound = -1 }},
	{"rank", "rank is -1", func(p *Params) { p.Rank = -1 }},
	{"steps", "steps is -1", func(p *Params) { p.Steps = -1 }},
	{"steps above", "steps is 100001", func(p *Params) { p.Steps = 100_001 }},
	{"row norm", "row norm is 0", func(p *Params) { p.RowNorm = 0 }},
	{"growth", "growth is NaN", func(p *Params) { p.Growth = math.NaN() }},
	{"step factor", "step factor is -1", func(p *Params) { p.StepFactor = -1 }},
	{"beta", `beta: "x"`, func(p *Params) { p.Beta = "x" }},
	{"beta 0", "beta is 0", func(p *Params) { p.Beta = "0" }},
	{"row clip", `row clip "1..x"`, func(p *Params) { p.RowClip = "1..x" }},
	{"row clip below", `row clip "-1"`, func(p *Params) { p.RowClip = "-1" }},
	{"edges", `edges "some"`, func(p *Params) { p.Edges = "some" }},
	{"edges 0", `edges "0"`, func(p *Params) { p.Edges = "0" }},
}

func TestValidateNamesEveryFault(t *testing.T) {
	if err := usable().Validate(); err != nil {
		t.Fatalf("the defaults with an epsilon: %v", err)
	}
	for _, f := range faults {
		p := usable()
		f.set(&p)
		if err := p.Validate(); err == nil || !strings.Contains(err.Error(), f.says) {
			t.Errorf("%s: %v, want %q", f.name, err, f.says)
		}
		if _, err := p.Plan(Graph{Vertices: 100, DegreeLimit: 99}); err == nil {
			t.Errorf("%s: a plan was made", f.name)
		}
	}
	// All at once: the last fault of each field is in the message.
	p, last := usable(), map[string]string{}
	for _, f := range faults {
		f.set(&p)
		last[strings.Fields(f.name)[0]] = f.says
	}
	delete(last, "no")
	last["epsilon"], last["delta"] = `epsilon: "Infinity"`, "delta"
	last["row"], last["step"], last["degree"] = `row clip "-1"`, "step factor is -1", "degree bound is -1"
	err := p.Validate()
	for field, says := range last {
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s is not in the list of all faults: %q", field, says)
		}
	}
	if err == nil || !strings.Contains(err.Error(), "row norm is 0") {
		t.Error("the row norm is not in the list of all faults")
	}
}

func TestFaultsThatNeedTheGraph(t *testing.T) {
	g := Graph{Vertices: 50, DegreeLimit: 49}
	for name, f := range map[string]struct {
		says string
		set  func(*Params)
	}{
		"rank above n":         {"rank is 51, must be from 1 to the number of vertices, 50", func(p *Params) { p.Rank = 51 }},
		"too many edges":       {"edges is 1226, a graph of 50 vertices has at most 1225", func(p *Params) { p.Edges = "1226" }},
		"degree bound above n": {"degree bound is 50", func(p *Params) { p.DegreeBound = 50 }},
		"count share":          {"count share is 1", func(p *Params) { p.CountShare = 1 }},
		"count share NaN":      {"NaN", func(p *Params) { p.CountShare = math.NaN() }},
		"own share":            {"own row", func(p *Params) { p.OwnShare = 1 }},
		"label share":          {"labels is 1", func(p *Params) { p.LabelShare = 1 }},
		"steps without rho":    {"nothing of the budget is left for step 1", func(p *Params) { p.Unit, p.Steps = privacy.Edge, 8_000 }},
		"unchecked bound":      {"ingest with --declare-degree-bound 5", func(p *Params) { p.Order, p.DegreeBound = 1, 5 }},
		"paper beta":           {"above the bound of the paper's Lemma", func(p *Params) { p.Profile, p.Beta, p.Rank = ProfilePaper, "1", 1 }},
	} {
		p := usable()
		f.set(&p)
		if err := p.Validate(); err != nil && name != "count share NaN" {
			t.Errorf("%s needs the graph, but Validate says: %v", name, err)
		}
		if _, err := p.Plan(g); err == nil || !strings.Contains(err.Error(), f.says) {
			t.Errorf("%s: %v, want %q", name, err, f.says)
		}
	}
	if _, err := usable().Plan(Graph{Vertices: 1, DegreeLimit: 1}); err == nil {
		t.Error("a plan for one vertex")
	}
}

func TestDefaultsFollowTheUnit(t *testing.T) {
	g := Graph{Vertices: 1000, DegreeLimit: 999}
	plan := func(set func(*Params)) *privacy.Plan {
		t.Helper()
		p := usable()
		set(&p)
		made, err := p.Plan(g)
		if err != nil {
			t.Fatal(err)
		}
		return made
	}
	node := plan(func(*Params) {})
	if p := node.Params; p.Unit != privacy.Node || p.DegreeBound != 999 || p.Steps != 32 || p.Katz.Order != 1 || p.ClipStart == 0 {
		t.Errorf("node: %+v", p)
	}
	edge := plan(func(p *Params) { p.Unit = privacy.Edge })
	if p := edge.Params; p.ClipStart != 0 || p.CountShare != 0.02 || len(edge.DegreeTable) != 0 {
		t.Errorf("edge: %+v", p)
	}
	given := plan(func(p *Params) { p.Unit, p.Edges, p.Reconstruct = privacy.Edge, "5000", InverseKatz })
	if given.CountRho.Sign() != 0 {
		t.Error("a public number of edges is paid for")
	}
	katz := plan(func(p *Params) { p.Order = 2 })
	if k := katz.Params.Katz; k.Order != 5 || katz.Params.Beta() > 1.0/(2*999) {
		t.Errorf("order 2: %+v, β = %g", k, katz.Params.Beta())
	}
	paper := plan(func(p *Params) { p.Profile, p.Rank = ProfilePaper, 2 })
	if paper.Params.Katz.Order != 3 || paper.PaperSigma == 0 || paper.EigenRho.Sign() <= 0 {
		t.Errorf("paper: %+v", paper.Params)
	}
	fixed := plan(func(p *Params) { p.Eta = 0.25 })
	for _, s := range fixed.Steps {
		if math.Abs(s.Eta-0.25*fixed.Params.Beta()) > 1e-15 {
			t.Fatalf("η = %g of a fixed rate of 0.25", s.Eta)
		}
	}
	known := Graph{Vertices: 1000, DegreeLimit: 40, DegreeKnown: true}
	p := usable()
	p.Order, p.DegreeBound = 1, 40
	if made, err := p.Plan(known); err != nil || made.Params.DegreeBound != 40 || made.Params.DegreeLimit != 40 {
		t.Errorf("a checked bound: %v", err)
	}
}

func TestUnusableInitialMatrixSpendsNothing(t *testing.T) {
	g := ingest(t, smallGraph(t), 1)
	for name, v0 := range map[string][]float64{
		"too short": make([]float64, 7), "of rank 0": make([]float64, 120),
		"of rank 1": func() []float64 {
			v := make([]float64, 120)
			for i := range v {
				v[i] = float64(i / 2)
			}
			return v
		}(),
	} {
		r := newRig(t, g)
		r.Initial = v0
		_, err := Run(context.Background(), r.Options)
		var initial *InitialError
		if !errors.As(err, &initial) || !strings.Contains(err.Error(), "nothing was spent") {
			t.Errorf("%s: %v", name, err)
		}
		if len(r.state(t).Entries) > 0 || len(r.keys(t)) > 0 {
			t.Errorf("%s: ledger %+v, folder %q", name, r.state(t).Entries, r.keys(t))
		}
	}
}
