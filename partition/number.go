package partition

// parseNumber reads a canonical decimal number below 2^64: digits only, no
// leading zero. Other labels ("007", "+7") are different ids.
func parseNumber(b []byte) (uint64, bool) {
	if len(b) == 0 || len(b) > 20 || b[0] == '0' && len(b) > 1 {
		return 0, false
	}
	var x uint64
	for _, c := range b {
		d := uint64(c - '0')
		if d > 9 {
			return 0, false
		}
		next := 10*x + d
		if x > 1844674407370955161 || next < d {
			return 0, false // above 2^64-1
		}
		x = next
	}
	return x, true
}
