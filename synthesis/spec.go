package synthesis

import (
	"context"
	"errors"
	"fmt"
)

// Handler computes one item on a shard. Its result is a function of params and
// of the immutable objects that they name.
type Handler func(ctx context.Context, params []byte) ([]byte, error)

// Runner spreads items over workers. results[i] belongs to items[i]. An item may
// run several times, here or there; the results are the same bytes.
type Runner interface {
	Run(ctx context.Context, kind string, items [][]byte) ([][]byte, error)
}

// The kinds of items.
const (
	KindEstimate = "synthesis-estimate" // sample scores to solve for τ
	KindSample   = "synthesis-sample"   // draw the edges of some rows, write a part
)

// Object names an immutable object of a bucket.
type Object struct {
	Key    string `json:"key"`
	Rows   int64  `json:"rows"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// Nodes is the public vertex list: Parquet files with a column "id", whose rows
// taken together are the vertices 0, 1, 2, ….
type Nodes struct {
	Bucket string `json:"bucket"` // URL for storage.Open
	// Type of an id: "uint64" (a 64-bit integer column) or "string".
	Type  string   `json:"type"`
	Files []Object `json:"files"`
}

// Spec says what to generate.
type Spec struct {
	// Exactly one law: a score with a target, or blocks with counts.
	Model  *Model
	Blocks *BlockModel
	// Edges is the expected number of edges, for the score law.
	Edges float64
	// Seed of all randomness here; public.
	Seed uint64
	// Nodes names the ids that stand in the edge files.
	Nodes Nodes
	// Output is the URL of the bucket for the parts edges-00000-of-000NN-<hash>.parquet.
	Output string
	// Scratch is the URL of a bucket for the model, which all workers read. It is
	// public; the caller removes it when the run is over.
	Scratch string
	// EdgesPerPart is the expected number of edges of a part, default 2^19.
	// Parts do not depend on the number of workers.
	EdgesPerPart int64
}

// Result is what Generate made.
type Result struct {
	Parts    []Object `json:"parts"`
	Edges    int64    `json:"edges"`
	Expected float64  `json:"expected"`
	// Tau is nil for the block law.
	Tau *Tau `json:"tau,omitempty"`
}

func (s *Spec) validate() error {
	var faults []error
	if (s.Model == nil) == (s.Blocks == nil) {
		faults = append(faults, errors.New("synthesis: want exactly one of Model and Blocks"))
	}
	n := 0
	if s.Model != nil {
		n = s.Model.N
		faults = append(faults, s.Model.Check())
	}
	if s.Blocks != nil {
		n = s.Blocks.N
		faults = append(faults, s.Blocks.Check())
	}
	if s.Nodes.Type != idUint64 && s.Nodes.Type != idString {
		faults = append(faults, fmt.Errorf("synthesis: id type %q is neither %q nor %q", s.Nodes.Type, idUint64, idString))
	}
	var rows int64
	for _, f := range s.Nodes.Files {
		rows += f.Rows
	}
	if rows != int64(n) {
		faults = append(faults, fmt.Errorf("synthesis: node files list %d vertices, the model has %d", rows, n))
	}
	if s.EdgesPerPart < 0 {
		faults = append(faults, fmt.Errorf("synthesis: %d edges per part; want a number > 0, or 0 for the default", s.EdgesPerPart))
	}
	return errors.Join(faults...)
}
