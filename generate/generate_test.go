package generate

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"runtime"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

type edge struct{ u, v int64 }

// collect generates the graph and checks what every model promises: u < v < n,
// each edge once.
func collect(t interface {
	Helper()
	Fatalf(string, ...any)
}, spec Spec) []edge {
	t.Helper()
	var edges []edge
	seen := map[edge]bool{}
	err := Generate(context.Background(), spec, func(u, v int64) error {
		e := edge{u, v}
		if u < 0 || u >= v || v >= spec.Vertices() {
			t.Fatalf("edge (%d, %d) of a graph with %d vertices", u, v, spec.Vertices())
		}
		if seen[e] {
			t.Fatalf("edge (%d, %d) comes twice", u, v)
		}
		seen[e] = true
		edges = append(edges, e)
		return nil
	})
	if err != nil {
		t.Fatalf("%+v: %v", spec, err)
	}
	return edges
}

func labelsOf(t testing.TB, spec Spec) []int {
	t.Helper()
	labels, err := spec.Labels()
	if err != nil {
		t.Fatal(err)
	}
	return labels
}

// fingerprint hashes the edges in their order.
func fingerprint(t testing.TB, spec Spec) string {
	t.Helper()
	h := sha256.New()
	var buf [16]byte
	err := Generate(context.Background(), spec, func(u, v int64) error {
		binary.LittleEndian.PutUint64(buf[:8], uint64(u))
		binary.LittleEndian.PutUint64(buf[8:], uint64(v))
		h.Write(buf[:])
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

func corrected(s SBM) SBM { s.Exponent = 2.5; return s }

func TestSameSeedSameEdges(t *testing.T) {
	// Pinned so that a changed stream is noticed: it changes every user's
	// "same" graph and belongs in the changelog.
	for _, c := range []struct {
		name, want  string
		spec, other Spec
	}{
		{"sbm", "2e171a40959e73b4", DefaultSBM(1000), SBM{N: 1000, Communities: 4, DegreeIn: 16, DegreeOut: 4, Seed: 2}},
		{"corrected", "e1b53262f9fddd56", corrected(DefaultSBM(1000)), SBM{N: 1000, Communities: 4, DegreeIn: 16, DegreeOut: 4, Seed: 2, Exponent: 2.5}},
		{"lfr", "c3c78fa9f9d30858", DefaultLFR(1000), func() Spec { s := DefaultLFR(1000); s.Seed = 2; return s }()},
		{"rmat", "fbe6513f22ecdc99", DefaultRMAT(10), func() Spec { s := DefaultRMAT(10); s.Seed = 2; return s }()},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := fingerprint(t, c.spec)
			if again := fingerprint(t, c.spec); again != got {
				t.Errorf("second run gives %s, first %s", again, got)
			}
			if other := fingerprint(t, c.other); other == got {
				t.Errorf("another seed gives the same edges")
			}
			if runtime.GOARCH == "amd64" && got != c.want {
				t.Errorf("fingerprint %s, want %s", got, c.want)
			}
		})
	}
}

func TestRandomSpecsGiveSimpleGraphs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Int64Range(1, 60).Draw(t, "n")
		q := int(rapid.Int64Range(1, min(n, 6)).Draw(t, "q"))
		p := rapid.Float64Range(0, 1)
		spec := SBM{N: n, Communities: q, PIn: p.Draw(t, "pin"), POut: p.Draw(t, "pout"), Seed: rapid.Uint64().Draw(t, "seed"),
			Ordered: rapid.Bool().Draw(t, "ordered")}
		if spec.PIn+spec.POut == 0 {
			spec.PIn = 1
		}
		if rapid.Bool().Draw(t, "correct") {
			spec.Exponent = rapid.Float64Range(2.01, 5).Draw(t, "tau")
		}
		collect(t, spec)
		collect(t, RMAT{Scale: rapid.IntRange(1, 6).Draw(t, "scale"), EdgeFactor: rapid.IntRange(1, 9).Draw(t, "factor"),
			A: 0.4, B: 0.1, C: 0.3, D: 0.2, Seed: spec.Seed, Unscrambled: spec.Ordered})
	})
}

