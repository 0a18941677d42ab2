package reader

import (
	"encoding/binary"
	"math/bits"
)

// plainPairs says that a row may be two numbers and nothing else.
func (d *dialect) plainPairs() bool {
	return d.source == 0 && d.target == 1 && (d.delim == 0 || len(d.columns) <= 2)
}

// pairsAtOnce is how many pairs are handed out together.
const pairsAtOnce = 4096

// plain takes rows as long as they are two canonical numbers with what divides
// them and a line end, and leaves the first other row to the general reader.
func (t *tableReader) plain(tx *text) error {
	if tx.nul >= 0 {
		return nil
	}
	b, at, before := tx.buf[:tx.end], tx.start, tx.line
	for {
		x, i := decimal(b, at)
		if i == at {
			break
		}
		from := i
		if t.d.delim == 0 {
			for i < len(b) && (b[i] == ' ' || b[i] == '\t') {
				i++
			}
		} else if i < len(b) && b[i] == t.d.delim {
			i++
		}
		if i == from {
			break
		}
		y, end := decimal(b, i)
		if end == i {
			break
		}
		if end+1 < len(b) && b[end] == '\r' {
			end++
		}
		if end >= len(b) || b[end] != '\n' {
			break
		}
		at = end + 1
		tx.line++
		t.rows++
		t.pairs = append(t.pairs, x, y)
		if len(t.pairs) >= 2*pairsAtOnce {
			if err := t.flushPairs(); err != nil {
				return err
			}
		}
	}
	tx.start = at
	if tx.line > before && !t.d.header && !t.d.chosen {
		t.sawWidth(2, int64(before)+1)
	}
	return nil
}

func (t *tableReader) flushPairs() error {
	if len(t.pairs) == 0 {
		return nil
	}
	err := t.numbers(t.pairs)
	t.pairs = t.pairs[:0]
	return err
}

// decimal reads a canonical number of at most 19 digits at b[i:] and gives the
// index behind it, i if there is none.
func decimal(b []byte, i int) (x uint64, end int) {
	end = i
	if i+8 <= len(b) {
		var n int
		x, n = digits8(binary.LittleEndian.Uint64(b[i:]))
		end += n
		if n < 8 {
			if n > 1 && b[i] == '0' {
				return 0, i
			}
			return x, end
		}
	}
	for end < len(b) && isDigit(b[end]) {
		x = 10*x + uint64(b[end]-'0')
		end++
	}
	if n := end - i; n > 19 || n > 1 && b[i] == '0' {
		return 0, i
	}
	return x, end
}

// digits8 reads the digits at the beginning of eight bytes, the first of which
// is the lowest byte of w, all at the same time: it gives their value and
// their number.
func digits8(w uint64) (value uint64, n int) {
	// A byte c is a digit if the high halves of c and of c+6 are both 3. A
	// carry out of a byte that is no digit touches later bytes only.
	const high, three, six = 0xf0f0f0f0f0f0f0f0, 0x3030303030303030, 0x0606060606060606
	other := (w&high ^ three) | ((w+six)&high ^ three)
	n = bits.TrailingZeros64(other) / 8
	w = w & 0x0f0f0f0f0f0f0f0f << (64 - 8*n) // leading zeros
	w = (10*w + w>>8) & 0x00ff00ff00ff00ff
	w = (100*w + w>>16) & 0x0000ffff0000ffff
	return (10000*w + w>>32) & 0xffffffff, n
}
