package release

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/privcom/privcom/privacy"
)

// Names of the folder's fixed objects.
const (
	DocumentKey = "release.json"
	ReportKey   = "release.html"
	SuccessKey  = "_SUCCESS"
	NodesKey    = "nodes.parquet"
	FactorsKey  = "factors.parquet"
	LabelsKey   = "communities.parquet"
)

// FormatVersion is the version of the folder's layout (docs/format/release.md).
const FormatVersion = 1

// Document is release.json.
type Document struct {
	Format     string         `json:"format"` // "privcom-release"
	Version    int            `json:"version"`
	Tool       string         `json:"tool"`
	Created    time.Time      `json:"created"`
	ID         string         `json:"id"` // the run's id, also in the ledger
	Dataset    string         `json:"dataset"`
	Guarantee  Guarantee      `json:"guarantee"`
	Graph      Released       `json:"graph"`
	Parameters Params         `json:"parameters"`
	Resolved   privacy.Params `json:"resolved"`
	Noise      Noise          `json:"noise"`
	Spectrum   Spectrum       `json:"spectrum"`
	Edges      EdgeTarget     `json:"edge_target"`
	Ledger     LedgerRef      `json:"ledger"`
	Files      []File         `json:"files"`
	Notes      []string       `json:"notes,omitempty"`
}

// Guarantee is the promise in a sentence and in numbers.
type Guarantee struct {
	Sentence    string              `json:"sentence"`
	Unit        privacy.Unit        `json:"unit"`
	Epsilon     privacy.Decimal     `json:"epsilon"`
	Delta       privacy.Decimal     `json:"delta"`
	Rho         privacy.Decimal     `json:"rho"`
	PureEpsilon privacy.Decimal     `json:"pure_epsilon"`
	DegreeBound int64               `json:"degree_bound,omitempty"`
	Renewed     string              `json:"budget_renewed,omitempty"` // daily, weekly, monthly or yearly
	DegreeTable []privacy.DegreeRow `json:"degree_table,omitempty"`
	// References, not certified: the exact curve of a continuous Gaussian of the same ρ,
	// and the paper's basic composition where its profile ran.
	GaussianDelta float64 `json:"reference_gaussian_delta"`
	PaperSum      string  `json:"reference_basic_composition,omitempty"`
}

// Released describes the synthetic graph.
type Released struct {
	Vertices     int    `json:"vertices"`
	Edges        int64  `json:"edges"`
	IDType       string `json:"id_type"`
	VertexSource string `json:"vertex_source"` // "input" or "list"
}

// Noise is what was added, step by step.
type Noise struct {
	Norm      float64  `json:"norm"` // N, in units of an eigenvalue of A
	LambdaMin float64  `json:"lambda_min"`
	Charges   []Charge `json:"mechanisms"`
}

// Charge is one mechanism that ran: its discrete Gaussian has variance parameter Sigma2
// and its query sensitivity √Sensitivity2 at the degree bound, both in squared units, so
// that ρ ≥ Sensitivity2/(2·Sigma2).
type Charge struct {
	Kind         string          `json:"kind"`
	Pure         privacy.Decimal `json:"pure_epsilon"`
	Rho          privacy.Decimal `json:"rho"`
	Sigma2       string          `json:"sigma2,omitempty"`
	Sensitivity2 string          `json:"sensitivity2,omitempty"`
}

// Spectrum is the estimated eigenvalues of A (of H̃ in the paper profile). Each is
// estimated from the last step alone, for vectors that had not seen that step's noise; one
// of pure noise stays below its level but for 3 cases in 100,000.
type Spectrum struct {
	Eigenvalues []float64 `json:"eigenvalues"`
	NoiseLevels []float64 `json:"noise_levels"`
	Kept        []int     `json:"kept"` // columns that stand above it and entered the reconstruction
}

// EdgeTarget says where the number of edges came from.
type EdgeTarget struct {
	Edges    int64   `json:"edges"`
	Source   string  `json:"source"` // "noisy count" or "given"
	StdDev   float64 `json:"standard_deviation,omitempty"`
	Tau      float64 `json:"tau"`
	Expected float64 `json:"expected_edges"`
}

// LedgerRef points to the entry that paid.
type LedgerRef struct {
	Dataset string `json:"dataset"`
	Entry   string `json:"entry"`
}

// File is one object of the folder.
type File struct {
	Key    string `json:"key"`
	Rows   int64  `json:"rows,omitempty"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// marshal is the byte form of the document.
func (d *Document) marshal() ([]byte, error) {
	b, err := json.MarshalIndent(d, "", "  ")
	return append(b, '\n'), err
}

// factor is e^ε for people, rounded up to three digits.
func factor(eps privacy.Decimal) string {
	e := eps.Float() / math.Ln10
	if e < 5 {
		x := math.Exp(eps.Float())
		unit := math.Pow(10, math.Floor(math.Log10(x))-2)
		return strconv.FormatFloat(math.Ceil(x/unit)*unit, 'g', 3, 64)
	}
	return fmt.Sprintf("10^%.0f", math.Ceil(e))
}

// weakness says what a person must know about a guarantee that promises little; "" where
// it promises something.
func weakness(eps, delta privacy.Decimal, n int) string {
	var s []string
	if eps.Float() > 10 {
		s = append(s, fmt.Sprintf("An epsilon of %s protects against almost nothing: the odds may change by a factor of %s.", eps, factor(eps)))
	}
	if delta.Float() >= 1/float64(n) {
		s = append(s, fmt.Sprintf("A delta of %s is not below one over the number of people, %d: a mechanism that publishes somebody's data outright would pass it. Choose a smaller --delta.", delta, n))
	}
	return strings.Join(s, " ")
}

// sentence states the guarantee in words.
func sentence(p privacy.Params, eps, delta privacy.Decimal, list, renew string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "This release is (ε = %s, δ = %s)-differentially private for the unit %q: to anybody who sees it, the odds of any guess about %s change by at most a factor of %s, except in cases of probability δ",
		eps, delta, p.Unit.String(), p.Unit.Protects(), factor(eps))
	if p.Unit.PerVertex() {
		if p.DegreeBound >= int64(p.Vertices-1) {
			b.WriteString(", for every person whatever the number of contacts")
		} else {
			fmt.Fprintf(&b, ", for every person with at most %d contacts; the degree table says what holds for others", p.DegreeBound)
		}
	}
	b.WriteString(". ")
	if period := map[string]string{"daily": "day", "weekly": "week", "monthly": "month", "yearly": "year"}[renew]; period != "" {
		fmt.Fprintf(&b, "The data set's budget is granted anew per %s, so that what its releases promise together holds per %s; over several it adds up. ", period, period)
	}
	if list == "list" {
		b.WriteString("The vertex list was given on its own and is public.")
	} else {
		b.WriteString("The vertex list is public: it is what the input file names. Who is listed only because of an edge is thereby known to have one; give an independent list (--vertices) to avoid that. Dropping vertices for having no edge would leak, so none are dropped.")
	}
	return b.String()
}
