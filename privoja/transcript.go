package privoja

import (
	"context"
	"fmt"

	"github.com/privcom/privcom/privacy"
)

// Record is one step of the public transcript: what was multiplied, and what came out
// of the mechanism.
type Record struct {
	Step   int             `json:"step"`
	Rows   int             `json:"rows"`
	Cols   int             `json:"cols"`
	Bits   uint            `json:"scale_bits"` // one unit is 2^−Bits
	Radius int64           `json:"radius"`     // r in units
	Clip   int64           `json:"clip"`       // c in units, 0: none
	Sigma2 privacy.Decimal `json:"sigma2"`     // variance parameter in squared units
	Rho    privacy.Decimal `json:"rho"`
	V      []int32         `json:"-"` // rows×cols, in units, as multiplied
	Y      []int64         `json:"-"` // rows×cols, in units, noise added
}

// check reports a record that does not hang together.
func (r *Record) check(rows, cols int) error {
	if r.Rows != rows || r.Cols != cols || len(r.V) != rows*cols || len(r.Y) != rows*cols {
		return fmt.Errorf("privoja: step %d of the transcript is %d×%d with %d and %d entries, want %d×%d",
			r.Step, r.Rows, r.Cols, len(r.V), len(r.Y), rows, cols)
	}
	return nil
}

// Transcript keeps records in step order.
type Transcript interface {
	// Append makes r durable before it returns; r.Step is Len().
	Append(ctx context.Context, r *Record) error
	// Len is the number of records.
	Len() int
	// Read returns record t. The caller does not change it.
	Read(ctx context.Context, t int) (*Record, error)
}

// Memory is a transcript that lives as long as the process.
type Memory struct{ records []*Record }

// Append implements Transcript.
func (m *Memory) Append(_ context.Context, r *Record) error {
	if r.Step != len(m.records) {
		return fmt.Errorf("privoja: step %d appended to a transcript of %d", r.Step, len(m.records))
	}
	m.records = append(m.records, r)
	return nil
}

// Len implements Transcript.
func (m *Memory) Len() int { return len(m.records) }

// Read implements Transcript.
func (m *Memory) Read(_ context.Context, t int) (*Record, error) {
	if t < 0 || t >= len(m.records) {
		return nil, fmt.Errorf("privoja: no step %d in a transcript of %d", t, len(m.records))
	}
	return m.records[t], nil
}