func TestValidateListsEveryFault(t *testing.T) {
	for _, c := range []struct {
		spec Spec
		want []string
	}{
		{SBM{N: 0, Communities: 3, PIn: 2, POut: -1}, []string{"N is 0", "Communities is 3", "PIn is 2", "POut is -1"}},
		{SBM{N: 10, Communities: 2}, []string{"not neither"}},
		{SBM{N: 10, Communities: 2, PIn: 0.1, DegreeIn: 1}, []string{"not both"}},
		{SBM{N: 10, Communities: 2, DegreeIn: 4.5, DegreeOut: 5.5}, []string{"DegreeIn is 4.5, must be in [0, 4]", "DegreeOut is 5.5, must be in [0, 5]"}},
		{SBM{N: 10, Sizes: []int64{4, 5}, PIn: 0.5}, []string{"Sizes is 9, must be N = 10 in sum"}},
		{SBM{N: 9, Sizes: []int64{9, 0}, PIn: 0.5, Exponent: 2}, []string{"Sizes is 0", "Exponent is 2"}},
		{LFR{}, []string{"N is 0", "Tau1 is 0", "Tau2 is 0", "MaxDegree is 0", "MinCommunity is 0"}},
		{LFR{N: 100, Tau1: 2, Tau2: 1, Mu: 1.5, AverageDegree: 1, MaxDegree: 50, MinCommunity: 60, MaxCommunity: 50},
			[]string{"Mu is 1.5", "AverageDegree is 1", "MaxCommunity is 50"}},
		{LFR{N: 100, Tau1: 2, Tau2: 1, Mu: 0.1, AverageDegree: 20, MaxDegree: 50, MinCommunity: 40, MaxCommunity: 45},
			[]string{"MaxCommunity is 45, must be large enough", "inside degree"}},
		{RMAT{Scale: 31, A: 0.5, B: 0.5, C: 0.5, D: -0.5}, []string{"Scale is 31", "EdgeFactor is 0", "D is -0.5"}},
		{RMAT{Scale: 5, EdgeFactor: 3, A: 0.5, B: 0.4}, []string{"A+B+C+D is 0.9"}},
	} {
		err := Generate(context.Background(), c.spec, func(u, v int64) error { return nil })
		var typed *SpecError
		if !errors.As(err, &typed) {
			t.Errorf("%+v: error %v, want a *SpecError", c.spec, err)
			continue
		}
		for _, w := range c.want {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%+v: error %q does not say %q", c.spec, err, w)
			}
		}
		if _, err := c.spec.Labels(); err == nil {
			t.Errorf("%+v: labels without an error", c.spec)
		}
	}
}

func TestDefaultsValidate(t *testing.T) {
	for _, n := range []int64{8, 10, 50, 1000, 1 << 30} {
		if err := DefaultSBM(n).Validate(); err != nil {
			t.Error(err)
		}
		if err := DefaultLFR(n).Validate(); err != nil {
			t.Error(err)
		}
	}
	for scale := 1; scale <= MaxScale; scale++ {
		if err := DefaultRMAT(scale).Validate(); err != nil {
			t.Error(err)
		}
	}
}

func TestErrorOfEmitStops(t *testing.T) {
	stop := errors.New("disk is full")
	for _, spec := range []Spec{DefaultSBM(1000), corrected(DefaultSBM(1000)), DefaultLFR(1000), DefaultRMAT(10)} {
		calls := 0
		err := Generate(context.Background(), spec, func(u, v int64) error {
			if calls++; calls == 10 {
				return stop
			}
			return nil
		})
		if err != stop || calls != 10 {
			t.Errorf("%T: error %v after %d calls, want the error of the 10th", spec, err, calls)
		}
	}
}

func TestCancelledContextStops(t *testing.T) {
	for _, spec := range []Spec{DefaultSBM(100_000), corrected(DefaultSBM(100_000)), DefaultLFR(30_000), DefaultRMAT(16)} {
		ctx, cancel := context.WithCancel(context.Background())
		calls := 0
		err := Generate(ctx, spec, func(u, v int64) error {
			if calls++; calls == 10 {
				cancel()
			}
			return nil
		})
		if !errors.Is(err, context.Canceled) || calls > 10+0x10000 {
			t.Errorf("%T: error %v after %d calls", spec, err, calls)
		}
	}
}
