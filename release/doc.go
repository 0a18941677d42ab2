// Package release turns an ingested graph into a published synthetic graph: it
// resolves the public parameters, walks the steps in the one order that the
// guarantee allows, and writes, describes and verifies the output folder.
//
// # Contract
//
//	check the folder → plan → reserve in the ledger → Oja steps → fit →
//	(noisy edge counts) → law → edges → release.json → commit → _SUCCESS
//
// Nothing is read from the graph before the reservation is durable, and nothing of
// the graph is read after the last noisy answer: what follows sees V, Λ, counts with
// noise, and public randomness.
//
// # The folder
//
//	release.json    guarantee, parameters, noise, files with rows, bytes, SHA-256
//	edges-*.parquet src, dst in the input's ids
//	nodes.parquet   the public vertex list
//	factors.parquet V, one row per vertex; Λ is in release.json
//	release.html    the same for people
//	_SUCCESS        last; a folder without it is not a release
//	_STARTED        only until nodes.parquet stands: the claim of a run on its folder
//
// Every byte is a function of noisy answers, public parameters and public randomness.
//
// # Refusals
//
// A folder that already holds a release or the remains of one; parameters outside
// their bounds (all listed at once); a graph without a manifest; a ledger over its
// limit. None of them spends budget.
package release
