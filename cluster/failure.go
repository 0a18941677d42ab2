package cluster

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/privcom/privcom/storage"
)

// failNote is the payload of a failure report.
type failNote struct {
	Kind   string `json:"kind"`
	File   string `json:"file,omitempty"`
	Detail string `json:"detail"`
	// Cause of a handler's failure: a Cause… word, or nothing.
	Cause string `json:"cause,omitempty"`
}

const maxDetail = 2048

func decodeFail(data []byte) (failNote, bool) {
	var f failNote
	if len(data) > maxNote || json.Unmarshal(data, &f) != nil {
		return f, false
	}
	switch f.Kind {
	case FailCorrupt, FailMissing, FailLoad, FailInternal, FailHandler:
	default:
		return f, false
	}
	f.Detail, f.File = clean(f.Detail), clean(f.File)
	switch f.Cause {
	case CauseStorage, CauseUser, CauseCorrupt:
	default:
		f.Cause = "" // of a later version
	}
	return f, true
}

// clean keeps text from the wire printable and short.
func clean(s string) string {
	s = strings.ToValidUTF8(s[:min(len(s), maxDetail)], "?")
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, s)
}

// noteOf turns an error of loading a shard into a report.
func noteOf(err error) failNote {
	var corrupt *storage.CorruptError
	switch {
	case errors.As(err, &corrupt):
		return failNote{Kind: FailCorrupt, File: corrupt.Key, Detail: err.Error()}
	case errors.Is(err, storage.ErrNotExist):
		return failNote{Kind: FailMissing, Detail: err.Error()}
	}
	return failNote{Kind: FailLoad, Detail: err.Error()}
}

// causeOf classes what made a handler fail, where it was storage.
func causeOf(err error) string {
	var corrupt *storage.CorruptError
	switch {
	case errors.As(err, &corrupt):
		return CauseCorrupt
	case storage.Class(err) == storage.ClassRetryable:
		return CauseStorage
	case storage.Class(err) == storage.ClassUser:
		return CauseUser
	}
	return ""
}
