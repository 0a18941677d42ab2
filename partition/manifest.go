package partition

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
)

// ManifestKey is the key of the manifest in a graph folder. A folder without
// it holds no graph.
const ManifestKey = "manifest.json"

// FormatVersion is the version of the graph folder that is written and read.
const FormatVersion = 1

const (
	manifestFormat = "privcom.graph"

	idTypeNumber = "uint64"
	idTypeString = "string"
)

// Manifest names and pins every file of a graph folder.
type Manifest struct {
	Format  string `json:"format"`  // "privcom.graph"
	Version int    `json:"version"` // FormatVersion

	Vertices int64 `json:"vertices"`
	Arcs     int64 `json:"arcs"` // entries of the matrix: twice the edges

	IDType       string `json:"id_type"`       // "uint64" or "string"
	IDEncoding   string `json:"id_encoding"`   // "number", "utf-8", or "binary" if some id is not UTF-8
	VertexSource string `json:"vertex_source"` // "input" or "list": where the vertex list comes from

	DegreeBound int64    `json:"degree_bound"` // declared and checked; 0: none
	Mutual      bool     `json:"mutual"`       // only pairs listed both ways are edges
	MinWeight   *float64 `json:"min_weight"`   // rows of a lower weight were dropped; null: weights ignored

	Shards      []Shard `json:"shards"`
	VertexFiles []File  `json:"vertex_files"` // one per shard, with the ids of its rows

	Content string `json:"content"` // hash of the graph, whatever its shards
	Hash    string `json:"hash"`    // hash of this manifest with an empty hash
}

// Shard is a file with the arcs of consecutive rows.
type Shard struct {
	Key      string  `json:"key"`
	FirstRow int64   `json:"first_row"`
	Rows     int64   `json:"rows"`
	Arcs     int64   `json:"arcs"`
	Bytes    int64   `json:"bytes"`
	SHA256   string  `json:"sha256"`
	Groups   []Group `json:"groups"` // Parquet row groups, in order
}

// Group is a Parquet row group: the arcs of the rows FirstRow to
// FirstRow+Rows-1. Groups tile the rows of a shard, except that a row with
// more arcs than a group may hold is divided: the next group begins with the
// same row. A shard without arcs has no group.
type Group struct {
	FirstRow int64 `json:"first_row"`
	Rows     int64 `json:"rows"`
	Arcs     int64 `json:"arcs"`
}

// File is a file with vertex ids.
type File struct {
	Key    string `json:"key"`
	Rows   int64  `json:"rows"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// seal fills in Hash and gives the manifest's bytes.
func (m *Manifest) seal() ([]byte, error) {
	hash, err := m.hash()
	if err != nil {
		return nil, err
	}
	m.Hash = hash
	data, err := json.MarshalIndent(m, "", "  ")
	return append(data, '\n'), err
}

func (m *Manifest) hash() (string, error) {
	bare := *m
	bare.Hash = ""
	data, err := json.Marshal(&bare)
	if err != nil {
		return "", fmt.Errorf("partition: encode the manifest: %w", err)
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:]), nil
}

// parseManifest reads and checks a manifest.
func parseManifest(data []byte) (*Manifest, error) {
	var head struct {
		Format  string `json:"format"`
		Version int    `json:"version"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return nil, err
	}
	if head.Format != manifestFormat {
		return nil, fmt.Errorf("its format is %q, want %q", head.Format, manifestFormat)
	}
	if head.Version != FormatVersion {
		return nil, fmt.Errorf("its version is %d, this program reads %d", head.Version, FormatVersion)
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	m := &Manifest{}
	if err := d.Decode(m); err != nil {
		return nil, err
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, fmt.Errorf("bytes follow the manifest")
	}
	if err := m.check(); err != nil {
		return nil, err
	}
	if hash, err := m.hash(); err != nil || hash != m.Hash {
		return nil, fmt.Errorf("its hash is %s, it says %s", hash, m.Hash)
	}
	return m, nil
}

// check tests that the parts fit together, so that no reader has to.
func (m *Manifest) check() error {
	if m.Vertices < 1 || m.Vertices > maxVertices || m.Arcs < 0 || m.Arcs%2 != 0 {
		return fmt.Errorf("%d vertices and %d arcs", m.Vertices, m.Arcs)
	}
	if !validIDs(m.IDType, m.IDEncoding) {
		return fmt.Errorf("ids of type %q in encoding %q", m.IDType, m.IDEncoding)
	}
	if len(m.Shards) < 1 || len(m.Shards) > MaxShards || len(m.VertexFiles) != len(m.Shards) {
		return fmt.Errorf("%d shards and %d vertex files", len(m.Shards), len(m.VertexFiles))
	}
	row, arcs := int64(0), int64(0)
	for i := range m.Shards {
		s := &m.Shards[i]
		if s.FirstRow != row || s.Rows < 0 || s.Rows > m.Vertices-row {
			return fmt.Errorf("shard %d has rows %d+%d where row %d is next", i, s.FirstRow, s.Rows, row)
		}
		if m.VertexFiles[i].Rows != s.Rows {
			return fmt.Errorf("vertex file %d has %d ids, shard %d has %d rows", i, m.VertexFiles[i].Rows, i, s.Rows)
		}
		if err := s.check(); err != nil {
			return fmt.Errorf("shard %d: %w", i, err)
		}
		row += s.Rows
		arcs += s.Arcs
	}
	if row != m.Vertices || arcs != m.Arcs {
		return fmt.Errorf("the shards have %d rows and %d arcs, the graph %d and %d", row, arcs, m.Vertices, m.Arcs)
	}
	return nil
}

func validIDs(kind, encoding string) bool {
	switch kind {
	case idTypeNumber:
		return encoding == "number"
	case idTypeString:
		return encoding == "utf-8" || encoding == "binary"
	}
	return false
}

// check tests that the groups tile the rows.
func (s *Shard) check() error {
	if s.Arcs < 0 || s.Bytes < 0 {
		return fmt.Errorf("%d arcs in %d bytes", s.Arcs, s.Bytes)
	}
	next, arcs := s.FirstRow, int64(0)
	for i, g := range s.Groups {
		divided := i > 0 && g.FirstRow == next-1
		if g.FirstRow != next && !divided || g.Rows < 1 || g.Arcs < 1 || g.Arcs > s.Arcs-arcs || g.Rows > s.FirstRow+s.Rows-g.FirstRow {
			return fmt.Errorf("row group %d has rows %d+%d and %d arcs where row %d is next", i, g.FirstRow, g.Rows, g.Arcs, next)
		}
		next = g.FirstRow + g.Rows
		arcs += g.Arcs
	}
	if arcs != s.Arcs || len(s.Groups) > 0 && next != s.FirstRow+s.Rows {
		return fmt.Errorf("its row groups end at row %d with %d of %d arcs", next, arcs, s.Arcs)
	}
	return nil
}
