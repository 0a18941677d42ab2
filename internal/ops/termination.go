package ops

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"time"
)

// DefaultTerminationLog is where Kubernetes looks for a container's last words.
const DefaultTerminationLog = "/dev/termination-log"

// States of a run's ledger entry in a termination message.
const (
	EntryNone      = "none"      // nothing was reserved
	EntryReserved  = "reserved"  // spent: noise may have been drawn
	EntryCommitted = "committed" // spent, and released
	EntryVoid      = "void"      // given back by a person
	EntryUnknown   = "unknown"   // the ledger did not answer
)

// Termination is how a process ended. It becomes part of the pod's status, outside of the
// boundary: it holds no error text, no place, and no number of the graph.
type Termination struct {
	Tool  string    `json:"tool"`
	Role  Role      `json:"role"`
	Run   string    `json:"run,omitempty"`
	Shard *int      `json:"shard,omitempty"`        // index of a shard worker
	Code  int       `json:"code"`                   // exit code, docs/exit-codes.md
	Class string    `json:"class"`                  // its name there
	Retry bool      `json:"retry"`                  // whether another try may help
	Entry string    `json:"ledger_entry,omitempty"` // coordinator: state of the run's ledger entry
	Ended time.Time `json:"ended"`
}

// mostTermination is what Kubernetes keeps.
const mostTermination = 4096

// Write puts the message, one line, into a file. An empty path means the default path where
// that exists, and nowhere else.
func (t Termination) Write(path string) error {
	if path == "" {
		if _, err := os.Stat(DefaultTerminationLog); err != nil {
			return nil // not in a container that has one
		}
		path = DefaultTerminationLog
	}
	line, err := json.Marshal(t)
	if err != nil {
		return fmt.Errorf("termination message: %w", err)
	}
	line = append(bytes.TrimSpace(line), '\n')
	if len(line) > mostTermination {
		return fmt.Errorf("termination message of %d bytes is over Kubernetes' %d", len(line), mostTermination)
	}
	// Written in place: the path is a file that the kubelet has mounted, and cannot be
	// replaced by renaming.
	if err := os.WriteFile(path, line, 0o644); err != nil {
		return fmt.Errorf("termination message: %w", err)
	}
	return nil
}
