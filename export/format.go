package export

import (
	"fmt"
	"path/filepath"
	"strings"
)

// Format is a file format, by its name on the command line.
type Format string

// The formats that can be written.
const (
	Snap    Format = "snap"
	CSV     Format = "csv"
	MTX     Format = "mtx"
	GML     Format = "gml"
	GraphML Format = "graphml"
	Parquet Format = "parquet"
)

// Compression of a whole file.
type Compression string

// The compressions that can be written.
const (
	None Compression = ""
	Gzip Compression = "gzip"
	Zstd Compression = "zstd"
)

var byExtension = map[string]Format{
	".txt": Snap, ".edges": Snap, ".tsv": Snap,
	".csv": CSV, ".mtx": MTX, ".gml": GML, ".graphml": GraphML, ".parquet": Parquet,
}

// Formats lists the formats in the order of the documentation.
func Formats() []Format { return []Format{Snap, CSV, MTX, GML, GraphML, Parquet} }

// FormatOf reads format and compression off a file's name.
func FormatOf(path string) (Format, Compression, error) {
	stem, compression := splitCompression(path)
	ext := strings.ToLower(filepath.Ext(stem))
	f, ok := byExtension[ext]
	if !ok {
		return "", "", fmt.Errorf("export: the name %s does not say which format to write; "+
			"end it with .txt, .edges, .tsv, .csv, .mtx, .gml, .graphml or .parquet, and .gz or .zst after that", path)
	}
	if f == Parquet && compression != None {
		return "", "", fmt.Errorf("export: %s: a Parquet file compresses its own pages; leave %s out", path, path[len(stem):])
	}
	return f, compression, nil
}

func splitCompression(path string) (stem string, c Compression) {
	switch ext := filepath.Ext(path); strings.ToLower(ext) {
	case ".gz":
		return strings.TrimSuffix(path, ext), Gzip
	case ".zst":
		return strings.TrimSuffix(path, ext), Zstd
	}
	return path, None
}

// known reports whether f is a format.
func (f Format) known() bool {
	for _, x := range Formats() {
		if f == x {
			return true
		}
	}
	return false
}
