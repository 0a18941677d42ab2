package generate

import (
	"context"
	"fmt"
	"math"
)

// LFR is the benchmark of Lancichinetti, Fortunato & Radicchi (2008): degrees
// and community sizes follow power laws, and each vertex has a share Mu of its
// neighbours outside of its community.
//
// It differs from the authors' program in four places.
//
//   - Degrees are drawn from a power law on integers, whose smallest value has
//     its weight lowered so that the mean is AverageDegree exactly.
//   - A vertex of degree d has (1-Mu)·d neighbours inside, rounded up or down at
//     random with that mean.
//   - Vertices get their communities by a uniform draw among all assignments in
//     which each community is larger than its members' inside degrees, instead
//     of by a walk of evictions.
//   - Stubs are paired at random (configuration model), inside each community
//     and then between communities; a pair that is a loop, a repeat or on the
//     wrong side exchanges ends with random edges until it is none. Communities
//     too dense for that get the graph of Havel and Hakimi, with its edges
//     switched at random. Where no graph has the degrees drawn (a few in a
//     thousand communities), edges are left out; more than 1 % is an error.
type LFR struct {
	// N is the number of vertices.
	N int64
	// Tau1 is the exponent of the degrees, P(d) ∝ d^-Tau1.
	Tau1 float64
	// Tau2 is the exponent of the community sizes, P(s) ∝ s^-Tau2.
	Tau2 float64
	// Mu is the mixing parameter: the share of neighbours outside.
	Mu float64
	// AverageDegree is the mean degree.
	AverageDegree float64
	// MaxDegree is the largest degree.
	MaxDegree int64
	// MinCommunity and MaxCommunity bound the communities' sizes.
	MinCommunity, MaxCommunity int64
	// Seed of the public randomness.
	Seed uint64
}

// DefaultLFR is the usual "small communities" setting of the literature
// (degree 20, at most 50; communities of 10 to 50) at Mu 0.2, with bounds
// lowered where n is small.
func DefaultLFR(n int64) LFR {
	return LFR{
		N: n, Tau1: 2, Tau2: 1.5, Mu: 0.2,
		AverageDegree: min(20, float64(n)/4), MaxDegree: max(1, min(50, n/2)),
		MinCommunity: max(1, min(10, n/4)), MaxCommunity: max(1, min(50, n)), Seed: 1,
	}
}

// maxLawValue bounds the tables of the power laws, 8 bytes per value.
const maxLawValue = 1 << 24

// Vertices is N.
func (s LFR) Vertices() int64 { return s.N }

// Validate returns nil or a *SpecError with every fault.
func (s LFR) Validate() error {
	f := faults{model: "LFR"}
	f.require(s.N >= 1 && s.N <= MaxVertices, "N", s.N, "in 1..%d", MaxVertices)
	f.require(s.Tau1 > 1 && s.Tau1 <= 100, "Tau1", s.Tau1, "in (1, 100]")
	f.require(s.Tau2 >= 1 && s.Tau2 <= 100, "Tau2", s.Tau2, "in [1, 100]")
	f.within("Mu", s.Mu, 0, 1)
	if f.require(s.MaxDegree >= 1 && s.MaxDegree < s.N && s.MaxDegree <= maxLawValue, "MaxDegree", s.MaxDegree,
		"in 1..N-1 = %d and at most %d", s.N-1, maxLawValue) && s.Tau1 > 1 {
		least := powerLawMean(s.Tau1, s.MaxDegree)
		f.require(s.AverageDegree >= least && s.AverageDegree <= float64(s.MaxDegree), "AverageDegree", s.AverageDegree,
			"in [%.4g, %d], the means of power laws with exponent Tau1 up to MaxDegree", least, s.MaxDegree)
	}
	if f.require(s.MinCommunity >= 1 && s.MinCommunity <= s.N, "MinCommunity", s.MinCommunity, "in 1..N = %d", s.N) &&
		f.require(s.MaxCommunity >= s.MinCommunity && s.MaxCommunity <= s.N && s.MaxCommunity <= maxLawValue, "MaxCommunity", s.MaxCommunity,
			"in MinCommunity..N = %d..%d and at most %d", s.MinCommunity, s.N, maxLawValue) {
		f.require(s.N/s.MinCommunity*s.MaxCommunity >= s.N, "MaxCommunity", s.MaxCommunity,
			"large enough for some number of communities of %d..%d vertices to hold all %d", s.MinCommunity, s.MaxCommunity, s.N)
		inside := int64(math.Ceil((1 - s.Mu) * float64(s.MaxDegree)))
		f.require(inside < s.MaxCommunity, "MaxCommunity", s.MaxCommunity,
			"more than the largest inside degree (1-Mu)·MaxDegree = %d", inside)
	}
	return f.err()
}

