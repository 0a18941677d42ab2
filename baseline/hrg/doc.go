// Package hrg publishes a graph through a hierarchical random graph (Xiao, Chen and Tan,
// "Differentially Private Network Data Release via Structural Inference", KDD 2014).
//
// Contract. A dendrogram is a binary tree whose leaves are the vertices; an inner node r
// with n_L and n_R leaves on its sides and e_r edges between them has the likelihood
// p^e (1−p)^(N−e), N = n_L·n_R, p = e/N. A Markov chain that exchanges subtrees draws a
// dendrogram T with weight exp(ε₁·log L(T) / 2Δ); then the e_r get Laplace noise and
// a graph is drawn from the noisy chances. Subtrees of few pairs of vertices are
// measured as one block, by a rule that reads T and ε only, because noise in each of their
// nodes would drown them.
//
// Guarantee. ε-edge differential privacy, half for T, half for the counts, in the limit
// of a chain that has converged: after a finite number of steps the distribution of T is not
// the one of the exponential mechanism, and nobody has bounded the difference. The number of steps
// is a parameter, not read from the run. Δ: one edge changes one e_r by 1, and of all
// changes of e log(e/N) + (N−e) log(1−e/N) the one from 0 to 1 is largest:
// ln N + (N−1)·ln(1 + 1/(N−1)), which grows with N ≤ ⌊n²/4⌋. Counts: an edge lies in one
// node, so noise of scale 1/ε₂ in each is enough.
//
// Units. Logarithms are natural. Vertices keep their numbers: output and input can be
// compared vertex by vertex.
//
// What it refuses: ε that is not a positive number, graphs of fewer than 2 vertices, and a
// negative number of steps.
package hrg
