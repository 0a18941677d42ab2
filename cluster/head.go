package cluster

import (
	"fmt"
	"hash/crc32"
	"math"
	"strconv"

	"github.com/nats-io/nats.go"
)

// Version is the protocol version. Both ends of a run speak the same one.
const Version = 2

// Header fields. docs/format/protocol.md says which verb carries which.
const (
	keyVersion = "Privcom-Version"
	keyRun     = "Privcom-Run"
	keyTerm    = "Privcom-Term"
	keyLease   = "Privcom-Lease"
	keyWorker  = "Privcom-Worker"
	keyStep    = "Privcom-Step"
	keyAttempt = "Privcom-Attempt"
	keyShard   = "Privcom-Shard"
	keyFrom    = "Privcom-From"
	keyTo      = "Privcom-To"
	keyRows    = "Privcom-Rows"
	keyCols    = "Privcom-Columns"
	keyChunk   = "Privcom-Chunk-Rows"
	keyClip    = "Privcom-Clip"
	keyOperand = "Privcom-Operand"
	keyElement = "Privcom-Element"
	keyFlags   = "Privcom-Flags"
	keyKind    = "Privcom-Kind"
	keySize    = "Privcom-Size"
	keyPieces  = "Privcom-Piece-Bytes"
	keyPiece   = "Privcom-Piece"
	keySHA256  = "Privcom-Sha256"
	keyCRC     = "Privcom-Crc32c"
)

// maxRows is the largest number of vertices: indices are int32.
const maxRows = math.MaxInt32

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// matrix describes the operand of a step: public numbers only.
type matrix struct {
	Rows, Cols int
	ChunkRows  int   // rows of V in one message
	Clip       int64 // c of the row clip, 0 for none
	Narrow     bool  // rows of V travel as int16
	Wide       bool  // rows of Q travel as int64
}

// entryBytes is the size of an entry of V.
func (m matrix) entryBytes() int {
	if m.Narrow {
		return 2
	}
	return 4
}

func (m matrix) chunks() int {
	if m.ChunkRows == 0 {
		return 0
	}
	return (m.Rows + m.ChunkRows - 1) / m.ChunkRows
}

// chunkRange is the row range of chunk i.
func (m matrix) chunkRange(i int) (from, to int) {
	return i * m.ChunkRows, min((i+1)*m.ChunkRows, m.Rows)
}

// head is the header of one message. A field that a verb does not use is zero;
// Shard is then -1.
type head struct {
	Term, Worker string
	Lease        int // term of the run's lease, of hello; 0: none
	Step         uint64
	Attempt      int
	Shard        int
	From, To     int // rows, chunks, or the item in From
	Matrix       matrix
	Stalled      bool   // of have: nothing came for a while
	Kind         string // handler name, or failure kind
	Size         int64  // bytes of a whole item or result
	Pieces       int    // bytes of one piece of it; 0: no item here
	Piece        int    // number of this piece
	SHA256       string // of a whole result
}

func (h head) encode(run string, payload []byte) nats.Header {
	m := nats.Header{
		keyVersion: {strconv.Itoa(Version)},
		keyRun:     {run},
		keyStep:    {strconv.FormatUint(h.Step, 10)},
		keyAttempt: {strconv.Itoa(h.Attempt)},
		keyShard:   {strconv.Itoa(h.Shard)},
		keyFrom:    {strconv.Itoa(h.From)},
		keyTo:      {strconv.Itoa(h.To)},
		keyCRC:     {strconv.FormatUint(uint64(crc32.Checksum(payload, castagnoli)), 16)},
	}
	text := func(key, value string) {
		if value != "" {
			m[key] = []string{value}
		}
	}
	text(keyTerm, h.Term)
	if h.Lease > 0 {
		m[keyLease] = []string{strconv.Itoa(h.Lease)}
	}
	text(keyWorker, h.Worker)
	text(keyKind, h.Kind)
	text(keySHA256, h.SHA256)
	if h.Matrix.Rows > 0 {
		m[keyRows] = []string{strconv.Itoa(h.Matrix.Rows)}
		m[keyCols] = []string{strconv.Itoa(h.Matrix.Cols)}
		m[keyChunk] = []string{strconv.Itoa(h.Matrix.ChunkRows)}
		m[keyClip] = []string{strconv.FormatInt(h.Matrix.Clip, 10)}
		m[keyOperand] = []string{choose(h.Matrix.Narrow, "int16", "int32")}
		m[keyElement] = []string{choose(h.Matrix.Wide, "int64", "int32")}
	}
	if h.Stalled {
		m[keyFlags] = []string{"stalled"}
	}
	if h.Pieces > 0 {
		m[keySize] = []string{strconv.FormatInt(h.Size, 10)}
		m[keyPieces] = []string{strconv.Itoa(h.Pieces)}
		m[keyPiece] = []string{strconv.Itoa(h.Piece)}
	}
	return m
}

