//go:build slow

package privacy

// Two faults in every order of two ledgers' storage calls: half a minute on two cores.
func init() { raceFaults = 2 }
