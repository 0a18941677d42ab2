// Package metrics compares two partitions of the same vertices: the average F1
// of the paper (both ways and weighted by size), normalised and adjusted mutual
// information, the adjusted Rand index and the F1 of vertex pairs.
//
// Contract. A partition is a slice of community numbers, one per vertex, in any
// numbering; a negative number means that the vertex has none, and vertices
// without a community on either side are left out of every figure (N counts the
// rest). Communities do not overlap. Everything is computed from the sparse
// contingency table of the two partitions, whose size is at most the number of
// vertices, so that a million vertices take well under a second.
//
// Units. Logarithms are natural; every score is a pure number. AMI and ARI are
// adjusted for chance: 0 is what a random partition with the same community
// sizes gets on average, 1 is equality, and both can be slightly negative. Avg-F1
// and NMI are not adjusted and reward trivial partitions (one community, or all
// singletons), which is why callers show those beside them.
//
// Invariants. Scores do not depend on how communities are numbered; NMI, AMI,
// ARI and pairwise F1 are symmetric; the two directions of Avg-F1 exchange when
// the partitions do. Equal partitions score 1 everywhere.
//
// What it refuses: partitions of different length, and pairs that share no
// vertex with a community on both sides.
package metrics
