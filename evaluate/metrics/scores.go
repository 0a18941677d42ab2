package metrics

// Scores holds every figure of a comparison. The mutual-information figures
// appear under two JSON names, short and with their normalisation, because both
// are in use.
type Scores struct {
	AMI float64 `json:"ami"` // adjusted mutual information, arithmetic mean
	ARI float64 `json:"ari"` // adjusted Rand index
	NMI float64 `json:"nmi"` // normalised mutual information, arithmetic mean

	AMIArithmetic float64 `json:"ami_arithmetic"` // AMI again, under its full name
	NMIArithmetic float64 `json:"nmi_arithmetic"` // NMI again, under its full name

	PairwiseF1 float64 `json:"pairwise_f1"` // F1 of the vertex pairs that share a community

	AvgF1Detected float64 `json:"avg_f1_detected"`                  // mean over detected communities of the best F1 (the paper's)
	AvgF1Truth    float64 `json:"avg_f1_truth"`                     // the reverse: mean over truth communities
	AvgF1Mean     float64 `json:"avg_f1_mean"`                      // mean of the two
	AvgF1Weighted float64 `json:"avg_f1_detected_weighted_by_size"` // AvgF1Detected with each community weighted by its size
}

// Compare scores a detected partition against a reference partition.
func Compare(detected, truth []int32) (Scores, error) {
	c, err := NewContingency(detected, truth)
	if err != nil {
		return Scores{}, err
	}
	return c.Scores(), nil
}

// Scores computes every figure from the table.
func (c *Contingency) Scores() Scores {
	var s Scores
	s.AMI, s.NMI = c.mutualInformation()
	s.AMIArithmetic, s.NMIArithmetic = s.AMI, s.NMI
	s.ARI, s.PairwiseF1 = c.pairScores()
	s.AvgF1Detected, s.AvgF1Truth, s.AvgF1Weighted = c.averageF1()
	s.AvgF1Mean = (s.AvgF1Detected + s.AvgF1Truth) / 2
	return s
}
