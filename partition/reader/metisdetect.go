package reader

// looksMETIS tells a METIS file from an edge list. Both begin with a row of
// integers; in a METIS file the first row counts vertices and edges, row i
// names the neighbours of i, and the neighbourhoods are symmetric. That is
// checked exactly when the sample is the whole file, and for all pairs of rows
// in the sample otherwise.
func looksMETIS(sample []byte, whole bool) bool {
	t := blockText("", sample, 0, 0, -1)
	head, ok := metisRow(t, whole)
	if !ok {
		return false
	}
	h, fault := metisHeader(head)
	if fault != "" || h.n == 0 {
		return false
	}
	pairs := map[[2]int64]bool{}
	row, entries := int64(0), int64(0)
	for {
		fields, ok := metisRow(t, whole)
		if fields == nil {
			if !ok {
				return false
			}
			break
		}
		if row++; row > h.n {
			if len(fields) > 0 {
				return false
			}
			row--
			continue
		}
		fits := h.neighbours(fields, func(v int64) bool {
			p := [2]int64{row, v}
			if v == row || pairs[p] { // METIS has no loops and no repeats
				return false
			}
			pairs[p] = true
			entries++
			return true
		})
		if !fits {
			return false
		}
	}
	if whole && (row != h.n || entries != 2*h.m && entries != h.m) {
		return false
	}
	return symmetric(pairs, row)
}

// symmetric: every pair of rows within the first rows is named both ways, and
// there is such a pair.
func symmetric(pairs map[[2]int64]bool, rows int64) bool {
	seen := false
	for p := range pairs {
		if p[1] <= rows {
			if !pairs[[2]int64{p[1], p[0]}] {
				return false
			}
			seen = true
		}
	}
	return seen
}

// metisRow is the next row of the sample as integers. fields is nil at the
// end; ok is false when a field is not an integer.
func metisRow(t *text, whole bool) (fields []int64, ok bool) {
	var cut splitter
	for {
		line, err := t.next()
		if err != nil || t.eol == "" && !whole {
			return nil, true
		}
		if len(line) > 0 && line[0] == '%' {
			continue
		}
		cut.words(line)
		fields = []int64{}
		for _, f := range cut.fields {
			n, ok := parseInt(f, 1<<62)
			if !ok {
				return nil, false
			}
			fields = append(fields, n)
		}
		return fields, true
	}
}

// metisSizes is the header line: n m [fmt [ncon]].
type metisSizes struct {
	n, m        int64
	vertexSizes bool
	weights     int // numbers in front of the neighbours of a row
	edgeWeights bool
}

// metisHeader reads the header line. fmt is up to three digits 0 or 1: vertex
// sizes, vertex weights, edge weights (METIS manual 5.1.0, section 4.1.1).
func metisHeader(f []int64) (metisSizes, string) {
	h := metisSizes{}
	if len(f) < 2 || len(f) > 4 {
		return h, "the first line of a METIS file has two to four integers: vertices, edges, format, weights"
	}
	h.n, h.m = f[0], f[1]
	kind := int64(0)
	if len(f) > 2 {
		kind = f[2]
	}
	if kind > 111 || kind%10 > 1 || kind/10%10 > 1 {
		return h, "the third number of a METIS header is one of 0, 1, 10, 11, 100, 101, 110, 111"
	}
	h.edgeWeights, h.vertexSizes = kind%10 == 1, kind/100 == 1
	if kind/10%10 == 1 {
		h.weights = 1
	}
	if len(f) == 4 {
		if f[3] > 1<<20 || f[3] > 0 && h.weights == 0 && f[3] != 1 {
			return h, "the fourth number of a METIS header counts weights of a vertex, and the format says that there are none"
		}
		if h.weights == 1 {
			h.weights = int(f[3])
		}
	}
	if h.vertexSizes {
		h.weights++
	}
	return h, ""
}

// neighbours calls each for the neighbours in a row of the sample; false when
// the row does not fit the header or each says so.
func (h metisSizes) neighbours(row []int64, each func(int64) bool) bool {
	if len(row) < h.weights {
		return h.weights == 0
	}
	row = row[h.weights:]
	step := 1
	if h.edgeWeights {
		step = 2
	}
	if len(row)%step != 0 {
		return false
	}
	for i := 0; i < len(row); i += step {
		if row[i] < 1 || row[i] > h.n || !each(row[i]) {
			return false
		}
	}
	return true
}
