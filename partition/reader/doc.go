// Package reader turns graph files of any usual format into a stream of
// vertices and edges.
//
// # Contract
//
//	Open     paths, globs, folders of parts, "-"   → Reader; formats are found by content, never by name;
//	                                                 only read-mes and the like (IsCompanion) are skipped in folders
//	ForEach  two callbacks                         → every listed vertex, every row, once
//	ReadList a list of vertices                    → every id, once per line
//	Stats    what was read                         → format, encoding, compression, counts, notes
//
// Nothing is lost in silence. Loops, repeats and reverse pairs are handed out
// as they stand; comments, blank lines and skipped lines are counted; anything
// else that is not an edge is an error that names file, line and what is
// wrong. Counts that a format declares are checked against the body. An input
// is good only when ForEach has returned nil.
//
// # Ids
//
// An id is a label: the bytes in the file, never a number that went through a
// float, up to 2^64-1 and beyond. "007" and "+7" are labels other than "7". What looks
// like a negative or decimal number (-1, 1.0, 1e6) is refused unless
// Options.IDType is "string". Bytes are kept exactly, UTF-8 or not; only UTF-16
// with a byte order mark is converted (to UTF-8). In GML, GraphML and GEXF the
// id is the id of the node, not its label, and ids in quotes are text, which may look
// like anything; in MatrixMarket, METIS and Pajek it is the number 1..N in
// plain decimal form.
//
// # Formats
//
//	edgelist   two ids per line, cut by white space or , ; |, then weight and time (SNAP, KONECT, ncol);
//	           # and % begin a comment only as first byte that is not blank
//	csv, tsv   with a header, RFC 4180 quotes; every row has as many fields as the header;
//	           quoted fields keep their blanks, others lose them at both ends
//	adjlist    a vertex, then its neighbours; only when Options.Format says so
//	gml, graphml, gexf, mtx, metis, pajek, parquet
//
// Detection sees the first 256 KiB of text. Two formats can look alike: a METIS
// file is told from an edge list by its header and by the symmetry of its rows,
// and a first row of names is a header only when its names are known
// (source,target; from,to; id_1,id_2; ...) or when all rows under it are
// integers; Stats.Notes says where a guess may be wrong.
//
// Packed with gzip (several members), zstd, bzip2, xz, or zip with one member.
// Lines end with LF, CRLF or CR.
//
// # Bounds
//
// Everything streams: a line may have 16 MiB (64 MiB where a line holds a
// whole neighbourhood), a decoder window 128 MiB; a header may claim what it
// likes. Formats that declare vertices keep a set of their ids: about a bit to
// two bytes per number, 16 to 43 bytes per name.
//
// # Refused
//
// Empty and binary files, web pages, JSON, DOT, DIMACS, dense or rectangular or
// complex matrices, bipartite KONECT graphs, hyperedges, files with two
// graphs, truncated or damaged packing, a folder of mixed formats.
//
// Errors quote the beginning of the offending line, so they stay inside the
// boundary, as the graph does.
package reader
