package release

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/privcom/privcom/blockmatmul"
	"github.com/privcom/privcom/privacy"
	"github.com/privcom/privcom/storage"
)

var errBroken = errors.New("broken on purpose")

// broken fails the n-th product, or the first items of a kind, and tells of every use.
type broken struct {
	*engine
	product int    // the product that fails, from 1; 0: none
	kind    string // the kind of items that fails; "": none
	onUse   func()
	used    atomic.Int64
}

func (b *broken) Multiply(ctx context.Context, v *blockmatmul.Operand, c int64) (*blockmatmul.Product, error) {
	if b.onUse != nil {
		b.onUse()
	}
	if b.used.Add(1) == int64(b.product) {
		return nil, errBroken
	}
	return b.engine.Multiply(ctx, v, c)
}

func (b *broken) Run(ctx context.Context, kind string, items [][]byte) ([][]byte, error) {
	if kind == b.kind {
		return nil, errBroken
	}
	return b.engine.Run(ctx, kind, items)
}

func smallGraph(t testing.TB) string { return planted(t, 60, 12, 3) }

func TestReservationIsDurableBeforeAnythingIsAskedOfTheGraph(t *testing.T) {
	r := newRig(t, ingest(t, smallGraph(t), 2))
	asked := 0
	r.Engine = &broken{engine: r.Engine.(*engine), onUse: func() {
		asked++
		s := r.state(t)
		if len(s.Reservations) != 1 || s.Reservations[0].Status != privacy.Reserved {
			t.Errorf("question %d: the ledger has %+v", asked, s.Reservations)
		}
		if keys := r.keys(t); !slices.Equal(keys, []string{startedKey, NodesKey}) {
			t.Errorf("question %d: the folder holds %q", asked, keys)
		}
	}}
	d := mustRun(t, r)
	if asked != 5 {
		t.Errorf("%d products for 4 steps and the counts of blocks", asked)
	}
	s := r.state(t)
	if len(s.Reservations) != 1 || s.Reservations[0].Status != privacy.Committed || s.Reservations[0].Commit.Release != "r1" {
		t.Errorf("after the release: %+v", s.Reservations)
	}
	if d.Ledger.Entry != s.Reservations[0].Reserve.ID || d.Ledger.Dataset != "people" {
		t.Errorf("the document points to %+v", d.Ledger)
	}
}

func TestFailingEngineKeepsTheReservationAndLeavesNothing(t *testing.T) {
	g := ingest(t, smallGraph(t), 2)
	for name, b := range map[string]*broken{
		"first product": {product: 1}, "third product": {product: 3},
		"estimate": {kind: "synthesis-estimate"}, "sample": {kind: "synthesis-sample"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, g)
			b.engine = r.Engine.(*engine)
			r.Engine = b
			if b.kind == "synthesis-estimate" {
				r.Params.Reconstruct = InverseKatz // blocks need no estimate of a rate
			}
			d, err := Run(context.Background(), r.Options)
			if d != nil || !errors.Is(err, errBroken) {
				t.Fatalf("document %v, error %v", d, err)
			}
			s := r.state(t)
			if len(s.Reservations) != 1 || s.Reservations[0].Status != privacy.Reserved {
				t.Fatalf("ledger: %+v", s.Reservations)
			}
			id := s.Reservations[0].Reserve.ID
			if !strings.Contains(err.Error(), "ledger entry "+id+" of data set people keeps epsilon 2 reserved") {
				t.Errorf("the error does not say what is reserved: %v", err)
			}
			if keys := r.keys(t); len(keys) > 0 {
				t.Errorf("left behind: %q", keys)
			}
			if spent := s.Spent(privacy.Edge); spent.Rho.Cmp(privacy.RhoOf(privacy.MustDecimal("2"), privacy.MustDecimal("1e-5"))) != 0 {
				t.Errorf("spent %v", spent)
			}
		})
	}
}

