// Package privacy holds what the guarantee rests on: the unit of protection,
// the sensitivity of each integer query, exact discrete Gaussian noise, the
// zCDP accountant, the ledger and the plan.
//
// # Contract
//
//   - Everything that can be said without the graph is said here; nothing of the
//     graph is imported, and no parameter depends on the data.
//   - Noise exists only behind a Grant, and a Grant exists only behind a durable
//     ledger reservation. Each Grant method charges what it used before it draws,
//     and refuses to pass the reservation.
//   - Costs are decimals rounded up, budgets are decimals rounded down. ε, δ and ρ
//     are checked: finite, positive, ε ≥ 2⁻⁵⁰.
//   - Bounds are integers in the units of the query (see sensitivity.md beside
//     this file: each lemma is named by the test that checks it).
//
// The certified figure is zCDP converted by the bound of Canonne, Kamath and
// Steinke (2020); the exact curve of a continuous Gaussian and the paper's basic
// composition are printed beside it as references, never certified.
package privacy
