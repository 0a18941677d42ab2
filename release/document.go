package release

import (
	"encoding/json"
	"fmt"
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

// sentence states the guarantee in words.
func sentence(p privacy.Params, eps, delta privacy.Decimal, list, renew string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Anybody who sees this release learns almost nothing about %s: (ε = %s, δ = %s)-differential privacy, unit %q",
		p.Unit.Protects(), eps, delta, p.Unit.String())
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
