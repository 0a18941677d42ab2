package statistics

// Options bound the exact work and size the samples. The zero value means the
// defaults, which keep each figure to seconds on one core.
type Options struct {
	Seed uint64

	// TriangleWork is how many adjacency looks an exact triangle count may take.
	// Default 4e9.
	TriangleWork int64
	// Wedges is the number of wedges (and of vertices) drawn where the count would
	// take more. Default 1,000,000: standard error at most 0.0005.
	Wedges int
	// PathWork is how many arcs an exact breadth-first search from every vertex may
	// follow. Default 5e8.
	PathWork int64
	// Sources is the number of vertices to search from where that is more. Default
	// 512, or as many as PathWork allows, but at least 16.
	Sources int
}

func (o Options) withDefaults() Options {
	if o.TriangleWork == 0 {
		o.TriangleWork = 4e9
	}
	if o.Wedges == 0 {
		o.Wedges = 1_000_000
	}
	if o.PathWork == 0 {
		o.PathWork = 5e8
	}
	return o
}

func (o Options) sources(arcs int64) int {
	if o.Sources > 0 {
		return o.Sources
	}
	return int(min(512, max(16, o.PathWork/max(1, arcs))))
}
