package cli

// nearest gives the name that is a slip away from what was typed: at most two letters more,
// fewer or other. "" where there is none.
func nearest(typed string, names []string) string {
	best, at := "", 3
	for _, name := range names {
		if d := distance(typed, name); d < at {
			best, at = name, d
		}
	}
	return best
}

// distance is the number of letters to insert, delete or replace (Levenshtein).
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		corner := row[0]
		row[0] = i + 1
		for j := range len(b) {
			d := corner
			if a[i] != b[j] {
				d++
			}
			corner = row[j+1]
			row[j+1] = min(d, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
