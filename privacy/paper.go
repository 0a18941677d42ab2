package privacy

import (
	"fmt"
	"math"
	"math/big"
)

// betaBits is the precision of a decay factor as Num·2^−Bits: 20 significant bits,
// rounded down, so that a bound that holds for the decimal holds for what runs.
const betaBits = 20

// DecayFactor is β > 0 as a dyadic number, rounded down to 20 significant bits.
func DecayFactor(beta *big.Rat) (num int64, bits uint, err error) {
	if beta.Sign() <= 0 {
		return 0, 0, fmt.Errorf("beta must be positive")
	}
	x := new(big.Rat).Set(beta)
	limit := new(big.Rat).SetInt64(1 << betaBits)
	two := big.NewRat(2, 1)
	for ; x.Cmp(limit) < 0; bits++ {
		if bits > 126 {
			return 0, 0, fmt.Errorf("beta is below 2^-106")
		}
		x.Mul(x, two)
	}
	q := new(big.Int).Quo(x.Num(), x.Denom())
	if !q.IsInt64() {
		return 0, 0, fmt.Errorf("beta is too large")
	}
	return q.Int64(), bits, nil
}

// PaperBeta is the largest β of the paper's Lemma on the sensitivity of g_τ:
// 1/((n−1)(n^{3/2}·k^{1/2}+1)), with the root rounded up.
func PaperBeta(n, k int) *big.Rat {
	root := new(big.Int).Exp(big.NewInt(int64(n)), big.NewInt(3), nil)
	root = ceilRoot(root.Mul(root, big.NewInt(int64(k))))
	root.Add(root, big.NewInt(1)).Mul(root, big.NewInt(int64(n-1)))
	return new(big.Rat).SetFrac(big.NewInt(1), root)
}

// PaperPlan is the schedule of the paper's Algorithm 1: every one of γ Oja steps and k
// eigenvalues gets ε/(γ+k) and δ/(γ+k) by basic composition (Theorem "PrivCom
// satisfies Σ(ε_i, δ_i)"), with σ = √(2 ln(1.25/δ_i))/ε_i and S = 1 in units of H̃V.
//
// Each such Gaussian is 1/(2σ²)-zCDP, so the certified cost is the sum of those; it is
// below (ε, δ) whenever the paper's rule is valid, and the plan is refused where it is
// not.
func PaperPlan(p Params) (*Plan, error) {
	p.ClipStart, p.ClipEnd, p.CountShare = 0, 0, 0
	if err := p.Validate(); err != nil {
		return nil, err
	}
	mechanisms := float64(p.Steps + p.Rank)
	eps, delta := p.Target.Epsilon.Float()/mechanisms, p.Target.Delta.Float()/mechanisms
	sigma := ClassicSigma(eps, delta)
	each := decimalOf(1/(2*sigma*sigma), false)
	plan := &Plan{Params: p, Steps: make([]Step, p.Steps), EigenRho: each, PaperSigma: sigma}
	for range p.Steps + p.Rank {
		plan.Rho = plan.Rho.Add(each)
	}
	plan.Cost = Cost{Rho: plan.Rho}
	if got := plan.Cost.Epsilon(p.Target.Delta); got.Cmp(p.Target.Epsilon) > 0 {
		return nil, fmt.Errorf("the paper's calibration gives each of its %d mechanisms epsilon %.3g, and its Gaussian rule holds only below 1: the certified epsilon would be %s, more than %s; use more --steps or a smaller --epsilon",
			p.Steps+p.Rank, eps, got, p.Target.Epsilon)
	}
	n := float64(p.Vertices)
	for t := range plan.Steps {
		// η = 1/(γσ√n) on H̃V = β·W: the step multiplies the noisy W.
		plan.Steps[t] = Step{Rho: each, Eta: p.Beta() / (float64(p.Steps) * sigma * math.Sqrt(n))}
	}
	// In units of an eigenvalue of A a column of noise has norm σ√n/β.
	plan.NoiseNorm = sigma * math.Sqrt(n) / p.Beta()
	plan.LambdaMin = plan.NoiseNorm * math.Sqrt(math.Log(n)) // each step alone; the paper does not grow its budget
	return plan, nil
}

// Beta is the decay factor β.
func (p Params) Beta() float64 { return math.Ldexp(float64(p.Katz.Num), -int(p.Katz.Bits)) }

// BasicComposition is the ε that the paper's rule (its Theorem on composition, with the
// classic Gaussian of section III-B) would count for the same noise: every Gaussian
// mechanism ε_i = √(2 ln(1.25/δ_i))·√(2ρ_i) at δ_i = δ/#mechanisms, and the pure part, added
// up. A reference: the classic rule holds only for ε_i < 1.
func (plan *Plan) BasicComposition() float64 {
	rhos := []float64{plan.CountRho.Float(), plan.LabelRho.Float()}
	for _, s := range plan.Steps {
		rhos = append(rhos, s.Rho.Float())
	}
	for range plan.Params.Rank {
		rhos = append(rhos, plan.EigenRho.Float())
	}
	count := 0.0
	for _, r := range rhos {
		if r > 0 {
			count++
		}
	}
	sum := plan.OwnEpsilon.Float()
	for _, r := range rhos {
		sum += ClassicSigma(1, plan.Params.Target.Delta.Float()/count) * math.Sqrt(2*r)
	}
	return sum
}

// PaperSteps is the paper's γ = min{1/β, ‖H̃‖²/(σ√n)} with the public bound
// ‖H̃‖ ≤ Σ (β(n−1))^l in place of the private norm, at least 1.
func PaperSteps(p Params) int {
	x := p.Beta() * float64(p.Vertices-1)
	norm := 0.0
	for l := 1; l <= p.Katz.Order; l++ {
		norm += math.Pow(x, float64(l))
	}
	sigma := ClassicSigma(p.Target.Epsilon.Float(), p.Target.Delta.Float())
	gamma := math.Min(1/p.Beta(), norm*norm/(sigma*math.Sqrt(float64(p.Vertices))))
	return int(math.Max(1, math.Min(1e5, math.Floor(gamma))))
}

// PaperUnits is S = 1 of the paper's Lemma as a squared sensitivity of W = H̃V/β in
// units of 2^−scaleBits: ⌈(2^scaleBits/β)²⌉.
func PaperUnits(k Katz, scaleBits uint) *big.Int {
	num := new(big.Int).Lsh(big.NewInt(1), k.Bits+scaleBits)
	num.Mul(num, num)
	den := new(big.Int).Mul(big.NewInt(k.Num), big.NewInt(k.Num))
	q, r := num.QuoRem(num, den, new(big.Int))
	if r.Sign() > 0 {
		q.Add(q, big.NewInt(1))
	}
	return q
}
