package release

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"

	"github.com/privcom/privcom/privacy"
	"github.com/privcom/privcom/privoja"
	"github.com/privcom/privcom/storage"
)

// transcript keeps the records of a run in a bucket (docs/format/run.md). What a mechanism
// has drawn is one object, which comes into being whole or not at all: its
// create-if-absent is the commit of the noise. V, which is public and the same for
// everybody who gets that far, lies beside it under the name of its hash.
type transcript struct {
	bucket *storage.Bucket
	length int
}

// openTranscript counts the steps that a bucket holds.
func openTranscript(ctx context.Context, bucket *storage.Bucket) (*transcript, error) {
	t := &transcript{bucket: bucket}
	for {
		ok, err := bucket.Exists(ctx, stepKey(t.length))
		if err != nil {
			return nil, err
		}
		if !ok {
			return t, nil
		}
		t.length++
	}
}

func stepKey(step int) string { return fmt.Sprintf("step-%05d.rec", step) }

func answerKey(name string) string { return name + ".rec" }

// recordHead is the first line of a record; the answers follow as an Arrow block of int64.
type recordHead struct {
	Step   *privoja.Record `json:"step,omitempty"`
	V      string          `json:"v,omitempty"` // object with the matrix that was multiplied
	VHash  string          `json:"v_sha256,omitempty"`
	Answer string          `json:"answer,omitempty"`
	Query  string          `json:"query_sha256,omitempty"`
	Big    []string        `json:"values,omitempty"` // answers beyond int64, decimal
	Hash   string          `json:"sha256,omitempty"` // of the block
}

func encodeRecord(h recordHead, cols int, values []int64) ([]byte, error) {
	var block []byte
	if values != nil {
		var err error
		if block, err = storage.EncodeBlock(storage.Block[int64]{Cols: cols, Data: values}); err != nil {
			return nil, err
		}
		h.Hash = sum(block)
	}
	head, err := json.Marshal(h)
	if err != nil {
		return nil, err
	}
	return append(append(head, '\n'), block...), nil
}

func decodeRecord(key string, data []byte) (h recordHead, values []int64, err error) {
	head, block, ok := bytes.Cut(data, []byte("\n"))
	if !ok {
		return h, nil, &storage.CorruptError{Key: key, Detail: "it has no first line"}
	}
	if err := json.Unmarshal(head, &h); err != nil {
		return h, nil, &storage.CorruptError{Key: key, Detail: err.Error()}
	}
	if h.Hash == "" && len(block) == 0 {
		return h, nil, nil
	}
	if sum(block) != h.Hash {
		return h, nil, &storage.CorruptError{Key: key, Detail: "the answers do not have the SHA-256 of its first line"}
	}
	b, err := storage.DecodeBlock[int64](block)
	if err != nil {
		return h, nil, fmt.Errorf("%s: %w", key, err)
	}
	return h, b.Data, nil
}

// settle makes data durable under a key, unless something is there already, and gives what
// is. An answer of storage that got lost is no answer: the object decides.
func settle(ctx context.Context, b *storage.Bucket, key string, data []byte) ([]byte, error) {
	err := b.Create(ctx, key, data)
	if err == nil {
		return data, nil
	}
	have, readErr := b.ReadAll(ctx, key)
	if readErr == nil {
		return have, nil
	}
	if errors.Is(err, storage.ErrExists) {
		return nil, readErr
	}
	return nil, err
}

// Append implements privoja.Transcript.
func (t *transcript) Append(ctx context.Context, r *privoja.Record) (*privoja.Record, error) {
	if r.Step > t.length {
		return nil, fmt.Errorf("release: step %d appended to a transcript of %d", r.Step, t.length)
	}
	v, err := storage.EncodeBlock(storage.Block[int32]{Cols: r.Cols, Data: r.V})
	if err != nil {
		return nil, err
	}
	h := recordHead{Step: r, VHash: sum(v)}
	h.V = fmt.Sprintf("v-%s.arrow", h.VHash[:24])
	mine, err := encodeRecord(h, r.Cols, r.Y)
	if err != nil {
		return nil, err
	}
	if _, err := settle(ctx, t.bucket, h.V, v); err != nil {
		return nil, err
	}
	have, err := settle(ctx, t.bucket, stepKey(r.Step), mine)
	if err != nil {
		return nil, err
	}
	t.length = max(t.length, r.Step+1)
	if bytes.Equal(have, mine) {
		return r, nil
	}
	return t.decode(ctx, r.Step, have)
}

