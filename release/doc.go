// Package release turns an ingested graph into a published synthetic graph: it
// resolves the public parameters, walks the steps in the one order that the
// guarantee allows, and writes, describes and verifies the output folder.
//
// # Contract
//
//	plan → run.json → lease → claim the folder → reserve in the ledger → Oja steps → fit →
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
//	_STARTED        until right before _SUCCESS: the claim of a run on its folder
//
// Every byte is a function of noisy answers, public parameters and public randomness.
//
// # Runs that are interrupted
//
// Every noisy answer is one object of the run's work folder, made by create-if-absent, and
// only what that object holds is used (docs/format/run.md has the argument). So a run can
// die between any two storage calls and be taken up again by Begin, also by two at once:
// the same reservation, the same answers, the same bytes. The lease keeps coordinators
// from doing the same work; it guards nothing.
//
// # Refusals
//
// A folder that already holds another release or the remains of one; a run that was started
// with other settings, or that another coordinator works on; parameters outside
// their bounds (all listed at once); a graph without a manifest; a ledger over its
// limit. None of them spends budget.
package release
