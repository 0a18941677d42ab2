package release

import (
	"context"
	"errors"
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
			if err := tr.Append(ctx, r); err != nil {
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
	if err := tr.Append(ctx, record(1, 2, 2, one, two)); err == nil {
		t.Error("step 1 went in before step 0")
	}
	for step := range 3 {
		if err := tr.Append(ctx, record(step, 2, 2, one, two)); err != nil {
			t.Fatal(err)
		}
	}
	// A second writer of the same step is refused: what was drawn once stays.
	other := &transcript{bucket: b, length: 2}
	if err := other.Append(ctx, record(2, 2, 2, one, func(int) int64 { return 3 })); !errors.Is(err, storage.ErrExists) {
		t.Errorf("a step was written twice: %v", err)
	}
	// A step without its last object does not exist.
	if err := b.Delete(ctx, stepKey(2, "json")); err != nil {
		t.Fatal(err)
	}
	if again, err := openTranscript(ctx, b); err != nil || again.Len() != 2 {
		t.Errorf("%d steps, error %v; want 2", again.Len(), err)
	}
	var corrupt *storage.CorruptError
	for _, key := range []string{stepKey(0, "json"), stepKey(1, "v.arrow"), stepKey(1, "y.arrow")} {
		if err := b.Put(ctx, key, []byte("{nonsense")); err != nil {
			t.Fatal(err)
		}
	}
	for step := range 2 {
		if _, err := tr.Read(ctx, step); !errors.As(err, &corrupt) {
			t.Errorf("step %d: %v", step, err)
		}
	}
	if _, err := tr.Read(ctx, 7); !errors.Is(err, storage.ErrNotExist) {
		t.Errorf("a step that is not there: %v", err)
	}
}
