// Package community finds communities in an undirected graph held in memory:
// Louvain, Leiden and label propagation, and the modularity of any partition.
//
// Contract. Graph is a symmetric adjacency in compressed sparse rows, weighted or
// not. Every finder returns one community number per vertex, 0 … Count−1 in order
// of first appearance, and every community it returns is connected. The result is
// a function of the graph, the options and the seed only: it does not depend on
// the machine, on the number of processors or on map order.
//
// Units. Weights are whole numbers > 0; an arc (u,v) and its mirror (v,u) carry
// the same weight, and 2m, the total over all arcs, is what modularity divides by.
// All gains are compared as exact integers, 2m·w(v,C) − k(v)·K(C), so no tie is
// ever decided by rounding.
//
// Invariants. A level of Louvain or Leiden never lowers modularity; an isolated
// vertex is a community of its own; a graph without edges has modularity 0.
//
// What it refuses: malformed or asymmetric graphs, weights ≤ 0, a total weight of
// 2^31.5 or more (1.5 thousand million edges; the exact products would leave 63
// bits), and partitions of another length than the graph. A cancelled context ends
// a finder within milliseconds, with the context's error and no result.
package community
