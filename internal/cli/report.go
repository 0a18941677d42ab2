package cli

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/privcom/privcom/evaluate"
	"github.com/privcom/privcom/partition"
)

// writeIngestReport says what an input held and what became of every row of it.
func writeIngestReport(w io.Writer, r *partition.Report) error {
	tw := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	line := func(name, format string, args ...any) { fmt.Fprintf(tw, name+"\t"+format+"\n", args...) }
	format := r.Format
	if r.Compression != "" && r.Compression != "none" {
		format += ", " + r.Compression
	}
	if r.Encoding != "" {
		format += ", " + r.Encoding
	}
	line("format", "%s", format)
	line("lines", "%d (%d comments, %d blank, %d unreadable)", r.Lines, r.Comments, r.Blank, r.BadLines)
	line("rows", "%d as listed", r.Rows)
	line("vertices", "%d, ids of type %s, from the %s; %d isolated", r.Vertices, r.IDType, r.VertexSource, r.Isolated)
	line("edges", "%d, simple and undirected", r.Edges)
	line("self loops", "%d dropped", r.Loops)
	line("repeats", "%d rows merged", r.Repeats)
	line("both directions", "%d pairs merged (%.1f %% of edges)", r.Reciprocal, 100*float64(r.Reciprocal)/float64(max(r.Edges, 1)))
	if r.OneWay > 0 {
		line("one direction", "%d pairs dropped (--mutual)", r.OneWay)
	}
	if r.Light > 0 {
		line("light rows", "%d dropped (--min-weight)", r.Light)
	}
	switch {
	case r.Weighted && r.Light > 0:
		line("weights", "present, and ignored but for --min-weight")
	case r.Weighted:
		line("weights", "present and ignored")
	}
	line("directed", "%s: %s", r.Directed, r.DirectedReason)
	if err := tw.Flush(); err != nil {
		return err
	}
	if err := writeDegrees(w, r.Degrees); err != nil {
		return err
	}
	for _, n := range r.Notes {
		fmt.Fprintf(w, "note: %s\n", n)
	}
	_, err := fmt.Fprintf(w, "\n%s\n", evaluate.Notice)
	return err
}

// sayNotes tells, where no report is printed, what of the input was skipped or looks odd.
func (a *app) sayNotes(r *partition.Report) {
	if a.quiet {
		return
	}
	for _, n := range r.Notes {
		fmt.Fprintf(a.stderr, "note on the input: %s (%s)\n", n, evaluate.Notice)
	}
}

// writeDegrees prints quantiles and a histogram over powers of two.
func writeDegrees(w io.Writer, d partition.Degrees) error {
	fmt.Fprintf(w, "\ndegrees: min %d, quartiles %d / %d / %d, 90 %% %d, 99 %% %d, max %d, mean %.2f\n",
		d.Min, d.Q25, d.Q50, d.Q75, d.Q90, d.Q99, d.Max, d.Mean)
	most := int64(1)
	for _, c := range d.Histogram {
		most = max(most, c)
	}
	for i, c := range d.Histogram {
		span := "0"
		switch {
		case i == 1:
			span = "1"
		case i > 1:
			span = fmt.Sprintf("%d–%d", int64(1)<<(i-1), int64(1)<<i-1)
		}
		bar := int(50 * c / most)
		if c > 0 && bar == 0 {
			bar = 1
		}
		fmt.Fprintf(w, "%14s  %-50s %d\n", span, bars[:3*bar], c)
	}
	return nil
}

// bars is fifty block characters of three bytes each.
const bars = "██████████████████████████████████████████████████"
