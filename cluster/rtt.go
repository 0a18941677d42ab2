package cluster

import "time"

// roundTrip estimates how long an answer takes (of a chunk of V: its acknowledgement),
// as RFC 6298 does for TCP. Chunks and pieces are taken for lost only after patience(): with many workers behind
// one server, what is late is usually still in a queue, and sending it again would
// make the queue longer.
type roundTrip struct {
	smooth, variance time.Duration
	known            bool
}

func (r *roundTrip) sample(d time.Duration) {
	if !r.known {
		r.smooth, r.variance, r.known = d, d/2, true
		return
	}
	r.variance += ((r.smooth - d).Abs() - r.variance) / 4
	r.smooth += (d - r.smooth) / 8
}

// patience is between least and forty times that, and four times that while
// nothing is known.
func (r *roundTrip) patience(least time.Duration) time.Duration {
	if !r.known {
		return 4 * least
	}
	return min(max(least, r.smooth+4*r.variance), 40*least)
}
