// Package export writes graphs to files that other programs read.
//
// # Contract
//
// NewWriter opens a writer for the format that the file's name says; the caller
// writes each undirected edge once and closes it. The file appears under its
// name, replacing what was there, only when Close returns nil: until then it is
// a hidden temporary file in the same folder, which Abort or a failed Close
// removes. After an error a writer refuses further edges and Close returns that
// error.
//
//	format   names             holds                                 isolated vertices, labels
//	snap     .txt .edges .tsv  source TAB target, no header          no, no
//	csv      .csv              Source,Target with that header        no, no
//	mtx      .mtx              MatrixMarket pattern symmetric, 1..n  yes, no
//	gml      .gml              node id, label; edge source, target   yes, yes
//	graphml  .graphml          node id; edge source, target          yes, yes
//	parquet  .parquet          columns src, dst                      no, no
//
// All but Parquet, which compresses its own pages, take a suffix .gz or .zst.
// WriteLabels writes communities beside formats that cannot hold them.
//
// # Identifiers
//
// Vertices are named by number 0..N-1 (Write) or by identifier (WriteIDs). With
// Options.IDs a number is written as its identifier, without as the number.
//
// GML's node ids are integers: the identifiers if N and IDs are given and all
// are integers below 2^31, else 0..N-1, with the identifiers as labels.
// MatrixMarket has only row numbers: vertex i is row i+1 and identifiers are not
// in the file.
//
// # Memory
//
// Constant, but for WriteIDs with mtx, gml and graphml, which keeps a dictionary
// of the identifiers. Where a head needs what only the end tells (mtx always,
// gml and graphml when N is not given) edges wait in a second temporary file.
//
// # What it refuses
//
// Numbers outside 0..N-1; with mtx, gml and graphml also identifiers that N and
// IDs do not name; and identifiers that the format cannot hold: empty ones,
// white space in snap, control characters in graphml, non-integers in a Parquet
// file without Options.StringIDs. The error says which one and after how many
// edges.
package export
