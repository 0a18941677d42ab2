// Package draw holds the randomness of the baselines: Laplace and Gaussian noise,
// binomial counts, and uniform sets of different pairs of vertices.
//
// Contract. Everything is drawn from the generator that the caller hands in, so a
// seed repeats a run. The noise is made of floats from a seeded generator: it is
// good for comparing methods and not for publishing anything (Mironov 2012).
//
// Units. Scales are those of the quantity that gets the noise.
//
// What it refuses: nothing; scales and counts must not be negative (programming
// mistakes panic).
package draw
