package partition

import "math/bits"

// radixBits is the digit width of the sort: 2^11 counters fit the first-level
// cache and the 41 bits of an arc among a million vertices take four passes.
const radixBits = 11

// sortKeys sorts keys ascending, with other (as long as keys) as second
// buffer, and returns the two in the order sorted, spare. It is an LSD radix
// sort over the bits that differ between keys.
func sortKeys(keys, other []uint64) (sorted, spare []uint64) {
	if len(keys) < 2 {
		return keys, other
	}
	var differ uint64
	for _, k := range keys {
		differ |= k ^ keys[0]
	}
	other = other[:len(keys)]
	var start [1 << radixBits]int
	for differ != 0 {
		shift := bits.TrailingZeros64(differ)
		differ &^= (1<<radixBits - 1) << shift
		clear(start[:])
		for _, k := range keys {
			start[k>>shift&(1<<radixBits-1)]++
		}
		sum := 0
		for i, n := range start {
			start[i] = sum
			sum += n
		}
		for _, k := range keys {
			d := k >> shift & (1<<radixBits - 1)
			other[start[d]] = k
			start[d]++
		}
		keys, other = other, keys
	}
	return keys, other
}

// dedup drops repeated keys of a sorted slice in place and counts the dropped
// ones that are forward arcs.
func dedup(keys []uint64) (kept []uint64, forward int64) {
	if len(keys) == 0 {
		return keys, 0
	}
	n := 1
	for i := 1; i < len(keys); i++ {
		k := keys[i]
		if k == keys[i-1] {
			forward += int64(^k & 1)
			continue
		}
		keys[n] = k
		n++
	}
	return keys[:n], forward
}
