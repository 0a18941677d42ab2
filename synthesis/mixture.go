package synthesis

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// Mixture places vertices in q communities from public evidence: rows of V whose noise
// has a known covariance, and labels that a private read-out published with a known chance
// of being kept. It is a Gaussian mixture with that covariance fixed, fitted by
// expectation–maximisation; clustering the rows without it would follow the noise.
type Mixture struct {
	Q, K   int
	Means  []float64 // Q×K, in whitened units: the noise of a row is the identity
	Weight []float64 // Q: share of vertices
	Keep   float64   // P(published label = own community); 1/Q without labels

	rows    []float64 // N×K, whitened
	n       int
	labels  []int32 // nil without
	keepMax float64
}

const (
	mixtureStarts = 8
	mixtureRounds = 100
	mixtureSample = 50_000 // rows that the starts are tried on
)

// NewMixture fits q communities to the rows of v (n×k) whose noise has covariance noise
// (k×k, positive definite). seed chooses the starts.
func NewMixture(v []float64, n, k int, noise *mat.Dense, q int, seed uint64) (*Mixture, error) {
	if len(v) != n*k || q < 2 || q > n {
		return nil, fmt.Errorf("synthesis: %d communities of %d rows with %d numbers", q, n, len(v))
	}
	rows, err := whiten(v, n, k, noise)
	if err != nil {
		return nil, err
	}
	sample := rows
	rng := rand.New(rand.NewPCG(seed, 0x6d6978))
	if n > mixtureSample {
		sample = make([]float64, 0, mixtureSample*k)
		for range mixtureSample {
			i := rng.IntN(n)
			sample = append(sample, rows[i*k:(i+1)*k]...)
		}
	}
	var best *Mixture
	top := math.Inf(-1)
	for range mixtureStarts {
		m := &Mixture{Q: q, K: k, Keep: 1 / float64(q), rows: sample, n: len(sample) / k}
		m.start(rng)
		if l := m.maximise(mixtureRounds / 2); l > top {
			best, top = m, l
		}
	}
	best.rows, best.n = rows, n
	best.maximise(mixtureRounds)
	return best, nil
}

// whiten divides the rows by the square root of their noise.
func whiten(v []float64, n, k int, noise *mat.Dense) ([]float64, error) {
	sym := mat.NewSymDense(k, nil)
	for i := range k {
		for j := i; j < k; j++ {
			sym.SetSym(i, j, (noise.At(i, j)+noise.At(j, i))/2)
		}
	}
	var es mat.EigenSym
	if !es.Factorize(sym, true) {
		return nil, fmt.Errorf("synthesis: the covariance of rows has no eigendecomposition")
	}
	var u mat.Dense
	es.VectorsTo(&u)
	values := es.Values(nil)
	w := mat.NewDense(k, k, nil)
	floor := 1e-12 / float64(n) // a row of unit columns has variance 1/n
	for j := range k {
		for i := range k {
			w.Set(i, j, u.At(i, j)/math.Sqrt(math.Max(values[j], floor)))
		}
	}
	out := make([]float64, n*k)
	mat.NewDense(n, k, out).Mul(mat.NewDense(n, k, v), w)
	return out, nil
}

// start puts the means on rows, each far from those before (k-means++).
func (m *Mixture) start(rng *rand.Rand) {
	m.Means, m.Weight = make([]float64, m.Q*m.K), make([]float64, m.Q)
	near := make([]float64, m.n)
	for i := range near {
		near[i] = math.Inf(1)
	}
	at := rng.IntN(m.n)
	for b := range m.Q {
		m.Weight[b] = 1 / float64(m.Q)
		copy(m.Means[b*m.K:], m.rows[at*m.K:(at+1)*m.K])
		total := 0.0
		for i := range near {
			near[i] = math.Min(near[i], m.distance(i, b))
			total += near[i]
		}
		u := rng.Float64() * total
		for at = 0; at < m.n-1; at++ {
			if u -= near[at]; u < 0 {
				break
			}
		}
	}
}

func (m *Mixture) distance(i, b int) float64 {
	sum := 0.0
	for j, x := range m.rows[i*m.K : (i+1)*m.K] {
		d := x - m.Means[b*m.K+j]
		sum += d * d
	}
	return sum
}

// posterior writes P(community | evidence) of vertex i and returns ln P(evidence).
func (m *Mixture) posterior(i int, p []float64) float64 {
	most := math.Inf(-1)
	for b := range p {
		p[b] = math.Log(m.Weight[b]+1e-300) - m.distance(i, b)/2
		if m.labels != nil {
			if int(m.labels[i]) == b {
				p[b] += math.Log(m.Keep)
			} else {
				p[b] += math.Log((1 - m.Keep) / float64(m.Q-1))
			}
		}
		most = math.Max(most, p[b])
	}
	sum := 0.0
	for b := range p {
		p[b] = math.Exp(p[b] - most)
		sum += p[b]
	}
	for b := range p {
		p[b] /= sum
	}
	return most + math.Log(sum)
}

// maximise runs rounds of EM, or fewer when they stop helping, and returns the last
// log-likelihood. Without labels the communities stay equally large: where rows are mostly
// noise their sizes cannot be told, and one community would swallow the others.
func (m *Mixture) maximise(rounds int) float64 {
	last := math.Inf(-1)
	p := make([]float64, m.Q)
	for range rounds {
		means, weight := make([]float64, m.Q*m.K), make([]float64, m.Q)
		total, kept := 0.0, 0.0
		for i := range m.n {
			total += m.posterior(i, p)
			for b, r := range p {
				weight[b] += r
				for j, x := range m.rows[i*m.K : (i+1)*m.K] {
					means[b*m.K+j] += r * x
				}
			}
			if m.labels != nil {
				kept += p[m.labels[i]]
			}
		}
		for b := range weight {
			for j := range m.K {
				if weight[b] > 0 {
					means[b*m.K+j] /= weight[b]
				}
			}
			weight[b] /= float64(m.n)
		}
		m.Means = means
		if m.labels != nil {
			m.Weight = weight
			m.Keep = math.Min(math.Max(kept/float64(m.n), 1/float64(m.Q)), m.keepMax)
		}
		if total-last < 1e-9*math.Abs(total) {
			break
		}
		last = total
	}
	return last
}

