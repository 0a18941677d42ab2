//go:build slow

package privacy_test

// The slow audit makes a million releases per graph: about half an hour on two cores.
func init() { auditRuns = 1_000_000 }
