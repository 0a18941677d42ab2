package cluster

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"strings"
)

// Verbs: the last fixed token of a subject. Those to one worker are followed by
// its id.
const (
	verbHello  = "hello"  // coordinator → all: term, step
	verbMatrix = "v"      // coordinator → all: rows of V
	verbEnd    = "end"    // coordinator → all: the run is over
	verbStatus = "status" // coordinator → watchers

	verbRepair = "repair" // coordinator → worker: rows of V again
	verbWork   = "work"   // coordinator → worker: multiply a row block
	verbTask   = "task"   // coordinator → worker: run an item
	verbParam  = "param"  // coordinator → worker: piece of a long item
	verbGet    = "get"    // coordinator → worker: send pieces of a result
	verbGot    = "got"    // coordinator → worker: an item is settled
	verbRefuse = "refuse" // coordinator → worker: go away, and why

	verbAlive  = "alive"  // worker → coordinator: heartbeat
	verbBye    = "bye"    // worker → coordinator: leaving
	verbHave   = "have"   // worker → coordinator: bitmap of V
	verbRows   = "q"      // worker → coordinator: a row block of Q
	verbNeed   = "need"   // worker → coordinator: send pieces of an item
	verbResult = "result" // worker → coordinator: an item is done
	verbPiece  = "piece"  // worker → coordinator: piece of a result
	verbFail   = "fail"   // worker → coordinator: typed failure
)

var (
	broadcastVerbs = []string{verbHello, verbMatrix, verbEnd}
	unicastVerbs   = []string{verbRepair, verbWork, verbTask, verbParam, verbGet, verbGot, verbRefuse}
	upwardVerbs    = []string{verbAlive, verbBye, verbHave, verbRows, verbNeed, verbResult, verbPiece, verbFail}
)

// subjects names the subjects of one run.
type subjects struct{ prefix, run string }

const maxToken = 128

func newSubjects(prefix, run string) (subjects, error) {
	if prefix == "" {
		return subjects{}, fmt.Errorf("cluster: the subject prefix is empty")
	}
	for _, token := range strings.Split(prefix, ".") {
		if err := checkToken("subject prefix", token); err != nil {
			return subjects{}, err
		}
	}
	if err := checkToken("run id", run); err != nil {
		return subjects{}, err
	}
	return subjects{prefix, run}, nil
}

func (s subjects) all(verb string) string { return s.prefix + "." + s.run + "." + verb }

func (s subjects) to(worker, verb string) string { return s.all(verb) + "." + worker }

// checkToken accepts what is safe as one token of a NATS subject.
func checkToken(what, token string) error {
	if token == "" || len(token) > maxToken {
		return fmt.Errorf("cluster: %s %q must have 1 to %d characters", what, token, maxToken)
	}
	for _, r := range token {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_'
		if !letter {
			return fmt.Errorf("cluster: %s %q may hold only letters, digits, - and _", what, token)
		}
	}
	return nil
}

// nonce is n random bytes in hex.
func nonce(n int) string {
	b := make([]byte, n)
	_, _ = rand.Read(b) // never fails: crypto/rand ends the program instead
	return hex.EncodeToString(b)
}
