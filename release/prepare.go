package release

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/privcom/privcom/privoja"
	"github.com/privcom/privcom/storage"
)

// runKey is the object of a work folder that says whose it is.
const runKey = "run.json"

// InitialError says that the initial matrix cannot be used. Nothing was spent.
type InitialError struct{ Err error }

func (e *InitialError) Error() string { return e.Err.Error() + "; nothing was spent" }
func (e *InitialError) Unwrap() error { return e.Err }

// ErrLedger says that the ledger's chain of entries does not hold: nothing is released on
// it, and nothing was spent.
var ErrLedger = errors.New("the ledger is not what was written")

// prepare does everything that can fail for a reason known before the noise, so that no
// budget is lost to it: the initial matrix, a work folder with the steps of another run
// (whose noise was made for another guarantee), places that cannot be written.
func (r *runner) prepare(ctx context.Context) error {
	if r.Initial != nil {
		if _, err := privoja.New(r.config(), nil, nil, nil); err != nil {
			return &InitialError{err}
		}
	}
	if _, err := r.Ledger.State(ctx); err != nil {
		if storage.Class(err) == storage.ClassPermanent {
			err = fmt.Errorf("%w: %w", ErrLedger, err)
		}
		return err
	}
	steps, err := r.Work.Sub("steps").List(ctx, "")
	if err != nil {
		return err
	}
	if len(steps) > 0 {
		return fmt.Errorf("%w: the work folder %s holds the steps of another run (%s); nothing was spent; choose another folder, or remove it",
			ErrOccupied, r.Work.URL(), steps[0])
	}
	mark, err := json.Marshal(map[string]string{"run": r.ID})
	if err != nil {
		return err
	}
	if err := r.Work.Put(ctx, runKey, append(mark, '\n')); err != nil {
		return err
	}
	if r.nodes, err = r.writeNodes(ctx); err != nil {
		return err
	}
	return unclaim(ctx, r.Out) // the vertex list marks the folder as taken
}

// config is what the Oja machine needs to know.
func (r *runner) config() privoja.Config {
	paper := r.Params.Profile == ProfilePaper
	return privoja.Config{Plan: r.plan, Centre: r.Params.Centre && !paper, Paper: paper, Seed: r.Params.Seed, Initial: r.Initial}
}
