package metrics

// pairScores counts ordered pairs of different vertices: together in both
// partitions (tp), only in the detected one (fp), only in the truth (fn), in
// neither (tn). The adjusted Rand index is (Hubert & Arabie 1985)
//
//	ARI = 2(tp·tn − fn·fp) / ((tp+fn)(fn+tn) + (tp+fp)(fp+tn)),
//
// and the F1 of pairs is 2tp / (2tp + fp + fn). Counts are exact: n < 2³¹ keeps
// every one of them below 2⁶².
func (c *Contingency) pairScores() (ari, f1 float64) {
	if c.same() {
		return 1, 1
	}
	together := -c.N
	for _, x := range c.Count {
		together += x * x
	}
	detected, truth := -c.N, -c.N
	for _, a := range c.Detected {
		detected += a * a
	}
	for _, b := range c.Truth {
		truth += b * b
	}
	tp, fp, fn := float64(together), float64(detected-together), float64(truth-together)
	tn := float64(c.N*(c.N-1) - detected - truth + together)
	ari = 2 * (tp*tn - fn*fp) / ((tp+fn)*(fn+tn) + (tp+fp)*(fp+tn))
	return ari, 2 * tp / (2*tp + fp + fn)
}
