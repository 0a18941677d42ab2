package metrics

// averageF1 is the paper's Avg-F1: every detected community is matched with the
// truth community that it resembles most, where the F1 of two sets with precision
// |c₁∩c₂|/|c₁| and recall |c₁∩c₂|/|c₂| is 2·|c₁∩c₂| / (|c₁| + |c₂|); the score is
// the mean over detected communities (Rossetti et al. 2017). truth is the mean the
// other way round, weighted counts every detected community by its size.
func (c *Contingency) averageF1() (detected, truth, weighted float64) {
	bestTruth := make([]float64, len(c.Truth))
	for i, a := range c.Detected {
		best := 0.0
		for p := c.Ptr[i]; p < c.Ptr[i+1]; p++ {
			j := c.Col[p]
			f1 := 2 * float64(c.Count[p]) / float64(a+c.Truth[j])
			best = max(best, f1)
			bestTruth[j] = max(bestTruth[j], f1)
		}
		detected += best
		weighted += best * float64(a)
	}
	for _, best := range bestTruth {
		truth += best
	}
	return detected / float64(len(c.Detected)), truth / float64(len(c.Truth)), weighted / float64(c.N)
}
