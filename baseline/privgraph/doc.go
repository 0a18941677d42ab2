// Package privgraph is PrivGraph of Yuan, Zhang, Du, Chen, Cheng and Sun ("PrivGraph:
// Differentially Private Graph Data Publication by Exploiting Community Information",
// USENIX Security 2023).
//
// Contract. Vertices are put into random groups of 20; the weighted graph of the groups,
// with noise in every cell, is given to Louvain; then each vertex chooses a community by
// an exponential mechanism on its number of edges into each. Of the communities that
// stand, the degrees inside and the number of edges between each two are published with
// noise. Inside a community the graph is drawn by the Chung-Lu model of the noisy degrees,
// between communities uniformly among all pairs of their vertices.
//
// Guarantee. ε-edge differential privacy, a third for each stage. Groups: one edge changes
// one weight by 1, Laplace noise of scale 1/ε₁. Choice: an edge raises one score of
// each of its two ends, all in one direction, so weights exp(ε₂/2 · score) cost ε₂/2 per end.
// Figures: an edge is either inside of a community, where it changes two degrees (scale
// 2/ε₃), or between two, where it changes one count (scale 1/ε₃). The number of vertices is
// public.
//
// Units. Vertices keep their numbers: output and input can be compared vertex by vertex.
//
// What it refuses: ε that is not a positive number, graphs of fewer than 2 vertices, and
// graphs whose groups have more than 50 million pairs (about 200,000 vertices): every one of
// them gets noise and memory.
package privgraph
