// Package e2e holds no code, only tests that run the commands as they run on a cluster:
// a nats-server, a coordinator and shards as processes of their own, on loopback,
// configured by their environment.
//
// # What they check
//
//   - one release through the processes: exit codes, a folder that verifies, a ledger
//     that says committed, nothing of the graph in a log;
//   - the product of the processes is bit-equal to that of blockmatmul.Local and to that
//     of the embedded cluster, also after a shard was killed;
//   - a signal ends a coordinator with 143, and its reservation stays;
//   - a NATS that would carry private rows in the clear is refused.
//
// The binaries are built for the tests. Where the go command cannot build them, the tests
// are skipped and say so.
package e2e
