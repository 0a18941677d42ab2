// Package partition turns graph files into a graph folder, verified and
// divided by rows, and reads that folder back.
//
// # Contract
//
//	Inspect    files            → Report: what is in them, nothing written
//	Ingest     files, bucket    → graph folder, Manifest, Report
//	OpenGraph  bucket           → Graph: LoadShard, VertexIDs, Verify, LoadWhole
//
// A graph is simple and undirected, on vertices 0..n-1, n < 2^31. Vertex i is
// the i-th id: in numeric order if every id is a canonical decimal number below
// 2^64, else in bytewise order. A vertex that only a loop, a dropped row or a
// list of nodes names is a vertex. Loops are dropped, repeats and reverse pairs
// merged, each counted; the balance
//
//	rows = edges + one_way + loops + light + repeats + reciprocal
//
// is checked, and a row that it misses is an error, never a shorter graph.
//
// The same rows in any order, over any number of input files, with any memory
// budget, give the same bytes. The folder's format is docs/format/graph.md.
//
// # Units and bounds
//
// An arc is an entry of the symmetric matrix: an edge is two arcs. Memory is
// bytes. Reading is one pass; ids and arcs go to temporary files beyond
// Options.Memory, and those are removed however the call ends.
//
// # How it sorts
//
// Tables are parsed by several goroutines, each a block of text at a time. Ids
// that are numbers below a limit are kept in a bitmap, and arcs are sorted
// under the ids themselves, whose order is that of the rows. Other ids get
// local numbers from a hash table, in one goroutine; a full table is written
// out sorted, as one chunk. A merge of the chunks gives the dictionary, and per
// chunk the final index of each local number, by which its edges are
// translated. Arcs are packed into 64-bit keys; each goroutine sorts its full
// buffer by radix, as one run. Ranges of keys that fit the cache are then
// gathered from all runs, sorted again, and made into rows, several at a time.
//
// # Refused
//
// A folder that holds a graph already (storage.ErrExists), a graph without
// edges (ErrNoEdges), a vertex that the vertices file does not list
// (UnlistedError), a declared degree bound that does not hold
// (DegreeBoundError), and whatever package reader refuses. Errors name
// vertices and lines: they are as private as the graph.
package partition
