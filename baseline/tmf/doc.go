// Package tmf is the Top-m Filter of Nguyen, Imine and Rusinowitch ("Differentially
// Private Publication of Social Graphs at Linear Cost", ASONAM 2015).
//
// Contract. Every cell of the upper triangle of the adjacency matrix gets Laplace
// noise of scale 1/ε₁, and the cells that pass a threshold θ become the edges. θ is
// chosen from the noisy number of edges so that about as many cells pass; cells
// without an edge are not visited, how many of them pass is drawn at once. Time and
// memory are proportional to the edges in and out.
//
// Guarantee. ε-edge differential privacy: one edge changes one cell by 1 (ε₁) and
// the number of edges by 1 (ε₂ = ε − ε₁). The paper fills the output up to the noisy
// number of edges; here the number of passing empty cells is binomial, which is
// exactly what noise in every cell gives and what the proof is about.
//
// Units. Vertices keep their numbers: output and input can be compared vertex by
// vertex.
//
// What it refuses: ε that is not a positive number, graphs of fewer than 2 vertices.
package tmf
