package partition

import "math/bits"

// radixBits is the digit width of the sort: 2^11 counters fit the first-level
// cache and the 41 bits of an arc among a million vertices take four passes.
const radixBits = 11

// differing gives the bits in which keys of the pages, none empty, differ.
func differing(pages ...[]uint64) (mask uint64) {
	first := pages[0][0]
	for _, page := range pages {
		for _, k := range page {
			mask |= k ^ first
		}
	}
	return mask
}

// sortKeys sorts keys ascending, with other (as long as keys) as second
// buffer, and returns the two in the order sorted, spare. It is an LSD radix
// sort over the bits that differ between keys.
func sortKeys(keys, other []uint64) (sorted, spare []uint64) {
	if len(keys) < 2 {
		return keys, other
	}
	if len(keys) <= insertionKeys {
		insertionSort(keys)
		return keys, other
	}
	width := radixBits
	if len(keys) < 1<<radixBits {
		width = 8 // fewer counters than keys
	}
	other = other[:len(keys)]
	var start [1 << radixBits]uint32
	for differ := differing(keys); differ != 0; {
		shift := bits.TrailingZeros64(differ)
		mask := uint64(1)<<width - 1
		differ &^= mask << shift
		counts := start[:1<<width]
		clear(counts)
		for _, k := range keys {
			counts[k>>shift&mask]++
		}
		sum := uint32(0)
		for i, n := range counts {
			counts[i] = sum
			sum += n
		}
		for _, k := range keys {
			d := k >> shift & mask
			other[counts[d]] = k
			counts[d]++
		}
		keys, other = other, keys
	}
	return keys, other
}

// insertionKeys is up to how many keys are sorted by insertion.
const insertionKeys = 24

func insertionSort(keys []uint64) {
	for i := 1; i < len(keys); i++ {
		k, j := keys[i], i
		for ; j > 0 && keys[j-1] > k; j-- {
			keys[j] = keys[j-1]
		}
		keys[j] = k
	}
}

// sortPages sorts the keys of all pages into out, which has their total length:
// it deals them into buckets by the highest bits that differ, and sorts each
// bucket while it lies in the cache. It gives back scratch, grown.
func sortPages(pages [][]uint64, out, scratch []uint64) []uint64 {
	differ := differing(pages...)
	shift := max(0, bits.Len64(differ)-radixBits)
	const mask = 1<<radixBits - 1
	var start [1<<radixBits + 1]int
	for _, page := range pages {
		for _, k := range page {
			start[k>>shift&mask+1]++
		}
	}
	for i := range mask + 1 {
		start[i+1] += start[i]
	}
	next := start
	for _, page := range pages {
		for _, k := range page {
			d := k >> shift & mask
			out[next[d]] = k
			next[d]++
		}
	}
	for i := range mask + 1 {
		bucket := out[start[i]:start[i+1]]
		if len(bucket) < 2 || shift == 0 {
			continue
		}
		if len(scratch) < len(bucket) {
			scratch = make([]uint64, len(bucket)+len(bucket)/4)
		}
		if sorted, _ := sortKeys(bucket, scratch); &sorted[0] != &bucket[0] {
			copy(bucket, sorted)
		}
	}
	return scratch
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
