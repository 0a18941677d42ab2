//go:build unix

package release

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/privcom/privcom/privacy"
	"github.com/privcom/privcom/storage"
)

// wreck is what a dead release has left.
type wreck struct {
	parts, reserved, noise, sealed, committed bool
}

// stage is how far the release got.
func (w wreck) stage() string {
	switch {
	case w.sealed:
		return "sealed"
	case w.committed:
		return "committed"
	case w.noise:
		return "noise"
	case w.reserved:
		return "reserved"
	case w.parts:
		return "parts"
	}
	return "nothing"
}

// examine looks at what a release in o's folders left, tries another run in its folder, takes
// the dead run up again, and makes a release of the same data set elsewhere.
func examine(t *testing.T, o Options) wreck {
	t.Helper()
	ctx := t.Context()
	before := ledgerState(t, o)
	out := list(t, o.Out, "")
	steps := slices.DeleteFunc(list(t, o.Work, "steps/"), func(k string) bool { return !strings.HasSuffix(k, ".rec") })
	w := wreck{parts: len(out) > 0, reserved: len(before.Reservations) > 0, noise: len(steps) > 0, sealed: slices.Contains(out, SuccessKey)}
	w.committed = w.reserved && before.Reservations[0].Status == privacy.Committed
	checkWreck(t, o, w, before, out)

	if len(out) > 0 {
		other := o
		other.ID, other.Work = "other", memory(t, "work")
		_, err := Run(ctx, other)
		refused(t, err, o.Out.URL())
		if left := list(t, o.Out, ""); !slices.Equal(left, out) {
			t.Errorf("a refusal made of %v %v", out, left)
		}
		if s := ledgerState(t, o); len(s.Entries) != len(before.Entries) {
			t.Errorf("a refusal made %d entries of %d", len(s.Entries), len(before.Entries))
		}
	}
	before = takeUpAgain(t, o, before)

	// Elsewhere life goes on, and what was reserved stays spent.
	o.ID, o.Resume, o.Out, o.Work = "later", false, memory(t, "out"), memory(t, "work")
	d, err := Run(ctx, o)
	if err != nil {
		t.Fatalf("a later release: %v", err)
	}
	want := privacy.Cost{}
	for range len(before.Reservations) + 1 {
		want = want.Plus(privacy.Cost{Pure: d.Guarantee.PureEpsilon, Rho: d.Guarantee.Rho})
	}
	if got := ledgerState(t, o).Spent(o.Params.Unit); !want.Within(got) {
		t.Errorf("spent %v after %d reservations of the dead run and a release, want %v", got, len(before.Reservations), want)
	}
	return w
}

// takeUpAgain resumes a dead run: it ends with one reservation, which is the one that it
// had, and with the bytes that a run which was never disturbed makes of the same records.
func takeUpAgain(t *testing.T, o Options, before privacy.State) privacy.State {
	t.Helper()
	ctx := t.Context()
	d, err := Run(ctx, o)
	if err != nil {
		t.Fatalf("taking the run up again: %v", err)
	}
	after := ledgerState(t, o)
	if len(after.Reservations) != 1 || after.Reservations[0].Status != privacy.Committed || after.Reservations[0].Commit.Release != o.ID {
		t.Fatalf("after the resumed run the ledger holds %+v", after.Reservations)
	}
	if len(before.Reservations) == 1 && before.Reservations[0].Reserve.ID != after.Reservations[0].Reserve.ID {
		t.Error("the resumed run made another reservation")
	}
	_, checks, err := Verify(ctx, o.Out)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range checks {
		if !c.OK {
			t.Errorf("the resumed release: %s: %s", c.Name, c.Note)
		}
	}
	have := content(t, o.Out)
	if again, err := Run(ctx, o); err != nil || again.ID != d.ID {
		t.Errorf("a finished run once more: %v", err)
	}
	if !maps.Equal(have, content(t, o.Out)) {
		t.Error("a finished run that is run again writes")
	}
	// The undisturbed run: all of it from the records.
	for key := range have {
		if err := o.Out.Delete(ctx, key); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Run(ctx, o); err != nil {
		t.Fatalf("from the records alone: %v", err)
	}
	if want := content(t, o.Out); !maps.Equal(have, want) {
		for key := range want {
			if have[key] != want[key] {
				t.Errorf("%s of the resumed run differs from that of an undisturbed one", key)
			}
		}
	}
	if s := ledgerState(t, o); len(s.Entries) != len(after.Entries) {
		t.Errorf("%d entries in the ledger of %d", len(s.Entries), len(after.Entries))
	}
	return after
}

// content is every byte of a folder.
func content(t *testing.T, b *storage.Bucket) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, key := range list(t, b, "") {
		data, err := b.ReadAll(t.Context(), key)
		if err != nil {
			t.Fatal(err)
		}
		all[key] = string(data)
	}
	return all
}

// checkWreck holds what was left against the promises.
func checkWreck(t *testing.T, o Options, w wreck, s privacy.State, out []string) {
	t.Helper()
	if len(s.Reservations) > 1 || w.reserved && s.Reservations[0].Status == privacy.Voided {
		t.Fatalf("the ledger holds %+v", s.Reservations)
	}
	if w.noise && !w.reserved {
		t.Error("noise without a reservation")
	}
	for _, key := range out {
		// The vertex list is public before anything is spent.
		if key != NodesKey && key != startedKey && !w.noise {
			t.Errorf("%s is there before a step was recorded", key)
		}
	}
	if w.sealed && !w.committed {
		t.Error("a release that could still be voided")
	}
	if !w.sealed {
		if _, err := Open(t.Context(), o.Out); !errors.Is(err, ErrNotRelease) {
			t.Errorf("without %s it opens as a release: %v", SuccessKey, err)
		}
		return
	}
	d, checks, err := Verify(t.Context(), o.Out)
	if err != nil {
		t.Fatalf("%s stands but the release does not verify: %v", SuccessKey, err)
	}
	for _, c := range checks {
		if !c.OK {
			t.Errorf("%s stands but %s: %s", SuccessKey, c.Name, c.Note)
		}
	}
	if !w.reserved || d.Ledger.Entry != s.Reservations[0].Reserve.ID {
		t.Errorf("%s stands without its ledger entry %s", SuccessKey, d.Ledger.Entry)
	}
}

// refused wants the refusal of an occupied folder, in words that say what to do.
func refused(t *testing.T, err error, where string) {
	t.Helper()
	if !errors.Is(err, ErrOccupied) {
		t.Errorf("got %v, want a refusal of the occupied folder", err)
		return
	}
	for _, want := range []string{where, "nothing was spent", "choose another folder"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q does not say %q", err, want)
		}
	}
}

func list(t *testing.T, b *storage.Bucket, prefix string) []string {
	t.Helper()
	keys, err := b.List(t.Context(), prefix)
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

func ledgerState(t *testing.T, o Options) privacy.State {
	t.Helper()
	s, err := o.Ledger.State(t.Context())
	if err != nil {
		t.Fatalf("the ledger does not verify: %v", err)
	}
	return s
}