func TestTheLedgerLearnsOfTheReleaseFirst(t *testing.T) {
	r := newRig(t, ingest(t, smallGraph(t), 1))
	entries := 0
	disturbed := r.ledgerBucket.WithFaults(storage.Faults{Before: func(op storage.Op, key string) error {
		if op != storage.OpCreate {
			return nil
		}
		entries++
		keys := r.keys(t)
		if slices.Contains(keys, SuccessKey) || slices.Contains(keys, DocumentKey) != (entries == 2) {
			t.Errorf("entry %d (%s) is written while the folder holds %q", entries, key, keys)
		}
		return nil
	}})
	r.Ledger = openLedger(t, disturbed)
	mustRun(t, r)
	if entries != 2 {
		t.Errorf("%d ledger entries", entries)
	}
}

func openLedger(t testing.TB, b *storage.Bucket) *privacy.Ledger {
	t.Helper()
	l, err := privacy.OpenLedger(b, "people")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestNothingIsPublishedThatTheLedgerDoesNotKnow(t *testing.T) {
	r := newRig(t, ingest(t, smallGraph(t), 1))
	r.Ledger = openLedger(t, r.ledgerBucket.WithFaults(storage.Faults{Before: func(op storage.Op, key string) error {
		if op == storage.OpCreate && strings.HasSuffix(key, "00000002.json") {
			return errBroken
		}
		return nil
	}}))
	if _, err := Run(context.Background(), r.Options); !errors.Is(err, errBroken) {
		t.Fatalf("error %v", err)
	}
	if keys := r.keys(t); len(keys) > 0 {
		t.Errorf("left behind: %q", keys)
	}
	if s := r.state(t); len(s.Reservations) != 1 || s.Reservations[0].Status != privacy.Reserved {
		t.Errorf("ledger: %+v", s.Reservations)
	}
}

// sound fails unless the folder is a release that verifies and that the ledger knows.
func sound(t testing.TB, r *rig) *Document {
	t.Helper()
	d, checks, err := Verify(context.Background(), r.Out)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range checks {
		if !c.OK {
			t.Errorf("%s: %s", c.Name, c.Note)
		}
	}
	for _, res := range r.state(t).Reservations {
		if res.Reserve.ID == d.Ledger.Entry {
			if res.Status == privacy.Voided || !(privacy.Cost{Pure: d.Guarantee.PureEpsilon, Rho: d.Guarantee.Rho}).Within(*res.Reserve.Cost) {
				t.Errorf("the ledger has %s of %v for a release of ρ = %s", res.Status, *res.Reserve.Cost, d.Guarantee.Rho)
			}
			return d
		}
	}
	t.Errorf("the ledger does not know entry %s of the release", d.Ledger.Entry)
	return d
}

func TestRefusedBudgetLeavesNothing(t *testing.T) {
	ctx, r := context.Background(), newRig(t, ingest(t, smallGraph(t), 1))
	one, delta := privacy.MustDecimal("1"), privacy.MustDecimal("1e-5")
	if err := r.Ledger.SetLimit(ctx, privacy.Edge, privacy.Limit{Epsilon: &one, Delta: &delta}); err != nil {
		t.Fatal(err)
	}
	b := &broken{engine: r.Engine.(*engine)}
	r.Engine = b
	_, err := Run(ctx, r.Options)
	var refused *privacy.RefusedError
	if !errors.As(err, &refused) {
		t.Fatalf("error %v", err)
	}
	if keys := r.keys(t); len(keys) > 0 || b.used.Load() > 0 || len(r.state(t).Reservations) > 0 {
		t.Errorf("left %q, %d products, ledger %+v", keys, b.used.Load(), r.state(t).Reservations)
	}
}

func TestEndedContextLeavesNothing(t *testing.T) {
	g := ingest(t, smallGraph(t), 1)
	for _, phase := range []string{PhaseReserve, PhaseOja, PhaseFit, PhaseEdges, PhaseWrite} {
		r := newRig(t, g)
		ctx, cancel := context.WithCancel(context.Background())
		seen := false
		r.Progress = func(p string, _, _ int64) {
			if p == phase {
				seen = true
				cancel()
			}
		}
		_, err := Run(ctx, r.Options)
		if !errors.Is(err, context.Canceled) || !seen {
			t.Errorf("%s: seen %v, error %v", phase, seen, err)
		}
		if keys := r.keys(t); len(keys) > 0 {
			t.Errorf("%s: left %q", phase, keys)
		}
		for _, res := range r.state(t).Reservations {
			if res.Status != privacy.Reserved {
				t.Errorf("%s: ledger says %s", phase, res.Status)
			}
		}
		cancel()
	}
}

func TestOccupiedFoldersAreRefusedBeforeTheLedgerIsTouched(t *testing.T) {
	ctx, g := context.Background(), ingest(t, smallGraph(t), 1)
	for _, key := range []string{SuccessKey, DocumentKey, NodesKey, "edges-00000-of-00001-ab.parquet", "notes.txt", "deep/down"} {
		r := newRig(t, g)
		if err := r.Out.Put(ctx, key, []byte("x")); err != nil {
			t.Fatal(err)
		}
		_, err := Run(ctx, r.Options)
		if !errors.Is(err, ErrOccupied) || !strings.Contains(err.Error(), key) || !strings.Contains(err.Error(), "nothing was spent") {
			t.Errorf("%s: %v", key, err)
		}
		if keys := r.keys(t); len(keys) != 1 || len(r.state(t).Entries) > 0 {
			t.Errorf("%s: folder %q, ledger %+v", key, keys, r.state(t).Entries)
		}
	}
	r := newRig(t, g)
	mustRun(t, r)
	r.Out, r.ID = memory(t, "out"), "r2"
	if _, err := Run(ctx, r.Options); !errors.Is(err, ErrOccupied) || !strings.Contains(err.Error(), "steps of another run") {
		t.Errorf("a work folder was used twice: %v", err)
	}
	if s := r.state(t); len(s.Reservations) != 1 {
		t.Errorf("ledger: %+v", s.Reservations)
	}
}

// ε of the document is that of the accountant for what ran, in every unit and profile.
func TestStatedGuaranteeIsTheAccountants(t *testing.T) {
	g := ingest(t, smallGraph(t), 1)
	for _, unit := range privacy.Units() {
		for _, profile := range []string{"", ProfilePaper} {
			if profile == ProfilePaper && unit != privacy.Node {
				continue
			}
			for _, eps := range []string{"0.3", "1", "7.25"} {
				r := newRig(t, g)
				r.Params.Unit, r.Params.Profile, r.Params.Epsilon = unit, profile, eps
				if unit != privacy.Edge {
					r.Params.DegreeBound = 20
				}
				d := mustRun(t, r)
				checkGuarantee(t, r, d)
			}
		}
	}
}

func checkGuarantee(t *testing.T, r *rig, d *Document) {
	t.Helper()
	q := d.Guarantee
	cost := privacy.Cost{Pure: q.PureEpsilon, Rho: q.Rho}
	// The stated ε is the accountant's, or the asked one where only its last digits are left over.
	if has := cost.Epsilon(q.Delta); q.Epsilon.Cmp(has) < 0 || has.Float() < q.Epsilon.Float()*(1-1e-6) {
		t.Errorf("stated ε = %s, the accountant has %s", q.Epsilon, has)
	}
	if target := privacy.MustDecimal(r.Params.Epsilon); q.Epsilon.Cmp(target) > 0 {
		t.Errorf("ε = %s for a target of %s", q.Epsilon, target)
	}
	s := r.state(t)
	if have := *s.Reservations[0].Reserve.Cost; have.Pure.Cmp(cost.Pure) != 0 || have.Rho.Cmp(cost.Rho) != 0 {
		t.Errorf("the ledger has %v, the document %v", have, cost)
	}
	// Σ S²/2σ² from the record of every mechanism, in exact fractions.
	rho, pure := new(big.Rat), new(big.Rat)
	for _, c := range d.Noise.Charges {
		pure.Add(pure, c.Pure.Rat())
		if c.Sigma2 == "" {
			rho.Add(rho, c.Rho.Rat())
			continue
		}
		sigma2, _ := new(big.Rat).SetString(c.Sigma2)
		s2, _ := new(big.Rat).SetString(c.Sensitivity2)
		rho.Add(rho, s2.Quo(s2, sigma2.Mul(sigma2, big.NewRat(2, 1))))
	}
	if rho.Cmp(q.Rho.Rat()) > 0 || pure.Cmp(q.PureEpsilon.Rat()) > 0 {
		t.Errorf("mechanisms cost ρ = %s and pure %s, stated are %s and %s", rho.FloatString(15), pure.FloatString(15), q.Rho, q.PureEpsilon)
	}
	// And not much less: nothing that was paid for is left lying.
	if f, _ := new(big.Rat).Quo(rho, q.Rho.Rat()).Float64(); f < 0.95 {
		t.Errorf("only %.3f of ρ was used", f)
	}
	if !strings.Contains(q.Sentence, "ε = "+q.Epsilon.String()+", δ = "+q.Delta.String()) {
		t.Errorf("the sentence says %q", q.Sentence)
	}
	last := privacy.MustDecimal("0")
	for _, row := range q.DegreeTable {
		if row.Epsilon.Cmp(last) < 0 {
			t.Errorf("ε falls to %s at degree %d", row.Epsilon, row.Degree)
		}
		if last = row.Epsilon; row.Degree <= q.DegreeBound && row.Epsilon.Cmp(q.Epsilon) > 0 {
			t.Errorf("ε(%d) = %s within the bound %d of ε = %s", row.Degree, row.Epsilon, q.DegreeBound, q.Epsilon)
		}
	}
	if d.Resolved.Unit != privacy.Edge && len(q.DegreeTable) == 0 {
		t.Error("no degree table")
	}
}

// Sums in the paper profile have no slack: their last digit must not end a run whose
// budget is spent. 60 runs over sizes and budgets.
func TestPaperProfileEndsForAllSizes(t *testing.T) {
	for _, n := range []int64{20, 33, 54, 90} {
		g := ingest(t, planted(t, n, 6, 2), 1)
		for _, eps := range []string{"0.5", "1", "2", "3", "4"} {
			for rank := 1; rank <= 3; rank++ {
				r := newRig(t, g)
				r.Params.Unit, r.Params.Profile, r.Params.Epsilon, r.Params.Rank, r.Params.Steps = privacy.Node, ProfilePaper, eps, rank, 0
				d := mustRun(t, r)
				if d.Guarantee.PaperSum == "" || len(d.Notes) < 2 {
					t.Errorf("n = %d: no words about the paper's constants", n)
				}
			}
		}
	}
}

func TestNoiseIsNeverSeeded(t *testing.T) {
	g := ingest(t, smallGraph(t), 1)
	a, b := newRig(t, g), newRig(t, g)
	da, db := mustRun(t, a), mustRun(t, b)
	sumOf := func(d *Document, key string) string {
		i := slices.IndexFunc(d.Files, func(f File) bool { return f.Key == key })
		return d.Files[i].SHA256
	}
	if sumOf(da, FactorsKey) == sumOf(db, FactorsKey) {
		t.Error("two releases of one seed have the same factors: the noise was the same")
	}
	if sumOf(da, NodesKey) != sumOf(db, NodesKey) {
		t.Error("the vertex list differs")
	}
	firstV := func(r *rig) string {
		tr, err := openTranscript(context.Background(), r.Work.Sub("steps/"+r.state(t).Reservations[0].Reserve.ID))
		if err != nil {
			t.Fatal(err)
		}
		rec, err := tr.Read(context.Background(), 0)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(rec.V)
	}
	if firstV(a) != firstV(b) {
		t.Error("V₀ of one seed differs")
	}
}

func TestDocumentRoundTrip(t *testing.T) {
	r := newRig(t, ingest(t, smallGraph(t), 1))
	d := mustRun(t, r)
	back, err := Open(context.Background(), r.Out)
	if err != nil {
		t.Fatal(err)
	}
	want, _ := json.Marshal(d)
	have, _ := json.Marshal(back)
	if string(want) != string(have) {
		t.Errorf("written and read:\n%s\n%s", want, have)
	}
	if d.Parameters.Dataset != "people" || d.Tool != "privcom test" || d.Created.IsZero() {
		t.Errorf("document: %+v", d)
	}
}
