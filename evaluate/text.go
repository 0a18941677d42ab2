package evaluate

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/privcom/privcom/evaluate/metrics"
)

// textWidth is what every line of Text fits in.
const textWidth = 100

// Text writes the evaluation as plain tables of at most 100 columns.
func (e *Evaluation) Text(w io.Writer) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "EVALUATION - %s\n\n", Notice)
	fmt.Fprintf(&b, "%s vertices; communities by %s", grouped(int64(e.Vertices)), e.Method)
	if e.Repeat > 1 {
		fmt.Fprintf(&b, ", median of %d runs", e.Repeat)
	}
	fmt.Fprintf(&b, "\n\nAgainst the original's %s communities (modularity %.4f)\n",
		grouped(int64(e.CommunitiesOriginal)), e.ModularityOriginal)
	writeRows(&b, e.Rows)
	if e.Labels != nil {
		fmt.Fprintf(&b, "\nAgainst the labels: %s classes on %s vertices\n",
			grouped(int64(e.Labels.Classes)), grouped(int64(e.Labels.Labelled)))
		writeRows(&b, e.Labels.Rows)
	}
	b.WriteByte('\n')
	writeWrapped(&b, Why)
	writeWrapped(&b, "Q is the modularity of the row's partition on the original graph; 'by size' weighs each community "+
		"of the row by its vertices.")
	b.WriteByte('\n')
	e.writeQuantities(&b)
	e.writeDegrees(&b)
	fmt.Fprintf(&b, "\n%s%s\n", strings.ToUpper(Notice[:1]), Notice[1:])
	_, err := w.Write(b.Bytes())
	return err
}

func writeRows(b *bytes.Buffer, rows []Row) {
	fmt.Fprintf(b, "%-21s%8s%8s%8s%9s%10s%9s%9s%9s%8s\n",
		"", "AMI", "ARI", "NMI", "Avg-F1", "reversed", "by size", "pair F1", "Q", "groups")
	for _, r := range rows {
		writeScores(b, r.Name, r.Scores, fmt.Sprintf("%9s%8s", score(r.Modularity), short(int64(r.Communities))))
		if r.Low != nil && r.Kind != KindTrivial {
			writeScores(b, "  lowest", *r.Low, "")
			writeScores(b, "  highest", *r.High, "")
		}
	}
}

func writeScores(b *bytes.Buffer, name string, s metrics.Scores, rest string) {
	fmt.Fprintf(b, "%-21s%8s%8s%8s%9s%10s%9s%9s%s\n", name, score(s.AMI), score(s.ARI), score(s.NMI),
		score(s.AvgF1Detected), score(s.AvgF1Truth), score(s.AvgF1Weighted), score(s.PairwiseF1), rest)
}

// score writes four decimals, without a minus before zeros.
func score(x float64) string {
	if abs(x) < 0.00005 {
		x = 0
	}
	return strconv.FormatFloat(x, 'f', 4, 64)
}

func (e *Evaluation) writeQuantities(b *bytes.Buffer) {
	fmt.Fprintf(b, "%-21s%15s%15s%15s%9s\n", "Graph", "original", "release", "difference", "error")
	sampled := false
	for _, q := range e.Quantities {
		mark := ""
		if q.Sampled {
			mark, sampled = " *", true
		}
		if q.Bound {
			mark, sampled = " >=", true
		}
		fmt.Fprintf(b, "%-21s%15s%15s%15s%9s%s\n",
			q.Name, number(q.Original), number(q.Synthetic), number(q.Difference), percent(q.Relative), mark)
	}
	if !sampled {
		return
	}
	for _, q := range e.Quantities {
		if q.Sampled {
			writeWrapped(b, fmt.Sprintf("* %s is sampled: standard error %s (original), %s (release).",
				q.Name, number(q.OriginalError), number(q.SyntheticError)))
		}
		if q.Bound {
			writeWrapped(b, fmt.Sprintf(">= %s is a lower bound where paths were sampled.", q.Name))
		}
	}
}

func (e *Evaluation) writeDegrees(b *bytes.Buffer) {
	d := e.Degrees
	fmt.Fprintf(b, "\nDegrees, vertex by vertex: mean |d - d'| %s, largest %s, correlation %.4f\n",
		number(d.MeanAbsolute), grouped(int64(d.MaxAbsolute)), d.Correlation)
	fmt.Fprintf(b, "Degree distribution: L1 %.4f, KL %.4f, KS %.4f\n", d.Distribution.L1, d.Distribution.KL, d.Distribution.KS)
	if e.Distances != nil {
		fmt.Fprintf(b, "Distance distribution: L1 %.4f, KL %.4f, KS %.4f\n", e.Distances.L1, e.Distances.KL, e.Distances.KS)
	}
	if e.Centrality != nil {
		fmt.Fprintf(b, "Eigenvector centrality: mean |x - x'| %s, correlation %.4f\n",
			number(e.Centrality.MeanAbsolute), e.Centrality.Correlation)
	}
}

func writeWrapped(b *bytes.Buffer, text string) {
	column := 0
	for _, word := range strings.Fields(text) {
		switch {
		case column == 0:
		case column+1+len(word) > textWidth:
			b.WriteByte('\n')
			column = 0
		default:
			b.WriteByte(' ')
			column++
		}
		b.WriteString(word)
		column += len(word)
	}
	b.WriteByte('\n')
}

// number writes whole numbers with separators and others with four digits.
func number(x float64) string {
	if x == float64(int64(x)) && abs(x) < 1e15 {
		return grouped(int64(x))
	}
	if abs(x) >= 10_000 {
		return grouped(int64(x))
	}
	return strconv.FormatFloat(x, 'g', 4, 64)
}

func percent(relative float64) string {
	switch {
	case relative < 0:
		return "new"
	case relative >= 100:
		return ">9,999%"
	default:
		return strconv.FormatFloat(100*relative, 'f', 1, 64) + "%"
	}
}

// grouped writes a whole number with commas between thousands.
func grouped(x int64) string {
	digits := strconv.FormatInt(x, 10)
	sign := ""
	if x < 0 {
		sign, digits = "-", digits[1:]
	}
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return sign + digits
}

// short fits a count in seven columns.
func short(x int64) string {
	if x >= 1_000_000 {
		return strconv.FormatFloat(float64(x)/1e6, 'f', 2, 64) + "M"
	}
	return grouped(x)
}
