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
// of being kept. In a degree-corrected block graph (Karrer & Newman 2011) the row of a
// vertex of community b and activity θ lies on a ray:
//
//	row = θ·mean_b + noise,   θ on a fixed grid of scales, whose shares are fitted.
//
// It is a Gaussian mixture with the covariance of the noise fixed, fitted by
// expectation–maximisation: clustering the rows without it would follow the noise, and
// without the scales it would tell hubs from others instead of communities.
type Mixture struct {
	Q, K   int
	Means  []float64 // Q×K, in whitened units: the noise of a row is the identity
	Weight []float64 // Q: share of vertices
	Scale  []float64 // shares of the grid of scales
	Keep   float64   // P(published label = own community); 1/Q without labels

	rows    []float64 // N×K, whitened
	n       int
	labels  []int32 // nil without
	keepMax float64
}

const (
	mixtureStarts = 8
	mixtureTrial  = 12 // rounds of each start
	mixtureRounds = 100
	mixtureSample = 50_000 // rows that the model is fitted to
)

// scales is the grid of θ: six times less than typical to six times more, a factor of 1.6
// apart.
var scales = func() (s [9]float64) {
	for g := range s {
		s[g] = math.Exp2(float64(g-len(s)/2) * 2 / 3)
	}
	return s
}()

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
	rng := rand.New(rand.NewPCG(seed, 0x6d6978))
	var best *Mixture
	top := math.Inf(-1)
	for range mixtureStarts {
		m := &Mixture{Q: q, K: k, Keep: 1 / float64(q), rows: rows, n: n}
		m.start(rng)
		if l := m.maximise(mixtureTrial); l > top {
			best, top = m, l
		}
	}
	best.maximise(mixtureRounds)
	return best, nil
}

// sample visits the rows that the model is fitted to: all, or evenly spaced ones.
func (m *Mixture) sample(visit func(i int)) {
	take := min(m.n, mixtureSample)
	for a := range take {
		visit(int(int64(a) * int64(m.n) / int64(take)))
	}
}

// start puts the means on the rays of rows, each far from those before (k-means++ on rays),
// with the length of a typical row, and most of the scales near 1.
func (m *Mixture) start(rng *rand.Rand) {
	m.Means, m.Weight = make([]float64, m.Q*m.K), make([]float64, m.Q)
	m.Scale = make([]float64, len(scales))
	total := 0.0
	for g := range scales {
		m.Scale[g] = math.Exp2(-1.5 * math.Abs(float64(g-len(scales)/2)))
		total += m.Scale[g]
	}
	for g := range scales {
		m.Scale[g] /= total
	}
	near, square, rows := make([]float64, m.n), 0.0, 0
	m.sample(func(i int) {
		for _, x := range m.rows[i*m.K : (i+1)*m.K] {
			near[i] += x * x
		}
		square += near[i]
		rows++
	})
	length := math.Sqrt(math.Max(square/float64(rows)-float64(m.K), 0.01))
	for b := range m.Q {
		m.Weight[b] = 1 / float64(m.Q)
		sum, at := 0.0, 0
		for _, d := range near {
			sum += d
		}
		u := rng.Float64() * sum
		for at = 0; at < m.n-1; at++ {
			if u -= near[at]; u < 0 {
				break
			}
		}
		mean := m.Means[b*m.K : (b+1)*m.K]
		copy(mean, m.rows[at*m.K:(at+1)*m.K])
		norm := math.Sqrt(dot(mean, mean))
		for j := range mean {
			if norm > 0 {
				mean[j] *= length / norm
			}
		}
		m.sample(func(i int) {
			row := m.rows[i*m.K : (i+1)*m.K]
			along := math.Max(0, dot(row, mean)) / length
			near[i] = math.Max(0, math.Min(near[i], dot(row, row)-along*along))
		})
	}
}

func dot(a, b []float64) float64 {
	sum := 0.0
	for j, x := range a {
		sum += x * b[j]
	}
	return sum
}

// evidence is what one vertex says: P(community) and, per community, the mean and mean
// square of its scale.
type evidence struct {
	p, scale, square []float64
	joint            []float64 // Q×scales, scratch
	shares           []float64 // ln of the shares of the scales
}

func (m *Mixture) newEvidence() *evidence {
	e := &evidence{make([]float64, m.Q), make([]float64, m.Q), make([]float64, m.Q), make([]float64, m.Q*len(scales)), make([]float64, len(scales))}
	for g, x := range m.Scale {
		e.shares[g] = math.Log(x + 1e-300)
	}
	return e
}

