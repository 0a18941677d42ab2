// Package baseline runs what PrivCom is compared with: other published ways to a
// private synthetic graph, under one interface.
//
// Contract. A Method takes a simple undirected graph whose vertices are public and
// returns a graph on the same vertices, with a sentence that says what is guaranteed,
// for whom and under what condition. Each has a package of its own, written from its
// paper, that proves its sensitivities and says where it departs from the paper.
//
// Comparison only. The noise is made of floats, drawn from a seeded generator, and no
// ledger is kept: a result measures a method and must not be published. Nothing of the
// pipeline may import this folder.
//
// Units. ε and δ for one edge or one node, as Method.Unit says. Matched tells whether
// vertex v of the output stands for vertex v of the input; where it does not, the vertices
// are in random order, so that a comparison vertex by vertex measures chance and not the
// order of a file.
//
// What it refuses: unknown names, ε or δ out of range, graphs too large for a method.
package baseline
