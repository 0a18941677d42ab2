package reader

import (
	"strconv"
)

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

func isDigit(c byte) bool { return c-'0' <= 9 }

// allDigits says that b is one or more decimal digits.
func allDigits(b []byte) bool {
	for _, c := range b {
		if !isDigit(c) {
			return false
		}
	}
	return len(b) > 0
}

// idFault says why b cannot be a vertex id, "" if it can. Labels of digits are
// taken as they stand, however long. What looks like a number but is not a
// plain non-negative integer is refused: such files come from tools that put
// ids through a float, where 2^53 and 2^53+1 are one number. With IDType
// "string" every non-empty label is taken.
func idFault(b []byte, strings bool) string {
	if allDigits(b) {
		return ""
	}
	if len(b) == 0 {
		return "an empty vertex id"
	}
	if strings {
		return ""
	}
	switch kind := numberKind(b); kind {
	case negativeNumber:
		return "negative vertex id " + quoteShort(clip(b))
	case floatNumber:
		return "vertex id " + quoteShort(clip(b)) + " is written as a decimal number"
	}
	return ""
}

const idRemedy = "Ids are labels and never pass through a float: write them as integers or names, or say --id-type string if these really are the labels."

const (
	notNumber = iota
	negativeNumber
	floatNumber
)

// numberKind looks for [+-] digits [. digits] [e [+-] digits], with a sign, a
// dot or an exponent.
func numberKind(b []byte) int {
	sign := byte(0)
	if b[0] == '-' || b[0] == '+' {
		sign, b = b[0], b[1:]
	}
	whole, rest := cutDigits(b)
	fraction := 0
	dot := len(rest) > 0 && rest[0] == '.'
	if dot {
		fraction, rest = cutDigits(rest[1:])
	}
	if whole+fraction == 0 {
		return notNumber
	}
	exponent := false
	if len(rest) > 1 && rest[0]|0x20 == 'e' {
		tail := rest[1:]
		if tail[0] == '-' || tail[0] == '+' {
			tail = tail[1:]
		}
		exponent = allDigits(tail)
		if exponent {
			rest = nil
		}
	}
	switch {
	case len(rest) > 0:
		return notNumber
	case dot || exponent:
		return floatNumber
	case sign == '-':
		return negativeNumber
	}
	return notNumber
}

func cutDigits(b []byte) (int, []byte) {
	n := 0
	for n < len(b) && isDigit(b[n]) {
		n++
	}
	return n, b[n:]
}

// parseInt reads a non-negative decimal integer ≤ most; ok is false for
// anything else, too large included.
func parseInt(b []byte, most int64) (int64, bool) {
	var n int64
	for _, c := range b {
		if !isDigit(c) {
			return 0, false
		}
		d := int64(c - '0')
		if d > most || n > (most-d)/10 {
			return 0, false
		}
		n = n*10 + d
	}
	return n, len(b) > 0
}

// parseWeight reads a weight: a finite or infinite float, never NaN.
func parseWeight(b []byte) (float64, bool) {
	if len(b) == 0 || len(b) > 64 {
		return 0, false
	}
	if len(b) <= 15 && allDigits(b) { // exact in float64
		n, _ := parseInt(b, 1<<62)
		return float64(n), true
	}
	if c := b[len(b)-1]; !isDigit(c) && c != '.' && c != 'f' && c != 'F' && c != 'y' && c != 'Y' {
		return 0, false
	}
	w, err := strconv.ParseFloat(string(b), 64)
	if err != nil || w != w {
		return 0, false
	}
	return w, true
}

// number reports whether b begins like a number: used to tell a weight or a
// time from the second word of a name.
func numberLike(b []byte) bool {
	c := b[0]
	return isDigit(c) || c == '-' || c == '+' || c == '.' || c == '{'
}

func appendInt(b []byte, n int64) []byte { return strconv.AppendInt(b, n, 10) }
