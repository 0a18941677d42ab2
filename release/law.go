package release

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"slices"

	"github.com/privcom/privcom/privacy"
	"github.com/privcom/privcom/privoja"
	"github.com/privcom/privcom/synthesis"
)

// law turns the estimate into a law of edges: blocks by a read-out, or a score for every
// pair. It sets the document's spectrum and edge target.
func (r *runner) law(ctx context.Context, e *privoja.Estimate) (synthesis.Spec, error) {
	p := r.plan.Params
	katz := synthesis.Katz{Beta: p.Beta(), Order: p.Katz.Order}
	r.doc.Spectrum = r.spectrum(e, katz)
	if r.Params.reconstruction() == Blocks {
		return r.blocks(ctx, e)
	}
	var err error
	if r.doc.Edges, err = r.edgeTarget(ctx); err != nil {
		return synthesis.Spec{}, err
	}
	m, err := r.score(e, katz)
	return synthesis.Spec{Model: m}, err
}

// edgeTarget takes the public number of edges, or a noisy count.
func (r *runner) edgeTarget(ctx context.Context) (EdgeTarget, error) {
	given, auto, err := r.Params.edgeTarget()
	if err != nil {
		return EdgeTarget{}, err
	}
	if !auto {
		return EdgeTarget{Edges: given, Source: "given"}, nil
	}
	n := r.plan.Params.Vertices
	if r.Params.Profile == ProfilePaper {
		// The paper does not say how many weights to keep; without a count the number of
		// vertices stands in, and the summary says so.
		return EdgeTarget{Edges: int64(n), Source: "number of vertices (the paper names no count; give --edges)"}, nil
	}
	count, sigma2, err := privoja.CountEdges(ctx, r.plan, r.grant, r.steps, func() int64 { return r.Graph.Manifest().Arcs / 2 })
	if err != nil {
		return EdgeTarget{}, err
	}
	return r.noisyTarget(count, sigma2, 1), nil
}

// noisyTarget is a noisy number of edges, moved to the nearest that a graph can have.
func (r *runner) noisyTarget(count int64, sigma2 *big.Int, terms float64) EdgeTarget {
	n := int64(r.plan.Params.Vertices)
	s, _ := new(big.Float).Sqrt(new(big.Float).SetInt(sigma2)).Float64()
	return EdgeTarget{Edges: min(max(count, 1), n*(n-1)/2), Source: "noisy count", StdDev: s * math.Sqrt(terms)}
}

// significant is how many standard errors a held-out eigenvalue must reach: pure noise
// passes with probability 3e-5 per component.
const significant = 4

// spectrum lists the eigenvalues of A (of H̃ in the paper profile) with the noise level of
// each, and which stand above it.
func (r *runner) spectrum(e *privoja.Estimate, katz synthesis.Katz) Spectrum {
	s := Spectrum{Kept: []int{}}
	for j, x := range e.Lambda {
		level := r.plan.LambdaMin * katz.Beta
		if e.Held != nil {
			x, level = e.Held[j], significant*e.HeldNoise[j]
		}
		if r.Params.Profile != ProfilePaper {
			x, level = katz.Inverse(x), katz.Inverse(level)
		}
		s.Eigenvalues, s.NoiseLevels = append(s.Eigenvalues, x), append(s.NoiseLevels, level)
		if x > level {
			s.Kept = append(s.Kept, j)
		}
	}
	if len(s.Kept) == 0 && r.Params.Profile != ProfilePaper && r.Params.reconstruction() == Blocks {
		r.note("No eigenvalue stands above the noise. Vertices were placed all the same, along the best direction there was: with a read-out of a dense graph that can be enough, but nothing in this release shows that its communities are more than chance. `privcom plan` shows what budget could.")
	} else if len(s.Kept) == 0 && r.Params.Profile != ProfilePaper {
		r.note("No eigenvalue stands above the noise: the released graph carries nothing of the communities that could be told from chance. `privcom plan` shows what budget could.")
	}
	if how := r.Params.reconstruction(); how == Laplacian || how == PaperLiteral {
		s.Kept = s.Kept[:0] // these use every column
		for j := range s.Eigenvalues {
			s.Kept = append(s.Kept, j)
		}
	}
	return s
}

// score is the model of the paper's shape: inverse Katz or the pseudoinverse.
func (r *runner) score(e *privoja.Estimate, katz synthesis.Katz) (*synthesis.Model, error) {
	f := synthesis.Factors{N: e.N, K: e.K, V: e.V, Lambda: e.Lambda}
	if e.Held != nil {
		// What a step that the vectors did not see shows of them: smaller than Λ by their
		// error, which is the weight that they deserve.
		f.Lambda = e.Held
	}
	switch r.Params.reconstruction() {
	case Laplacian:
		return synthesis.Laplacian(f, r.Params.Alpha)
	case PaperLiteral:
		return synthesis.PaperLiteral(f, r.Params.Alpha)
	}
	f.Keep = r.doc.Spectrum.Kept
	if len(f.Keep) == 0 && !r.Params.Centre {
		f.Keep = []int{0} // without the constant part a graph needs something
	}
	m, err := synthesis.InverseKatz(f, katz)
	if err == nil && r.Params.Centre {
		// The part that centring took out: 2M/n² on the average.
		m = synthesis.AddActivity(m, 2*float64(r.doc.Edges.Edges)/float64(e.N), activity(e, f.Keep))
	}
	return m, err
}

