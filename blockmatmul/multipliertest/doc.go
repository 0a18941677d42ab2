// Package multipliertest is the conformance suite of blockmatmul.Multiplier.
//
// # Contract
//
// Every implementation (in one process, over NATS, dense) runs Suite in its own tests. The
// suite compares each product, bit by bit, with Dense, which follows the definition with
// big integers and an n×n matrix. It refuses nothing; it fails the test.
package multipliertest
