package release

import (
	"context"
	"fmt"
	"math/big"
	"strings"

	"github.com/privcom/privcom/privacy"
	"github.com/privcom/privcom/storage"
)

// Check is one thing that Verify looked at.
type Check struct {
	Name string `json:"name"`
	OK   bool   `json:"ok"`
	Note string `json:"note"`
}

// Verify checks a finished release with nothing but the folder: every file's length and
// hash, the edges (ends are vertices, no loop, no repeat, as many as stated), the list of
// files, the sentence, the mechanisms that the parameters call for, and the arithmetic of the
// guarantee, from each mechanism's σ² and sensitivity to ρ and from ρ to ε. It cannot check
// that a recorded sensitivity or degree table is the one that the public V had: V of every
// step is not in the folder. Checks that fail are in the list; the error is about reading.
func Verify(ctx context.Context, b *storage.Bucket) (*Document, []Check, error) {
	d, err := Open(ctx, b)
	if err != nil {
		return nil, nil, err
	}
	v := &verifier{b: b, d: d}
	for _, step := range []func(context.Context) error{v.seal, v.files, v.strangers, v.edges, v.guarantee, v.statement} {
		if err := step(ctx); err != nil {
			return d, v.checks, err
		}
	}
	return d, v.checks, nil
}

type verifier struct {
	b      *storage.Bucket
	d      *Document
	checks []Check
}

func (v *verifier) add(name string, ok bool, format string, args ...any) {
	v.checks = append(v.checks, Check{name, ok, fmt.Sprintf(format, args...)})
}

// seal compares _SUCCESS with release.json.
func (v *verifier) seal(ctx context.Context) error {
	mark, err := v.b.ReadAll(ctx, SuccessKey)
	if err != nil {
		return err
	}
	data, err := v.b.ReadAll(ctx, DocumentKey)
	if err != nil {
		return err
	}
	v.add("seal", string(mark) == sum(data)+"  "+DocumentKey+"\n", "%s carries the hash of %s", SuccessKey, DocumentKey)
	return nil
}

func (v *verifier) files(ctx context.Context) error {
	for _, f := range v.d.Files {
		hash, bytes, err := v.b.Hash(ctx, f.Key)
		if err != nil {
			v.add(f.Key, false, "%v", err)
			continue
		}
		v.add(f.Key, hash == f.SHA256 && bytes == f.Bytes, "%d bytes, SHA-256 %.12s…", bytes, hash)
	}
	return nil
}

// strangers looks for files that the release does not list.
func (v *verifier) strangers(ctx context.Context) error {
	keys, err := v.b.List(ctx, "")
	if err != nil {
		return err
	}
	known := map[string]bool{DocumentKey: true, SuccessKey: true}
	for _, f := range v.d.Files {
		known[f.Key] = true
	}
	var extra []string
	for _, k := range keys {
		if !known[k] {
			extra = append(extra, k)
		}
	}
	v.add("list of files", len(extra) == 0, "%d listed; not listed: %s", len(v.d.Files), orNone(extra))
	return nil
}

func orNone(s []string) string {
	if len(s) == 0 {
		return "none"
	}
	return strings.Join(s, ", ")
}

func (v *verifier) edges(ctx context.Context) error {
	c, err := Read(ctx, v.b, v.d)
	if err != nil {
		v.add("edges", false, "%v", err)
		return nil
	}
	v.add("vertices", len(c.IDs) == v.d.Graph.Vertices, "%d vertices, %d stated", len(c.IDs), v.d.Graph.Vertices)
	v.add("edges", int64(len(c.Source)) == v.d.Graph.Edges, "%d simple edges between vertices, %d stated", len(c.Source), v.d.Graph.Edges)
	return nil
}

// guarantee redoes the accounting from the recorded mechanisms.
func (v *verifier) guarantee(context.Context) error {
	g := v.d.Guarantee
	total, sums := privacy.Cost{}, true
	for i, c := range v.d.Noise.Charges {
		total = total.Plus(privacy.Cost{Pure: c.Pure, Rho: c.Rho})
		if c.Sigma2 == "" {
			continue
		}
		sigma2, ok1 := new(big.Rat).SetString(c.Sigma2)
		s2, ok2 := new(big.Rat).SetString(c.Sensitivity2)
		if !ok1 || !ok2 || sigma2.Sign() <= 0 {
			v.add("noise", false, "mechanism %d has no readable σ² and S²", i+1)
			return nil
		}
		rho := s2.Quo(s2, sigma2.Mul(sigma2, big.NewRat(2, 1)))
		sums = sums && rho.Cmp(c.Rho.Rat()) <= 0
	}
	v.add("noise", sums, "S²/2σ² ≤ ρ for each of %d mechanisms", len(v.d.Noise.Charges))
	v.add("composition", total.Within(privacy.Cost{Pure: g.PureEpsilon, Rho: g.Rho}), "mechanisms add up to ρ = %s of %s and pure ε = %s of %s", total.Rho, g.Rho, total.Pure, g.PureEpsilon)
	eps := privacy.Cost{Pure: g.PureEpsilon, Rho: g.Rho}.Epsilon(g.Delta)
	v.add("guarantee", eps.Cmp(g.Epsilon) <= 0, "ρ = %s and pure ε = %s are (%s, %s)-DP; stated ε = %s", g.Rho, g.PureEpsilon, eps, g.Delta, g.Epsilon)
	return nil
}

// statement rebuilds what the document says in words and counts from its resolved
// parameters: the sentence, the unit, the bound, and how many mechanisms must have run.
func (v *verifier) statement(context.Context) error {
	g, p := v.d.Guarantee, v.d.Resolved
	want := sentence(p, g.Epsilon, g.Delta, v.d.Graph.VertexSource, g.Renewed)
	v.add("sentence", g.Sentence == want, "the sentence is the one that the numbers make")
	bound := int64(0)
	if p.Unit.PerVertex() {
		bound = p.DegreeBound
	}
	v.add("unit", g.Unit == p.Unit && g.DegreeBound == bound && g.Delta.Cmp(p.Target.Delta) == 0 && p.Vertices == v.d.Graph.Vertices,
		"unit, degree bound, δ and vertices are those of the parameters")
	have := map[string]int{}
	for _, c := range v.d.Noise.Charges {
		have[c.Kind]++
	}
	steps, squares, labels := p.Steps, 0, 0
	if v.d.Parameters.Profile == ProfilePaper {
		squares = p.Rank
	}
	if p.LabelShare > 0 {
		labels = 1
	}
	ok := have["matrix"] == steps && have["square"] == squares && have["labels"] <= labels && have["counts"] <= 1 &&
		len(v.d.Noise.Charges) == have["matrix"]+have["square"]+have["labels"]+have["counts"]
	v.add("mechanisms", ok, "%d steps, %d eigenvalues, %d read-outs, %d counts are recorded, as the parameters have it", have["matrix"], have["square"], have["labels"], have["counts"])
	return nil
}
