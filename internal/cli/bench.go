package cli

import "github.com/spf13/cobra"

// newBench holds the commands that measure.
func newBench(a *app) *cobra.Command {
	c := group(&cobra.Command{Use: "bench", Short: "Measure: the paper's experiment, the grid of a benchmark, what a release keeps, the parts of a step"})
	c.AddCommand(a.benchPaper(), a.benchPGB(), a.benchUtility(), a.benchStep())
	return c
}
