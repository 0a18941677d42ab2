// Package privoja is the private Oja loop as a state machine: it multiplies through
// a seam, draws noise through a grant, and keeps a transcript. It knows neither NATS
// nor files.
//
// # Contract
//
// One step (paper, Algorithm 1, lines 3–6, with the mends of docs/paper.md):
//
//	V_t  public n×k, orthonormal columns
//	     → rows clipped to μ√(k/n) and quantised            blockmatmul.Quantise
//	Q_t  = clip_c(A·V_t), exact integers, private           Multiplier
//	Y_t  = Q_t + discrete Gaussian, public                  privacy.Grant
//	     → recorded, durable, before anything depends on it Transcript
//	V_{t+1} = QR(V_t + η_t·Y_t)                             cholesky.QR
//
// Everything after Y_t is post-processing of public numbers and costs no budget: in
// particular Fit, which estimates eigenvectors and eigenvalues from the whole
// transcript instead of the last step.
//
// # Invariants
//
// A step's noise is drawn once: a Machine that finds the step in its transcript uses
// the recorded Y. For the same transcript the result is the same bits. A machine is
// used by one goroutine.
//
// # Refusals
//
// A grant of another unit or an exhausted one, a V₀ of the wrong shape or not finite,
// a transcript of another plan.
package privoja
