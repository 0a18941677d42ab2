// Package cluster runs the steps of a release on shard workers over NATS.
//
// # Contract
//
// A Coordinator implements blockmatmul.Multiplier: it broadcasts V, hands out row
// blocks, and gathers Q. It also implements the runner of package synthesis: it
// hands out items to named handlers. RunShard is the other end. Both talk only
// through NATS; workers read the graph from a Source (the graph folder), which the
// coordinator never sees.
//
//	StartEmbedded   a NATS server in this process, on loopback
//	Connect         a connection to NATS, with login and TLS from files
//	NewCoordinator  Multiply, Run, WaitShards, Stats, Close
//	RunShard        serve a run until it ends
//	Watch           follow a run from anywhere
//
// The protocol is described in docs/format/protocol.md.
//
// # Invariants
//
// Any message may be lost, repeated, reordered or late, and any worker may die,
// stall, or come twice: the product is the same bytes, or an error that says why
// not. Every row of Q is taken exactly once; a repeat must be bit-equal. What a
// message says is checked (version, run, term, ranges, lengths, checksum)
// before it has an effect, and no message can make this package panic.
//
// How messages are cut, and whether entries travel as int32 or int64, is decided
// by public numbers alone: n, k, the row norm bound, the clip, the options.
//
// # Units
//
// Rows are vertices 0..n−1; entries of V and Q are integers in the operand's
// units; sizes are bytes. A step is one multiplication or one call of Run.
//
// # What it refuses
//
// Workers of another protocol version or another graph; a NATS server that is
// not loopback without TLS (rows of Q are private), unless told to; messages over
// the server's max_payload; two different results for the same rows.
//
// Logs carry run, shard and step. They never carry a row of Q or a count of the
// graph other than its public n.
package cluster