// leastActivity is the squared activity, relative to the mean, of a vertex of which V says
// nothing.
const leastActivity = 0.1

// activity estimates from V how much each vertex takes part: in a degree-corrected block
// graph |v_i| is proportional to the vertex's propensity, so n·Σ_j λ_j·v_ij²/Σλ_j less the noise of a row is
// its square. A flat constant part instead gives every vertex the same number of random
// neighbours, which drowns the communities of graphs with hubs (docs/utility.md). Nil where
// nothing stands above the noise or the noise of rows is not known.
func activity(e *privoja.Estimate, kept []int) []float64 {
	if len(kept) == 0 || e.RowNoise == nil || e.Held == nil {
		return nil
	}
	total, noise := 0.0, 0.0
	for _, j := range kept {
		total += e.Held[j]
		noise += e.Held[j] * e.RowNoise.At(j, j) * float64(e.N)
	}
	w := make([]float64, e.N)
	for i := range w {
		square := 0.0
		for _, j := range kept {
			v := e.V[i*e.K+j]
			square += e.Held[j] * v * v * float64(e.N)
		}
		w[i] = math.Sqrt(math.Max(0, (square-noise)/total) + leastActivity)
	}
	return w
}

// blocks reads labels out, places the vertices by all public evidence, counts edges
// between the placed communities, and gives a block law with the true mixing.
func (r *runner) blocks(ctx context.Context, e *privoja.Estimate) (synthesis.Spec, error) {
	r.Progress(PhasePlace, 0, 1)
	n := e.N
	// The best component is read out whether or not it stands above the noise: the exact row
	// sums know a direction that is mostly noise far better than V does, and where there is
	// none the counted blocks come out alike. Others must stand above it.
	best := 0
	for j, x := range e.Held {
		if x > e.Held[best] {
			best = j
		}
	}
	kept := append([]int{best}, without(r.doc.Spectrum.Kept, best)...)
	r.doc.Spectrum.Kept = kept
	q := len(kept) + 1
	v, noise := columns(e, kept)
	mix, err := synthesis.NewMixture(v, n, len(kept), noise, q, r.Params.Seed)
	if err != nil {
		return synthesis.Spec{}, err
	}
	scores := mix.Scores()
	if slices.Max(scores) == slices.Min(scores) {
		scores[0]++ // V tells no two vertices apart; a read-out needs some range
	}
	if r.plan.LabelRho.Sign() > 0 {
		labels, readOut, err := privoja.ReadLabels(ctx, r.plan, r.Engine, r.grant, r.steps, scores, q)
		if err != nil {
			return synthesis.Spec{}, fmt.Errorf("reading labels: %w", err)
		}
		if err := mix.Read(labels, readOut.Keep()); err != nil {
			return synthesis.Spec{}, err
		}
	}
	counts, target, err := r.countBlocks(ctx, mix, q)
	if err != nil {
		return synthesis.Spec{}, err
	}
	r.doc.Edges = target
	if !slices.ContainsFunc(counts, func(x float64) bool { return x > 0 }) { // noise has left nothing: a flat graph
		r.placed, q, counts = make([]int32, n), 1, []float64{1}
	}
	counts = withinPairs(counts, r.placed, q, float64(target.Edges))
	return synthesis.Spec{Blocks: &synthesis.BlockModel{N: n, Q: q, Label: r.placed, Edges: counts, Weight: r.activity}}, nil
}

// without is s less every x.
func without(s []int, x int) []int {
	return slices.DeleteFunc(slices.Clone(s), func(y int) bool { return y == x })
}

// countBlocks counts edges between placed communities and inverts the placement's flips.
func (r *runner) countBlocks(ctx context.Context, mix *synthesis.Mixture, q int) ([]float64, EdgeTarget, error) {
	given, auto, err := r.Params.edgeTarget()
	if err != nil {
		return nil, EdgeTarget{}, err
	}
	placed, activity, confusion := mix.Place()
	r.placed, r.activity = placed, activity
	noisy, sigma2, err := privoja.CountBlocks(ctx, r.plan, r.Engine, r.grant, r.steps, placed, q)
	if err != nil {
		return nil, EdgeTarget{}, err
	}
	var sum int64
	counts := make([]float64, q*q)
	for i := range q {
		for j := i; j < q; j++ {
			counts[i*q+j], counts[j*q+i] = float64(noisy[i*q+j]), float64(noisy[i*q+j])
			sum += noisy[i*q+j]
		}
	}
	target := EdgeTarget{Edges: given, Source: "given"}
	if auto {
		target = r.noisyTarget(sum, sigma2, float64(q*(q+1)/2))
	}
	counts, err = synthesis.Unmix(counts, confusion, placed, activity)
	return counts, target, err
}

// mechanism is the public record of a charge.
func mechanism(c privacy.Charge) Charge {
	return Charge{Kind: c.Kind, Pure: c.Cost.Pure, Rho: c.Cost.Rho, Sigma2: text(c.Sigma2), Sensitivity2: text(c.S2)}
}

func text(x *big.Int) string {
	if x == nil {
		return ""
	}
	return x.String()
}
