// Package bench repeats experiments: the paper's figure, the grid of the Private Graph
// Benchmark (Liu et al., arXiv 2408.02928), and what a release keeps at which ε.
//
// Contract. An experiment is a list of jobs, each a graph, a method, a unit, ε, δ and a
// seed. Run does the jobs one after the other and writes each result as a line of
// runs.jsonl at once, so that an experiment that was stopped goes on where it was. From the
// results come means, medians and standard deviations, a table, JSON, CSV and a drawing.
//
// Privacy. Results are computed from originals: they belong inside the boundary, unless the
// graphs are public. The files say so.
//
// Units. Scores as in package metrics; errors as in package evaluate; seconds of wall time.
//
// Invariants. The same jobs on the same graphs give the same figures for methods whose
// noise is seeded; PrivCom's noise is never seeded, so its figures vary.
//
// What it refuses: jobs on graphs that are not given, and a results file that it cannot read.
// A method that fails on a graph is a result that says why, not an end of the experiment.
package bench
