// Package baseline holds what PrivCom is compared with: other published ways to a private
// synthetic graph.
//
// Contract. Methods lists them behind the interface of package method. Each has a
// package of its own, written from its paper, that proves its sensitivities and says where
// it departs from the paper.
//
// Comparison only. The noise is made of floats, drawn from a seeded generator, and no
// ledger is kept: a result measures a method and must not be published. Nothing of the
// pipeline may import this folder, and neither do the binaries of a cluster.
//
// What it refuses: ε or δ out of range, graphs too large for a method.
package baseline
