// Package method is the interface of a published way to a private synthetic graph, so
// that commands and benchmarks can run methods without knowing them.
//
// Contract. A Method takes a simple undirected graph whose vertices are public and
// returns a graph on the same vertices, with a sentence that says what is guaranteed, for
// whom and under what condition. A seed repeats a run.
//
// Units. ε and δ for one edge or one node, as Method.Unit says. Matched tells whether
// vertex v of the output stands for vertex v of the input; where it does not, the vertices
// are in random order, so that a comparison vertex by vertex measures chance and not the
// order of a file.
//
// What it refuses: ε or δ out of range, and what the method itself refuses.
package method
