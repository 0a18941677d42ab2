package generate

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
)

// MaxVertices is the largest number of vertices of a generated graph.
const MaxVertices = math.MaxInt32

// Spec is a model with its parameters: SBM, LFR or RMAT.
type Spec interface {
	// Validate returns nil or a *SpecError with every fault.
	Validate() error
	// Vertices is n; vertices are 0..n-1, isolated ones included.
	Vertices() int64
	// Labels is the planted community of each vertex, from 0, or nil if the
	// model plants none.
	Labels() ([]int, error)

	edges(ctx context.Context, emit func(u, v int64) error) error
}

// Generate draws the graph of spec and calls emit for each of its edges, once,
// with u < v. It returns the first error of emit, the context's error, or the
// *SpecError of a spec that does not validate.
func Generate(ctx context.Context, spec Spec, emit func(u, v int64) error) error {
	if err := spec.Validate(); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	count := 0
	return spec.edges(ctx, func(u, v int64) error {
		if count++; count&0xffff == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		if u > v {
			u, v = v, u
		}
		return emit(u, v)
	})
}

// Fault is one parameter that cannot be used.
type Fault struct {
	Field string // as in the struct
	Value any
	Bound string // what it must be
}

// SpecError lists everything that is wrong with a Spec.
type SpecError struct {
	Model  string
	Faults []Fault
}

func (e *SpecError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "generate: the %s parameters cannot be used:", e.Model)
	for i, f := range e.Faults {
		if i > 0 {
			b.WriteByte(';')
		}
		fmt.Fprintf(&b, " %s is %v, must be %s", f.Field, f.Value, f.Bound)
	}
	return b.String()
}

// faults gathers what Validate finds.
type faults struct {
	model string
	list  []Fault
}

func (f *faults) require(ok bool, field string, value any, bound string, args ...any) bool {
	if !ok {
		f.list = append(f.list, Fault{Field: field, Value: value, Bound: fmt.Sprintf(bound, args...)})
	}
	return ok
}

// within checks lo ≤ x ≤ hi; NaN is outside.
func (f *faults) within(field string, x, lo, hi float64) bool {
	return f.require(x >= lo && x <= hi, field, x, "in [%g, %g]", lo, hi)
}

func (f *faults) err() error {
	if len(f.list) == 0 {
		return nil
	}
	return &SpecError{Model: f.model, Faults: f.list}
}

// The streams of one seed. Each purpose has its own, so that the labels can be
// computed without the edges, and a change in one step leaves the others alone.
const (
	streamOrder uint64 = iota + 0x9e3779b97f4a7c15
	streamEdges
	streamDegrees
	streamSizes
	streamPlaces
	streamScramble
)

func stream(seed, purpose uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, purpose)) }

// permutation is a uniform permutation of 0..n-1.
func permutation(rng *rand.Rand, n int64) []int32 {
	p := make([]int32, n)
	for i := range p {
		j := rng.IntN(i + 1)
		p[i] = p[j]
		p[j] = int32(i)
	}
	return p
}
