// Package dk publishes the dK-1 and dK-2 series of a graph with edge differential
// privacy and builds a graph from them (Wang and Wu, "Preserving Differential Privacy
// in Degree-Correlation based Graph Generation", Transactions on Data Privacy 6, 2013).
//
// Contract. dK-1 is the number of vertices of every degree, dK-2 the number of edges
// between every two degrees. Every cell that could be occupied on n public vertices
// gets noise, occupied or not: n cells for dK-1, n(n−1)/2 for dK-2. The noisy vector
// is projected onto the non-negative vectors of a total that is known (n vertices) or
// measured (the edges), which is post-processing, and a graph is drawn that has the
// result as nearly as a simple graph can. Empty cells are not listed: those whose noise
// passes a level are drawn at once, which is exact. Time and memory grow with the edges
// and with at most one million noisy empty cells.
//
// Guarantee of dK-1. ε-edge differential privacy: one edge moves two vertices from
// one cell to the next, an L1 distance of 4, against Laplace noise of scale 4/ε.
//
// Guarantee of dK-2. (ε, δ)-edge differential privacy by smooth sensitivity (Nissim,
// Raskhodnikova, Smith 2007). An edge uv that comes or goes re-labels the other edges at
// u and v, at a distance of 2 each, and is itself one: the local sensitivity is at
// most 2σ + 1, where σ is the largest number of other edges that a pair of vertices
// has together. σ changes by at most 1 from a graph to its neighbour, so
// S = max_t e^{−βt}(2·min(σ+t, 2n−4) + 1) is a β-smooth bound of it. Noise is 2S/ε times a
// vector Z of independent Laplace draws. Going from a graph to its neighbour, first
// the scale changes by at most e^{±β}, then the centre by at most S (this order leaves δ
// without a factor). The second step costs ε/2. The first costs the ratio of the densities of Z
// and of Z stretched by e^λ, |λ| ≤ β, over d cells: ‖z‖₁(e^λ−1) − λd. ‖Z‖₁ is a Gamma variable
// of shape d, below d − √(2d·ln 1/δ) with chance at most δ, and above d + √(2d·ln 1/δ) + ln 1/δ
// with chance at most δ; β is the largest for which the ratio stays within ε/2 between
// these ends. The one-dimensional β = ε/(2·ln(2/δ)) is far
// too large for d cells, and no guarantee follows from it. The total costs 5 % of ε.
//
// Units. ε and δ for one edge. Neither series knows who a vertex is: the vertices of the
// output are in random order, and comparing them with the input's one by one
// measures chance.
//
// What it refuses: ε or δ out of range, graphs of fewer than 2 vertices.
package dk
