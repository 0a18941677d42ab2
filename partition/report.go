package partition

import (
	"fmt"

	"github.com/privcom/privcom/partition/reader"
)

// Report says what an input holds and what became of every row. It is private:
// its counts are those of the graph.
//
//	rows = edges + one_way + loops + light + repeats + reciprocal
//
// holds always (Ingest and Inspect check it).
type Report struct {
	Format      string   `json:"format"`
	Encoding    string   `json:"encoding"`
	Compression string   `json:"compression"`
	Columns     []string `json:"columns,omitempty"`
	Weighted    bool     `json:"weighted"`

	Lines    int64 `json:"lines"`
	Comments int64 `json:"comments"`
	Blank    int64 `json:"blank"`
	BadLines int64 `json:"bad_lines"`
	Rows     int64 `json:"rows"` // edges as the input lists them

	Vertices     int64  `json:"vertices"`
	IDType       string `json:"id_type"`       // uint64 or string
	VertexSource string `json:"vertex_source"` // input or list
	ListRepeats  int64  `json:"list_repeats"`  // lines of the vertices file that repeat an id
	Isolated     int64  `json:"isolated"`      // vertices without an edge

	Edges      int64 `json:"edges"`      // simple and undirected
	Loops      int64 `json:"loops"`      // rows from a vertex to itself, dropped
	Repeats    int64 `json:"repeats"`    // rows that repeat an earlier one in the same direction, merged
	Reciprocal int64 `json:"reciprocal"` // pairs listed in both directions, merged
	OneWay     int64 `json:"one_way"`    // pairs dropped because only one direction was listed
	Light      int64 `json:"light"`      // rows dropped for their weight

	DeclaredVertices int64 `json:"declared_vertices"` // by a header or a node list
	DeclaredEdges    int64 `json:"declared_edges"`

	Directed       string  `json:"directed"` // yes, no or unknown
	DirectedReason string  `json:"directed_reason"`
	Degrees        Degrees `json:"degrees"`

	SpilledBytes int64    `json:"spilled_bytes"` // written to temporary files
	Notes        []string `json:"notes,omitempty"`
}

func (r *Report) setStats(s reader.Stats) {
	r.Format, r.Encoding, r.Compression, r.Columns = s.Format, s.Encoding, s.Compression, s.Columns
	r.Weighted, r.Notes = s.Weighted, s.Notes
	r.Lines, r.Comments, r.Blank, r.BadLines = s.Lines, s.Comments, s.Blank, s.BadLines
	r.DeclaredVertices, r.DeclaredEdges = s.DeclaredVertices, s.DeclaredEdges
	r.Directed = s.Directed
}

func (r *Report) setRows(rows *rows, d *dictionary) {
	r.Vertices, r.IDType = d.count, idTypeNumber
	if d.text {
		r.IDType = idTypeString
	}
	r.Edges, r.Repeats, r.Reciprocal, r.OneWay = rows.arcs/2, rows.repeats, rows.reciprocal, rows.oneWay
	r.Isolated = rows.histogram[0]
	r.Degrees = rows.degreeSummary()
	r.guessDirection()
}

// guessDirection says whether rows look like arcs or like undirected edges. An
// input that says so is believed, unless it lists every pair both ways: headers
// call such files directed, too.
func (r *Report) guessDirection() {
	pairs := r.Edges + r.OneWay
	switch {
	case pairs > 0 && r.Reciprocal == pairs:
		r.Directed, r.DirectedReason = "no", "every pair is listed both ways"
	case r.Directed == "yes" || r.Directed == "no":
		r.DirectedReason = "the input says so"
	case pairs == 0:
		r.Directed, r.DirectedReason = "unknown", "there are no edges"
	case r.Reciprocal == 0:
		r.Directed, r.DirectedReason = "unknown", "no pair is listed both ways: undirected edges listed once, or arcs that are never returned"
	default:
		r.Directed = "yes"
		r.DirectedReason = fmt.Sprintf("%.1f %% of the pairs are listed both ways", 100*float64(r.Reciprocal)/float64(pairs))
	}
}

// check is the balance of rows: nothing is lost, nothing appears.
func (r *Report) check(stats reader.Stats) error {
	out := r.Edges + r.OneWay + r.Loops + r.Light + r.Repeats + r.Reciprocal
	if r.Rows != out || r.Rows != stats.Rows {
		return &LossError{Detail: fmt.Sprintf("%d rows read and %d counted; %d edges, %d one-way, %d loops, %d light, %d repeats, %d reciprocal add up to %d",
			stats.Rows, r.Rows, r.Edges, r.OneWay, r.Loops, r.Light, r.Repeats, r.Reciprocal, out)}
	}
	return nil
}
