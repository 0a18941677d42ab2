// Package firstcut holds the three ways to a noisy Katz matrix that the paper considers
// before its own or on the way to it (Zhang, Ni, Fu, section "Private Oja Algorithm"):
// noise on every entry of H̃, noise on the matrix in every step of Oja's iteration (eq. b),
// and noise on the product with V (eq. c).
//
// Contract. H̃ = Σ_{l=1..2h+1} βˡAˡ. Entries: every one of n² entries is a Gaussian mechanism of
// its own with (ε/n², δ/n²), as the paper splits the budget. Matrix: T steps
// V ← QR(V + η(H̃ + N)V) and one more for the eigenvalues, each N fresh, η = 1/(Tσ√n).
// Vector: T steps V ← QR(V + η(H̃V + g)), eigenvalues λ = √(‖H̃v‖² + N(0, σ²)). The released graph
// joins the M pairs of the largest noisy index. The paper would rebuild the graph through
// a pseudoinverse, whose sign is wrong for a similarity (docs/paper.md); the largest
// pairs are what the noisy matrix itself says, and better for these methods.
//
// N·V is drawn directly: V has orthonormal columns, so it is a matrix of independent
// N(0, σ²), and no n×n matrix of noise is needed.
//
// Guarantee. (ε, δ) differential privacy between any two graphs on the same vertices,
// so for one node in particular. Entries: β = 1/(2(n−1)), each entry lies in [0, 1), S = 1;
// σ = √(2 ln(1.25/δ_i))/ε_i and basic composition. Matrix: the same β, so H̃ changes by less than n in
// Frobenius norm; T+1 Gaussian mechanisms under the zCDP accountant. Vector: β of the paper's
// Lemma, S = 1 for H̃V and for ‖H̃v‖²; T+k Gaussian mechanisms under the accountant. The noise is
// made of floats, for comparison only.
//
// Units. Vertices keep their numbers. M is a public number, never read from the graph;
// by default it is n, as in the paper's profile of the pipeline.
//
// What it refuses: ε or δ out of range, and more than 20,000 vertices, because all pairs
// are visited.
package firstcut
