//go:build race

package synthesis

func init() { graphsPerLaw = 300 }