// Scores returns the public matrix Z (n×q) of a read-out: how much a neighbour speaks for
// each community. Row i is the inner products of row i with the centred means, less their
// average over the vertices (a vertex with many neighbours must not lean anywhere for
// that), divided by its range, or by the median range where its own is smaller. A vertex
// of which V says much counts fully, and no row is larger than what the read-out pays for.
func (m *Mixture) Scores() []float64 {
	centre := make([]float64, m.K)
	for b := range m.Q {
		for j := range centre {
			centre[j] += m.Means[b*m.K+j] / float64(m.Q)
		}
	}
	z, average := make([]float64, m.n*m.Q), make([]float64, m.Q)
	for i := range m.n {
		for b := range m.Q {
			x := 0.0
			for j, y := range m.rows[i*m.K : (i+1)*m.K] {
				x += y * (m.Means[b*m.K+j] - centre[j])
			}
			z[i*m.Q+b] = x
			average[b] += x / float64(m.n)
		}
	}
	spans := make([]float64, m.n)
	for i := range m.n {
		row := z[i*m.Q : (i+1)*m.Q]
		for b := range row {
			row[b] -= average[b]
		}
		spans[i] = slices.Max(row) - slices.Min(row)
	}
	sorted := slices.Clone(spans)
	slices.Sort(sorted)
	floor := sorted[m.n/2]
	for i := range m.n {
		if d := math.Max(spans[i], floor); d > 0 {
			for b := range m.Q {
				z[i*m.Q+b] /= d
			}
		}
	}
	return z
}

// Read adds published labels to the evidence and fits again. keep is the largest
// probability with which the read-out publishes a vertex's own label.
func (m *Mixture) Read(labels []int32, keep float64) error {
	if len(labels) != m.n {
		return fmt.Errorf("synthesis: %d labels for %d vertices", len(labels), m.n)
	}
	m.keepMax = math.Min(keep, 1-1e-6)
	m.labels, m.Keep = labels, m.keepMax
	m.maximise(mixtureRounds)
	return nil
}

// Place returns the likeliest community of every vertex, and the confusion matrix (q×q,
// rows add up to 1): P(placed in c | belongs to a) as the posteriors have it.
func (m *Mixture) Place() (placed []int32, confusion *mat.Dense) {
	placed = make([]int32, m.n)
	confusion = mat.NewDense(m.Q, m.Q, nil)
	p, size := make([]float64, m.Q), make([]float64, m.Q)
	for i := range m.n {
		m.posterior(i, p)
		best := 0
		for b := range p {
			if p[b] > p[best] {
				best = b
			}
		}
		placed[i] = int32(best)
		for a, r := range p {
			size[a] += r
			confusion.Set(a, best, confusion.At(a, best)+r)
		}
	}
	for a := range m.Q {
		for c := range m.Q {
			if size[a] > 0 {
				confusion.Set(a, c, confusion.At(a, c)/size[a])
			}
		}
	}
	return placed, confusion
}

// Unmix turns numbers of edges between placed communities (q×q, within on the diagonal)
// into those that a graph with the true mixing has between groups of the placed sizes: an
// edge mass T between true communities shows up as FᵀTF between placed ones, F the
// confusion matrix; the densities of T are put on the placed groups. total is kept; a
// density that noise has made negative is 0.
func Unmix(counts []float64, confusion *mat.Dense, placed []int32) ([]float64, error) {
	q, _ := confusion.Dims()
	mass := mat.NewDense(q, q, nil)
	total := 0.0
	for r := range q {
		for s := range q {
			x := math.Max(0, counts[min(r, s)*q+max(r, s)])
			if r == s {
				total += x
				x *= 2
			} else if r < s {
				total += x
			}
			mass.Set(r, s, x)
		}
	}
	size := make([]float64, q)
	for _, c := range placed {
		size[c]++
	}
	// True sizes: N = F⁻ᵀ·size.
	var inv mat.Dense
	if inv.Inverse(confusion) != nil {
		return asCounted(counts), nil // the placement says nothing about a community
	}
	var trueMass mat.Dense
	trueMass.Product(inv.T(), mass, &inv)
	var trueSize mat.VecDense
	trueSize.MulVec(inv.T(), mat.NewVecDense(q, size))
	out, sum := make([]float64, q*q), 0.0
	for r := range q {
		for s := r; s < q; s++ {
			area := math.Max(trueSize.AtVec(r), 1) * math.Max(trueSize.AtVec(s), 1)
			x := math.Max(0, trueMass.At(r, s)) / area * size[r] * size[s]
			if r == s {
				x /= 2
			}
			out[r*q+s], out[s*q+r] = x, x
			sum += x
		}
	}
	if !(sum > 0) {
		return asCounted(counts), nil
	}
	for i := range out {
		out[i] *= total / sum
	}
	return out, nil
}

// asCounted is the counts with negative ones, which noise has made, at 0.
func asCounted(counts []float64) []float64 {
	out := make([]float64, len(counts))
	for i, x := range counts {
		out[i] = math.Max(0, x)
	}
	return out
}
