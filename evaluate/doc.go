// Package evaluate compares a synthetic graph with the original it stands for:
// communities, modularity, edges, degrees, clustering, distances and centrality,
// each beside rows that show what the figure is worth.
//
// Contract. Compare takes two simple undirected graphs on the same vertices in the
// same order and finds communities in both with the same method. The original's
// partition is the reference. Beside the release stand a ceiling (a second run on
// the original with another seed), and what knows nothing of the communities: a
// random graph with the release's number of edges, the release's own partition with
// its vertices shuffled, one community, and all singletons. AMI and ARI come first,
// because they are 0 for all of these; Avg-F1 and NMI are not. With ground-truth
// labels the same rows are scored against the labels too.
//
// Privacy. An evaluation reads the original graph. It is private, spends no budget
// because nothing of it is published, and every form of it says so: it belongs
// inside the boundary and never into a release folder.
//
// Units. Scores as in package metrics, graph figures as in package statistics.
// Errors are release minus original; relative errors are divided by the original.
//
// Invariants. The result is a function of the graphs, the labels and the options:
// two processors or one, the figures are the same. With Repeat > 1 every score is
// the median over the runs, with the lowest and the highest beside it.
//
// What it refuses: graphs with different numbers of vertices, malformed graphs,
// labels of another length than the graphs, unknown methods. A cancelled context
// ends the work within milliseconds.
package evaluate
