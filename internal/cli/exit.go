package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/privcom/privcom/cluster"
	"github.com/privcom/privcom/partition/reader"
	"github.com/privcom/privcom/privacy"
	"github.com/privcom/privcom/privoja"
	"github.com/privcom/privcom/release"
	"github.com/privcom/privcom/storage"
)

// Exit codes, a documented interface (docs/exit-codes.md).
const (
	ExitOK       = 0
	ExitInternal = 1 // a fault of this program or of the machine
	ExitUsage    = 2 // a flag, a parameter or a configuration file
	ExitInput    = 3 // a graph file, label file or vertex list
	ExitBudget   = 4 // the ledger refuses
	ExitOccupied = 5 // the output folder is not empty
	ExitStorage  = 6 // storage or network; trying again may help
	ExitCorrupt  = 7 // a file is not what its manifest says, or a check failed
	ExitSIGINT   = 130
	ExitSIGTERM  = 143
)

// usageError marks a mistake in how the program was called.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

func usage(err error) error {
	if err == nil {
		return nil
	}
	return &usageError{err}
}

func usagef(format string, args ...any) error { return usage(fmt.Errorf(format, args...)) }

// inputError marks a fault of a file that the user brought.
type inputError struct{ err error }

func (e *inputError) Error() string { return e.err.Error() }
func (e *inputError) Unwrap() error { return e.err }

func input(err error) error {
	if err == nil {
		return nil
	}
	return &inputError{err}
}

// errCheckFailed is returned by commands that check something and found it wrong.
var errCheckFailed = errors.New("check failed")

// exitCode classes an error.
func exitCode(err error) int {
	var (
		use     *usageError
		options *reader.OptionsError
		in      *inputError
		line    *reader.LineError
		refused *privacy.RefusedError
		corrupt *storage.CorruptError
		shard   *cluster.ShardError
		nobody  *cluster.NoWorkerError
		initial *release.InitialError
		stray   *cluster.RefusedError
		version *cluster.VersionError
		changed *release.ChangedError
		lease   *release.LeaseError
		served  *cluster.ServedError
		replay  *privoja.ReplayError
		handler *cluster.HandlerError
	)
	if errors.As(err, &handler) {
		switch handler.Cause {
		case cluster.CauseStorage:
			return ExitStorage
		case cluster.CauseUser:
			return ExitInput
		case cluster.CauseCorrupt:
			return ExitCorrupt
		}
	}
	switch {
	case err == nil:
		return ExitOK
	case errors.Is(err, context.Canceled):
		return ExitSIGINT
	case errors.As(err, &use), errors.As(err, &options), errors.As(err, &stray), errors.As(err, &version), errors.As(err, &changed):
		return ExitUsage
	case errors.As(err, &refused):
		return ExitBudget
	case errors.Is(err, release.ErrOccupied):
		return ExitOccupied
	case errors.As(err, &corrupt), errors.Is(err, errCheckFailed), errors.Is(err, release.ErrNotRelease), errors.Is(err, release.ErrLedger), errors.As(err, &replay):
		return ExitCorrupt
	case errors.As(err, &shard) && (shard.Kind == cluster.FailCorrupt || shard.Kind == cluster.FailMissing):
		return ExitCorrupt
	case errors.As(err, &line), errors.As(err, &in), errors.As(err, &initial):
		return ExitInput
	case errors.As(err, &shard) && shard.Kind == cluster.FailLoad, errors.As(err, &nobody), errors.Is(err, cluster.ErrNoCoordinator),
		errors.Is(err, errNoNATS), errors.Is(err, cluster.ErrAway), errors.As(err, &lease), errors.As(err, &served):
		return ExitStorage
	case storage.Class(err) == storage.ClassRetryable:
		return ExitStorage
	case storage.Class(err) == storage.ClassUser:
		return ExitInput
	}
	return ExitInternal
}
