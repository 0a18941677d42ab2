package reader

import "bytes"

// Faults of quotes.
const (
	unclosedQuote  = "a quoted field that is never closed"
	textAfterQuote = "text after a closing quote"
)

// splitter cuts one record into fields and keeps its buffers between records.
type splitter struct {
	fields  [][]byte
	scratch []byte
}

// space marks what separates fields in an edge list.
var space = [256]bool{' ': true, '\t': true, '\v': true, '\f': true}

// split cuts a record at delim, or at white space when delim is 0. A field may
// stand in double quotes, with "" for a quote inside (RFC 4180); blanks around
// fields without quotes are dropped. The fields are valid until the next call.
func (s *splitter) split(record []byte, delim byte) ([][]byte, string) {
	s.fields = s.fields[:0]
	if bytes.IndexByte(record, '"') >= 0 {
		s.scratch = s.scratch[:0]
		if cap(s.scratch) < len(record) { // never grows below: fields point into it
			s.scratch = make([]byte, 0, 2*len(record))
		}
		return s.quoted(record, delim)
	}
	if delim == 0 {
		s.words(record)
		return s.fields, ""
	}
	for {
		i := bytes.IndexByte(record, delim)
		if i < 0 {
			s.fields = append(s.fields, trim(record))
			return s.fields, ""
		}
		s.fields = append(s.fields, trim(record[:i]))
		record = record[i+1:]
	}
}

func (s *splitter) words(record []byte) {
	for i := 0; ; {
		for i < len(record) && space[record[i]] {
			i++
		}
		if i == len(record) {
			return
		}
		from := i
		for i < len(record) && !space[record[i]] {
			i++
		}
		s.fields = append(s.fields, record[from:i])
	}
}

func (s *splitter) quoted(record []byte, delim byte) ([][]byte, string) {
	i := 0
	for {
		for i < len(record) && (record[i] == ' ' || delim == 0 && space[record[i]]) {
			i++
		}
		if delim == 0 && i == len(record) {
			return s.fields, ""
		}
		if i < len(record) && record[i] == '"' {
			after, fault := s.quotedField(record, i+1)
			if fault != "" {
				return nil, fault
			}
			i = after
			for i < len(record) && record[i] == ' ' && delim != 0 {
				i++
			}
			if i < len(record) && !isDelimiter(record[i], delim) {
				return nil, textAfterQuote
			}
		} else {
			after, fault := s.plainField(record, i, delim)
			if fault != "" {
				return nil, fault
			}
			i = after
		}
		if i >= len(record) {
			return s.fields, ""
		}
		i++
	}
}

func isDelimiter(c, delim byte) bool { return c == delim || delim == 0 && space[c] }

// quotedField reads from behind the opening quote and returns the index behind
// the closing one.
func (s *splitter) quotedField(record []byte, i int) (int, string) {
	from := len(s.scratch)
	for {
		k := bytes.IndexByte(record[i:], '"')
		if k < 0 {
			return 0, unclosedQuote
		}
		s.scratch = append(s.scratch, record[i:i+k]...)
		i += k + 1
		if i < len(record) && record[i] == '"' {
			s.scratch = append(s.scratch, '"')
			i++
			continue
		}
		s.fields = append(s.fields, s.scratch[from:len(s.scratch):len(s.scratch)])
		return i, ""
	}
}

// plainField reads a field without quotes and returns the index of the
// delimiter behind it.
func (s *splitter) plainField(record []byte, i int, delim byte) (int, string) {
	from := i
	for i < len(record) && !isDelimiter(record[i], delim) {
		if record[i] == '"' {
			return 0, "a quote in the middle of a field without quotes"
		}
		i++
	}
	s.fields = append(s.fields, trim(record[from:i]))
	return i, ""
}

// trim drops blanks on both sides.
func trim(b []byte) []byte {
	for len(b) > 0 && space[b[0]] {
		b = b[1:]
	}
	for len(b) > 0 && space[b[len(b)-1]] {
		b = b[:len(b)-1]
	}
	return b
}
