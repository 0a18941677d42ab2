package release

import (
	"context"
	"errors"
	"math"

	"github.com/privcom/privcom/synthesis"
)

// A law of edges reaches a pair's last edge only with an infinite rate: what is asked of
// some pairs is at most this share of them.
const mostOfPairs = 0.999

// generate samples the law. Where the noise has asked for more edges than the model has
// pairs, it asks again for as many as there are: the budget is spent, and a graph with
// fewer edges is worth more than none. All of it is public by now.
func (r *runner) generate(ctx context.Context, law synthesis.Spec) (*synthesis.Result, error) {
	made, err := synthesis.Generate(ctx, r.Engine, law)
	var s *synthesis.SaturatedError
	if law.Model == nil || !errors.As(err, &s) {
		return made, err
	}
	law.Edges = mostOfPairs * math.Max(0, s.Limit-3*s.Uncertainty)
	r.note("%.0f edges were asked for, and only %.0f pairs have a positive chance: the graph has about as many edges as that.", s.Target, s.Limit)
	return synthesis.Generate(ctx, r.Engine, law)
}

// withinPairs scales numbers of edges between q blocks (q×q, symmetric) to a total, and
// moves what does not fit between two blocks to the others: by their numbers first, then
// by the pairs that they have left.
func withinPairs(counts []float64, labels []int32, q int, total float64) []float64 {
	size := make([]float64, q)
	for _, l := range labels {
		size[l]++
	}
	room, all := make([]float64, q*q), 0.0
	for i := range q {
		for j := i; j < q; j++ {
			pairs := size[i] * size[j]
			if i == j {
				pairs = size[i] * (size[i] - 1) / 2
			}
			room[i*q+j] = mostOfPairs * pairs
			all += room[i*q+j]
		}
	}
	out := fill(counts, room, math.Min(total, all))
	for i := range q {
		for j := range i {
			out[i*q+j] = out[j*q+i]
		}
	}
	return out
}

// fill gives every entry its share of a total, at most its room. A weight without room is
// passed over; when no weight is left, the room left is the weight.
func fill(weight, room []float64, total float64) []float64 {
	out, full := make([]float64, len(room)), make([]bool, len(room))
	for range 2*len(room) + 2 {
		rest, sum := total, 0.0
		for i, x := range out {
			if full[i] {
				rest -= x
			} else if room[i] > 0 {
				sum += weight[i]
			}
		}
		if rest <= 0 {
			break
		}
		if sum <= 0 {
			weight = make([]float64, len(room))
			for i := range weight {
				if !full[i] {
					weight[i] = room[i]
					sum += room[i]
				}
			}
			if sum <= 0 {
				break
			}
		}
		again := false
		for i := range out {
			if full[i] || room[i] <= 0 {
				continue
			}
			if out[i] = rest * weight[i] / sum; out[i] >= room[i] {
				out[i], full[i], again = room[i], true, true
			}
		}
		if !again {
			break
		}
	}
	return out
}
