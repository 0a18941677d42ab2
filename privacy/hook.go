//go:build !privcom_halved_sensitivity

package privacy

// sensitivityShift weakens nothing: every squared sensitivity counts in full. Built
// with the tag privcom_halved_sensitivity, the constant is 2 and the audit must notice;
// there is no switch at run time, and no binary is ever built with the tag.
const sensitivityShift = 0
