package release

import (
	"context"
	"errors"
	"fmt"

	"github.com/privcom/privcom/privoja"
	"github.com/privcom/privcom/storage"
)

// InitialError says that the initial matrix cannot be used. Nothing was spent.
type InitialError struct{ Err error }

func (e *InitialError) Error() string { return e.Err.Error() + "; nothing was spent" }
func (e *InitialError) Unwrap() error { return e.Err }

// ErrLedger says that the ledger's chain of entries does not hold: nothing is released on
// it, and nothing was spent.
var ErrLedger = errors.New("the ledger is not what was written")

// prepare does everything that can fail for a reason known before the noise, so that no
// budget is lost to it: the initial matrix, a ledger that does not hold, places that cannot
// be written.
func (r *runner) prepare(ctx context.Context) error {
	if r.Initial != nil {
		if _, err := privoja.New(r.config(), nil, nil, nil); err != nil {
			return &InitialError{err}
		}
	}
	if _, err := r.Ledger.State(ctx); err != nil {
		return ledgerError(err)
	}
	if !r.Resume {
		data, err := r.file.encode()
		if err != nil {
			return err
		}
		if err := r.Work.Put(ctx, runKey, data); err != nil {
			return err
		}
	}
	var err error
	r.nodes, err = r.writeNodes(ctx)
	return err
}

// ledgerError marks a chain that does not hold.
func ledgerError(err error) error {
	if storage.Class(err) == storage.ClassPermanent {
		err = fmt.Errorf("%w: %w", ErrLedger, err)
	}
	return err
}

// config is what the Oja machine needs to know.
func (r *runner) config() privoja.Config {
	paper := r.Params.Profile == ProfilePaper
	return privoja.Config{Plan: r.plan, Centre: r.Params.Centre && !paper, Paper: paper, Seed: r.Params.Seed, Initial: r.Initial}
}