// lfrPlan is everything but the edges. Vertex v is in community label[v] and
// has inside[v] neighbours there, outside[v] elsewhere.
type lfrPlan struct {
	inside, outside []int32
	label           []int32
	members         [][]int32 // by community
}

// planAttempts bounds how often community sizes are drawn again when the
// vertices of high degree do not fit into the large communities.
const planAttempts = 100

func (s LFR) plan() (*lfrPlan, error) {
	p := s.degrees()
	sizes, places := stream(s.Seed, streamSizes), stream(s.Seed, streamPlaces)
	for range planAttempts {
		size := s.communitySizes(sizes)
		if size != nil && p.place(size, places) && p.balanced() {
			p.evenOut(places, s.Mu == 0)
			return p, nil
		}
	}
	return nil, fmt.Errorf("generate: no assignment of LFR vertices to communities in %d attempts: either too few communities are larger "+
		"than the inside degrees, up to (1-Mu)·MaxDegree = %.0f (raise MinCommunity, now %d, or MaxCommunity, now %d, or lower AverageDegree, now %g, or MaxDegree, now %d), "+
		"or one community has more than half of the edges between communities (lower MaxCommunity)",
		planAttempts, (1-s.Mu)*float64(s.MaxDegree), s.MinCommunity, s.MaxCommunity, s.AverageDegree, s.MaxDegree)
}

// degrees draws all degrees and splits each into inside and outside.
func (s LFR) degrees() *lfrPlan {
	rng := stream(s.Seed, streamDegrees)
	law := newPowerLaw(s.Tau1, s.AverageDegree, s.MaxDegree)
	p := &lfrPlan{inside: make([]int32, s.N), outside: make([]int32, s.N), label: make([]int32, s.N)}
	total := int64(0)
	for v := range p.inside {
		d := law.draw(rng)
		total += d
		mean := (1 - s.Mu) * float64(d)
		in := int64(mean)
		if rng.Float64() < mean-float64(in) {
			in++
		}
		p.inside[v], p.outside[v] = int32(in), int32(d-in)
	}
	if total%2 == 1 {
		p.dropOneStub()
	}
	return p
}

// dropOneStub makes an odd sum of degrees even.
func (p *lfrPlan) dropOneStub() {
	for v := range p.inside {
		switch {
		case p.outside[v] > 0:
			p.outside[v]--
			return
		case p.inside[v] > 0:
			p.inside[v]--
			return
		}
	}
}

// Labels is the community of each vertex.
func (s LFR) Labels() ([]int, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	p, err := s.plan()
	if err != nil {
		return nil, err
	}
	labels := make([]int, len(p.label))
	for v, l := range p.label {
		labels[v] = int(l)
	}
	return labels, nil
}

func (s LFR) edges(ctx context.Context, emit func(u, v int64) error) error {
	p, err := s.plan()
	if err != nil {
		return err
	}
	rng := stream(s.Seed, streamEdges)
	var w wiring
	all := make([]int32, 0, s.N)
	for _, members := range p.members {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := w.connect(rng, members, p.inside, emit); err != nil {
			return err
		}
		all = append(all, members...)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := w.connectAcross(rng, all, p.outside, p.label, emit); err != nil {
		return err
	}
	return p.checkLost(w.lost)
}

// NoPlaceError says that an LFR graph would miss more than 1 % of its edges.
type NoPlaceError struct{ Lost, Edges int64 }

func (e *NoPlaceError) Error() string {
	return fmt.Sprintf("generate: %d of %d LFR edges have no place: the communities are too small for the degrees inside, "+
		"or one holds too many of the edges between; raise MinCommunity, or lower AverageDegree, MaxDegree or MaxCommunity", e.Lost, e.Edges)
}

// checkLost refuses a graph that misses more than 1 % of its edges: its degrees
// and its mixing would not be what was asked for.
func (p *lfrPlan) checkLost(lost int64) error {
	stubs := int64(0)
	for v := range p.inside {
		stubs += int64(p.inside[v]) + int64(p.outside[v])
	}
	if lost*200 > stubs {
		return &NoPlaceError{Lost: lost, Edges: stubs / 2}
	}
	return nil
}