func choose(first bool, a, b string) string {
	if first {
		return a
	}
	return b
}

// decodeHead reads and checks the header of a message of this run. A message of
// another protocol version gives a *VersionError; of what follows the version
// nothing is then looked at but the worker's name.
func decodeHead(m *nats.Msg, run string) (head, error) {
	r := reader{h: m.Header}
	version := int(r.number(keyVersion, 0, math.MaxInt32))
	if r.err != nil {
		return head{}, r.err
	}
	worker := r.token(keyWorker)
	if version != Version {
		peer := "coordinator of run " + run
		if worker != "" {
			peer = "shard worker " + worker
		}
		return head{Worker: worker}, &VersionError{Ours: Version, Theirs: version, Peer: peer}
	}
	h := head{
		Worker:  worker,
		Term:    r.token(keyTerm),
		Step:    uint64(r.number(keyStep, 0, math.MaxInt64)),
		Attempt: int(r.number(keyAttempt, 0, math.MaxInt32)),
		Shard:   int(r.number(keyShard, -1, maxRows)),
		From:    int(r.number(keyFrom, 0, maxRows)),
		To:      int(r.number(keyTo, 0, maxRows)),
		Kind:    r.word(keyKind),
		SHA256:  r.token(keySHA256),
		Stalled: r.text(keyFlags) == "stalled",
	}
	if r.text(keyLease) != "" {
		h.Lease = int(r.number(keyLease, 1, math.MaxInt32))
	}
	if r.text(keyRows) != "" {
		h.Matrix = matrix{
			Rows:      int(r.number(keyRows, 1, maxRows)),
			Cols:      int(r.number(keyCols, 1, maxRows)),
			ChunkRows: int(r.number(keyChunk, 1, maxRows)),
			Clip:      r.number(keyClip, 0, math.MaxInt64/2),
			Narrow:    r.either(keyOperand, "int16", "int32"),
			Wide:      r.either(keyElement, "int64", "int32"),
		}
	}
	if r.text(keyPieces) != "" {
		h.Size = r.number(keySize, 0, maxItem)
		h.Pieces = int(r.number(keyPieces, 1, maxChunk))
		h.Piece = int(r.number(keyPiece, 0, maxItem))
	}
	if got := r.text(keyRun); r.err == nil && got != run {
		r.err = fmt.Errorf("cluster: a message of run %q on the subjects of run %q", got, run)
	}
	if h.From > h.To {
		r.fail(keyTo)
	}
	want, err := strconv.ParseUint(r.text(keyCRC), 16, 32)
	if r.err == nil && (err != nil || uint32(want) != crc32.Checksum(m.Data, castagnoli)) {
		r.err = fmt.Errorf("cluster: payload of %d bytes on %s does not match its checksum", len(m.Data), m.Subject)
	}
	if r.err != nil {
		return head{Worker: worker}, r.err
	}
	return h, nil
}

// reader takes header fields and keeps the first fault.
type reader struct {
	h   nats.Header
	err error
}

func (r *reader) text(key string) string {
	v := r.h[key]
	if len(v) == 0 || len(v[0]) > 256 {
		return ""
	}
	return v[0]
}

func (r *reader) fail(key string) {
	if r.err == nil {
		r.err = fmt.Errorf("cluster: header %s is missing or out of range", key)
	}
}

func (r *reader) number(key string, least, most int64) int64 {
	n, err := strconv.ParseInt(r.text(key), 10, 64)
	if err != nil || n < least || n > most {
		r.fail(key)
		return 0
	}
	return n
}

// token is an optional name that may stand in a subject.
func (r *reader) token(key string) string {
	s := r.text(key)
	if s != "" && checkToken(key, s) != nil {
		r.fail(key)
		return ""
	}
	return s
}

// word is an optional printable name.
func (r *reader) word(key string) string {
	s := r.text(key)
	for _, c := range s {
		if c <= ' ' || c > '~' {
			r.fail(key)
			return ""
		}
	}
	return s
}

// either says which of two words a field holds.
func (r *reader) either(key, yes, no string) bool {
	switch r.text(key) {
	case yes:
		return true
	case no:
		return false
	}
	r.fail(key)
	return false
}