// Len implements privoja.Transcript.
func (t *transcript) Len() int { return t.length }

// Read implements privoja.Transcript.
func (t *transcript) Read(ctx context.Context, step int) (*privoja.Record, error) {
	data, err := t.bucket.ReadAll(ctx, stepKey(step))
	if err != nil {
		return nil, err
	}
	return t.decode(ctx, step, data)
}

func (t *transcript) decode(ctx context.Context, step int, data []byte) (*privoja.Record, error) {
	h, y, err := decodeRecord(stepKey(step), data)
	if err != nil {
		return nil, err
	}
	if h.Step == nil || h.Step.Step != step {
		return nil, &storage.CorruptError{Key: stepKey(step), Detail: fmt.Sprintf("it is not the record of step %d", step)}
	}
	r := h.Step
	r.Y = y
	raw, err := t.bucket.ReadAll(ctx, h.V)
	if err != nil {
		return nil, err
	}
	if sum(raw) != h.VHash {
		return nil, &storage.CorruptError{Key: h.V, Detail: "its bytes do not have the SHA-256 that " + stepKey(step) + " names"}
	}
	v, err := storage.DecodeBlock[int32](raw)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", h.V, err)
	}
	r.V = v.Data
	return r, nil
}

// Answer implements privoja.Transcript.
func (t *transcript) Answer(ctx context.Context, name string) (*privoja.Answer, error) {
	data, err := t.bucket.ReadAll(ctx, answerKey(name))
	if errors.Is(err, storage.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return decodeAnswer(name, data)
}

func decodeAnswer(name string, data []byte) (*privoja.Answer, error) {
	h, values, err := decodeRecord(answerKey(name), data)
	if err != nil {
		return nil, err
	}
	a := &privoja.Answer{Name: h.Answer, Query: h.Query, Values: values}
	for _, text := range h.Big {
		x, ok := new(big.Int).SetString(text, 10)
		if !ok {
			return nil, &storage.CorruptError{Key: answerKey(name), Detail: fmt.Sprintf("%q is not a whole number", text)}
		}
		a.Big = append(a.Big, x)
	}
	if a.Name != name {
		return nil, &storage.CorruptError{Key: answerKey(name), Detail: "it is the answer of " + a.Name}
	}
	return a, nil
}

// Keep implements privoja.Transcript.
func (t *transcript) Keep(ctx context.Context, a *privoja.Answer) (*privoja.Answer, error) {
	h := recordHead{Answer: a.Name, Query: a.Query}
	for _, x := range a.Big {
		h.Big = append(h.Big, x.String())
	}
	mine, err := encodeRecord(h, 1, a.Values)
	if err != nil {
		return nil, err
	}
	have, err := settle(ctx, t.bucket, answerKey(a.Name), mine)
	if err != nil {
		return nil, err
	}
	return decodeAnswer(a.Name, have)
}

// fix is a small public value on which all who work on a run must agree though they may
// not read it at the same moment: the first that is kept is everybody's.
func (t *transcript) fix(ctx context.Context, name string, value any) error {
	mine, err := json.Marshal(value)
	if err != nil {
		return err
	}
	have, err := settle(ctx, t.bucket, name+".json", mine)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(have, value); err != nil {
		return &storage.CorruptError{Key: name + ".json", Detail: err.Error()}
	}
	return nil
}

// reservationSteps is where the records that a reservation paid for lie: those of another
// reservation are never taken for them.
func reservationSteps(work *storage.Bucket, g *privacy.Grant) *storage.Bucket {
	return work.Sub("steps/" + g.ID())
}
