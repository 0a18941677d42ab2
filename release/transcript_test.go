package release

import (
	"bytes"
	"context"
	"errors"
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/privcom/privcom/privacy"
	"github.com/privcom/privcom/privoja"
	"github.com/privcom/privcom/storage"
)

func record(step, rows, cols int, v func(i int) int32, y func(i int) int64) *privoja.Record {
	r := &privoja.Record{Step: step, Rows: rows, Cols: cols, Bits: 17, Radius: 40, Clip: 9,
		Sigma2: privacy.MustDecimal("123456789012345678901234567890"), Rho: privacy.MustDecimal("5.27e-4")}
	for i := range rows * cols {
		r.V, r.Y = append(r.V, v(i)), append(r.Y, y(i))
	}
	return r
}

func TestTranscriptRoundTrip(t *testing.T) {
	ctx := context.Background()
	rapid.Check(t, func(t *rapid.T) {
		b, err := storage.Open(ctx, "mem://")
		if err != nil {
			t.Fatal(err)
		}
		tr, err := openTranscript(ctx, b)
		if err != nil || tr.Len() != 0 {
			t.Fatalf("a new transcript has %d steps, error %v", tr.Len(), err)
		}
		var want []*privoja.Record
		rows, cols := rapid.IntRange(1, 20).Draw(t, "rows"), rapid.IntRange(1, 5).Draw(t, "cols")
		for step := range rapid.IntRange(1, 4).Draw(t, "steps") {
			r := record(step, rows, cols,
				func(int) int32 { return rapid.Int32().Draw(t, "v") }, func(int) int64 { return rapid.Int64().Draw(t, "y") })
			if _, err := tr.Append(ctx, r); err != nil {
				t.Fatal(err)
			}
			want = append(want, r)
		}
		again, err := openTranscript(ctx, b)
		if err != nil || again.Len() != len(want) {
			t.Fatalf("%d steps read of %d, error %v", again.Len(), len(want), err)
		}
		for i, w := range want {
			r, err := again.Read(ctx, i)
			if err != nil {
				t.Fatal(err)
			}
			if r.Step != w.Step || r.Rows != w.Rows || r.Cols != w.Cols || r.Bits != w.Bits || r.Radius != w.Radius || r.Clip != w.Clip ||
				r.Sigma2.Cmp(w.Sigma2) != 0 || r.Rho.Cmp(w.Rho) != 0 || !slices.Equal(r.V, w.V) || !slices.Equal(r.Y, w.Y) {
				t.Fatalf("step %d: wrote %+v, read %+v", i, w, r)
			}
		}
	})
}

func TestTranscriptKeepsOrderAndFindsDamage(t *testing.T) {
	ctx := context.Background()
	one := func(int) int32 { return 1 }
	two := func(int) int64 { return 2 }
	b := memory(t, "transcript")
	tr, err := openTranscript(ctx, b)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tr.Append(ctx, record(1, 2, 2, one, two)); err == nil {
		t.Error("step 1 went in before step 0")
	}
	for step := range 3 {
		if _, err := tr.Append(ctx, record(step, 2, 2, one, two)); err != nil {
			t.Fatal(err)
		}
	}
	// A second writer of the same step gets what stands: what was drawn once stays.
	other := &transcript{bucket: b, length: 2}
	if r, err := other.Append(ctx, record(2, 2, 2, one, func(int) int64 { return 3 })); err != nil || r.Y[0] != 2 {
		t.Errorf("a step was written twice: %+v, %v", r, err)
	}
	if other.Len() != 3 {
		t.Errorf("%d steps after that, want 3", other.Len())
	}
	// A step without its record does not exist.
	if err := b.Delete(ctx, stepKey(2)); err != nil {
		t.Fatal(err)
	}
	if again, err := openTranscript(ctx, b); err != nil || again.Len() != 2 {
		t.Errorf("%d steps, error %v; want 2", again.Len(), err)
	}
	var corrupt *storage.CorruptError
	good, err := b.ReadAll(ctx, stepKey(0))
	if err != nil {
		t.Fatal(err)
	}
	for name, bad := range map[string][]byte{
		"no line": []byte("{nonsense"), "no JSON": []byte("nonsense\n"), "another step": bytes.Replace(good, []byte(`"step":0`), []byte(`"step":1`), 1),
		"cut": good[:len(good)-1], "changed": append(bytes.Clone(good[:len(good)-20]), make([]byte, 20)...),
	} {
		if err := b.Put(ctx, stepKey(0), bad); err != nil {
			t.Fatal(err)
		}
		if _, err := tr.Read(ctx, 0); !errors.As(err, &corrupt) {
			t.Errorf("%s: %v", name, err)
		}
	}
	keys, err := b.List(ctx, "v-")
	if err != nil || len(keys) != 1 {
		t.Fatalf("one V, three times: %q, %v", keys, err)
	}
	if err := b.Put(ctx, keys[0], []byte("nonsense")); err != nil {
		t.Fatal(err)
	}
	if _, err := tr.Read(ctx, 1); !errors.As(err, &corrupt) {
		t.Errorf("V of another hash: %v", err)
	}
	if _, err := tr.Read(ctx, 7); !errors.Is(err, storage.ErrNotExist) {
		t.Errorf("a step that is not there: %v", err)
	}
}

func TestAnswersAreKeptOnce(t *testing.T) {
	ctx := context.Background()
	tr, err := openTranscript(ctx, memory(t, "transcript"))
	if err != nil {
		t.Fatal(err)
	}
	if a, err := tr.Answer(ctx, "counts"); a != nil || err != nil {
		t.Errorf("an answer of nothing: %v, %v", a, err)
	}
	huge, _ := new(big.Int).SetString("-123456789012345678901234567890", 10)
	first := &privoja.Answer{Name: "counts", Query: "q", Values: []int64{-3, 1 << 62}, Big: []*big.Int{huge}}
	for _, offered := range []*privoja.Answer{first, {Name: "counts", Query: "r", Values: []int64{4}}} {
		a, err := tr.Keep(ctx, offered)
		if err != nil {
			t.Fatal(err)
		}
		if a.Query != "q" || !slices.Equal(a.Values, first.Values) || a.Big[0].Cmp(huge) != 0 {
			t.Errorf("kept %+v", a)
		}
	}
	x, y := "weekly", "daily"
	if err := errors.Join(tr.fix(ctx, "renewed", &x), tr.fix(ctx, "renewed", &y)); err != nil || y != "weekly" {
		t.Errorf("the first value is not everybody's: %q, %v", y, err)
	}
}
