// Package statistics measures a graph held in memory: degrees, triangles and
// clustering, distances, assortativity and eigenvector centrality, and how far two
// degree distributions lie apart.
//
// Contract. Graphs are simple and undirected (community.Graph without loops; its
// weights are ignored). Every figure is exact up to a stated amount of work and
// sampled above it; a result says which (Exact), from how many draws, and with what
// standard error. Samples depend on the seed only.
//
// Units. Distances are numbers of edges; clustering coefficients, assortativity and
// correlations are pure numbers; divergences use natural logarithms.
//
// What it refuses: nothing but a cancelled context, which ends every long function
// within milliseconds. A figure that has no value on a graph (the clustering of a
// graph without wedges, the assortativity of a regular graph) is 0.
package statistics