// posterior fills e for vertex i and returns ln P(evidence).
func (m *Mixture) posterior(i int, e *evidence) float64 {
	row := m.rows[i*m.K : (i+1)*m.K]
	base, most := dot(row, row), math.Inf(-1)
	for b := range m.Q {
		mean := m.Means[b*m.K : (b+1)*m.K]
		along, length := dot(row, mean), dot(mean, mean)
		prior := math.Log(m.Weight[b] + 1e-300)
		if m.labels != nil {
			if int(m.labels[i]) == b {
				prior += math.Log(m.Keep)
			} else {
				prior += math.Log((1 - m.Keep) / float64(m.Q-1))
			}
		}
		for g, s := range scales {
			l := prior + e.shares[g] + s*along - s*s*length/2
			e.joint[b*len(scales)+g] = l
			most = math.Max(most, l)
		}
	}
	sum := 0.0
	for b := range m.Q {
		p, first, second := 0.0, 0.0, 0.0
		for g, s := range scales {
			x := 0.0
			if l := e.joint[b*len(scales)+g] - most; l > -40 { // below, a term adds nothing
				x = math.Exp(l)
			}
			e.joint[b*len(scales)+g] = x
			p, first, second = p+x, first+s*x, second+s*s*x
		}
		e.p[b], e.scale[b], e.square[b] = p, first, second
		sum += p
	}
	for b := range m.Q {
		e.p[b], e.scale[b], e.square[b] = e.p[b]/sum, e.scale[b]/sum, e.square[b]/sum
	}
	for g := range e.joint {
		e.joint[g] /= sum
	}
	return most + math.Log(sum) - base/2
}

// maximise runs rounds of EM, or fewer when they stop helping, and returns the last
// log-likelihood. Without labels the communities stay equally large: where rows are mostly
// noise their sizes cannot be told, and one community would swallow the others.
func (m *Mixture) maximise(rounds int) float64 {
	last := math.Inf(-1)
	for range rounds {
		e := m.newEvidence()
		var (
			weight, length = make([]float64, m.Q), make([]float64, m.Q)
			toward         = make([]float64, m.Q*m.K)
			scale          = make([]float64, len(scales))
			total, kept, n float64
		)
		m.sample(func(i int) {
			total += m.posterior(i, e)
			n++
			row := m.rows[i*m.K : (i+1)*m.K]
			for b, r := range e.p {
				weight[b] += r
				length[b] += e.square[b]
				for j, x := range row {
					toward[b*m.K+j] += e.scale[b] * x
				}
				for g := range scales {
					scale[g] += e.joint[b*len(scales)+g]
				}
			}
			if m.labels != nil {
				kept += e.p[m.labels[i]]
			}
		})
		for b := range m.Q {
			for j := range m.K {
				if length[b] > 0 {
					m.Means[b*m.K+j] = toward[b*m.K+j] / length[b]
				}
			}
			weight[b] /= n
		}
		for g := range scale {
			m.Scale[g] = scale[g] / n
		}
		if m.labels != nil {
			m.Weight = weight
			m.Keep = math.Min(math.Max(kept/n, 1/float64(m.Q)), m.keepMax)
		}
		if total-last < 1e-6*math.Abs(total) {
			break
		}
		last = total
	}
	return last
}

// Scores returns the public matrix Z (n×q) of a read-out: 1 at the likeliest community of
// each vertex, less the shares of the communities, so that a vertex with many neighbours
// leans nowhere for that. A read-out is paid for by the range of a row of Z, and of all
// rows within a range the sharp one says most. A vertex of which V says nothing has a row
// of zeros.
func (m *Mixture) Scores() []float64 {
	z, average := make([]float64, m.n*m.Q), make([]float64, m.Q)
	activity, total := m.Activity(), 0.0
	e := m.newEvidence()
	for i := range m.n {
		m.posterior(i, e)
		best := 0
		for b, p := range e.p {
			if p > e.p[best] {
				best = b
			}
		}
		if e.p[best] > (1+1e-9)/float64(m.Q) {
			z[i*m.Q+best] = 1
			average[best] += activity[i]
		}
		total += activity[i]
	}
	for i := range m.n {
		row := z[i*m.Q : (i+1)*m.Q]
		for b := range row {
			row[b] -= average[b] / total
		}
		if span := slices.Max(row) - slices.Min(row); span > 1 { // of a small community
			for b := range row {
				row[b] /= span
			}
		}
	}
	return z
}

// Activity is the posterior mean of θ for every vertex: how much it takes part.
func (m *Mixture) Activity() []float64 {
	out := make([]float64, m.n)
	e := m.newEvidence()
	for i := range out {
		m.posterior(i, e)
		for _, s := range e.scale {
			out[i] += s
		}
	}
	return out
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

// Place returns the likeliest community of every vertex, its activity, and the confusion
// matrix (q×q, rows add up to 1): the share of the edge ends of community a that are placed
// in c, as the posteriors have it.
func (m *Mixture) Place() (placed []int32, activity []float64, confusion *mat.Dense) {
	placed, activity = make([]int32, m.n), make([]float64, m.n)
	confusion = mat.NewDense(m.Q, m.Q, nil)
	size := make([]float64, m.Q)
	e := m.newEvidence()
	for i := range m.n {
		m.posterior(i, e)
		best := 0
		for b := range e.p {
			if e.p[b] > e.p[best] {
				best = b
			}
			activity[i] += e.scale[b]
		}
		placed[i] = int32(best)
		for a, s := range e.scale {
			size[a] += s
			confusion.Set(a, best, confusion.At(a, best)+s)
		}
	}
	for a := range m.Q {
		for c := range m.Q {
			if size[a] > 0 {
				confusion.Set(a, c, confusion.At(a, c)/size[a])
			}
		}
	}
	return placed, activity, confusion
}
