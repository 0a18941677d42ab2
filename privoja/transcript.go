package privoja

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/big"
	"slices"

	"github.com/privcom/privcom/blockmatmul"
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

// Transcript keeps what came out of the mechanisms of one reservation: the steps in order,
// and the answers after them by name.
//
// It is where noise is committed. An answer that was drawn is private until Append or Keep
// has returned it: of several that are offered for one place the first stays, everybody
// gets that one, and the others must be forgotten. So no two noisy answers to one question
// ever go further than the process that drew them, however often a run is killed and taken
// up again, and by however many coordinators at once (docs/format/run.md).
type Transcript interface {
	// Append makes r durable as step r.Step, unless that step is there already, and gives
	// the record that is. r.Step is at most Len().
	Append(ctx context.Context, r *Record) (*Record, error)
	// Len is the number of records.
	Len() int
	// Read returns record t. The caller does not change it.
	Read(ctx context.Context, t int) (*Record, error)

	// Answer returns the answer of a name, nil where there is none.
	Answer(ctx context.Context, name string) (*Answer, error)
	// Keep makes a durable under its name, unless there is an answer already, and gives
	// the answer that is.
	Keep(ctx context.Context, a *Answer) (*Answer, error)
}

// Answer is what a mechanism after the steps has said.
type Answer struct {
	Name   string     // "labels", "counts", "count" or "squares"
	Query  string     // digest of the public question (Question)
	Values []int64    // noise added
	Big    []*big.Int // likewise, where int64 is too narrow
}

// ReplayError says that a recorded answer belongs to another question than the one that
// this run asks. With the same settings, program and kind of machine that does not happen.
type ReplayError struct{ What string }

func (e *ReplayError) Error() string {
	return fmt.Sprintf("the recorded answer of %s belongs to another question: the records were made by another program or kind of machine, or were changed; nothing was drawn for it again; take the run up where it was started, or start a new one", e.What)
}

// Question is a digest of everything public about a question: the matrix that multiplies
// the graph, if any, and the parameters of the mechanism.
func Question(op *blockmatmul.Operand, parameters ...any) (string, error) {
	h := sha256.New()
	if op != nil {
		if err := binary.Write(h, binary.LittleEndian, op.Data()); err != nil {
			return "", err
		}
		parameters = append(parameters, op.Rows(), op.Cols(), op.Bits())
	}
	text, err := json.Marshal(parameters)
	if err != nil {
		return "", err
	}
	h.Write(text)
	return hex.EncodeToString(h.Sum(nil)), nil
}

// answerOnce gives the recorded answer to a question, or draws, records and gives it. booked
// books a recorded answer; draw asks the graph and adds noise, which books it too.
func answerOnce(ctx context.Context, tr Transcript, name, query string, booked func() error, draw func() (*Answer, error)) (*Answer, error) {
	have, err := tr.Answer(ctx, name)
	if err != nil {
		return nil, err
	}
	if have != nil {
		err = booked()
	} else if have, err = draw(); err == nil {
		have.Name, have.Query = name, query
		have, err = tr.Keep(ctx, have)
	}
	if err != nil {
		return nil, err
	}
	if have.Query != query {
		return nil, &ReplayError{name}
	}
	return have, nil
}

// Memory is a transcript that lives as long as the process.
type Memory struct {
	records []*Record
	answers map[string]*Answer
}

// Append implements Transcript.
func (m *Memory) Append(_ context.Context, r *Record) (*Record, error) {
	switch {
	case r.Step < len(m.records):
		return m.records[r.Step], nil
	case r.Step > len(m.records):
		return nil, fmt.Errorf("privoja: step %d appended to a transcript of %d", r.Step, len(m.records))
	}
	m.records = append(m.records, r)
	return r, nil
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

// Answer implements Transcript.
func (m *Memory) Answer(_ context.Context, name string) (*Answer, error) { return m.answers[name], nil }

// Keep implements Transcript.
func (m *Memory) Keep(_ context.Context, a *Answer) (*Answer, error) {
	if have := m.answers[a.Name]; have != nil {
		return have, nil
	}
	if m.answers == nil {
		m.answers = map[string]*Answer{}
	}
	m.answers[a.Name] = a
	return a, nil
}

// asks reports whether a record is the answer to a query of op.
func (r *Record) asks(op *blockmatmul.Operand, q privacy.Query, s privacy.Step) bool {
	return r.Bits == op.Bits() && r.Radius == op.Radius() && r.Clip == q.Clip && r.Rho.Cmp(s.Rho) == 0 && slices.Equal(r.V, op.Data())
}
