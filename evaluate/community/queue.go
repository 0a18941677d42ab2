package community

import "math/rand/v2"

// queue holds each vertex at most once, first in, first out, in a ring.
type queue struct {
	ring   []int32
	held   []bool
	head   int
	length int
}

// shuffledQueue holds all n vertices in a random order.
func shuffledQueue(n int, rng *rand.Rand) *queue {
	q := &queue{ring: shuffled(n, rng), held: make([]bool, n), length: n}
	for v := range q.held {
		q.held[v] = true
	}
	return q
}

func shuffled(n int, rng *rand.Rand) []int32 {
	order := make([]int32, n)
	for v := range order {
		order[v] = int32(v)
	}
	rng.Shuffle(n, func(i, j int) { order[i], order[j] = order[j], order[i] })
	return order
}

func (q *queue) pop() int32 {
	v := q.ring[q.head]
	q.head++
	if q.head == len(q.ring) {
		q.head = 0
	}
	q.length--
	q.held[v] = false
	return v
}

func (q *queue) push(v int32) {
	if q.held[v] {
		return
	}
	tail := q.head + q.length
	if tail >= len(q.ring) {
		tail -= len(q.ring)
	}
	q.ring[tail] = v
	q.held[v] = true
	q.length++
}
