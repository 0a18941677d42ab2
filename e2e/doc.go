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
//   - a signal ends a coordinator with 143, its reservation stays, and the same command takes
//     the run up again; a finished run that is run again changes nothing;
//   - faults: coordinator and shards killed, asleep, twice or too few, NATS gone, messages lost,
//     repeated and reordered (a proxy), a corrupt shard, a full disk, an object store that
//     answers 503. Each ends with a documented exit code or with the bytes that an undisturbed run
//     makes of the same noisy answers, and one reservation in the ledger;
//   - a NATS that would carry private rows in the clear is refused.
//
// With -tags slow: the coordinator killed after every write, 30 % of all messages lost, NATS
// away for ten seconds, and a soak of 200 releases under random faults from a printed seed
// (PRIVCOM_SOAK_SEED, PRIVCOM_SOAK_RUNS).
//
// The binaries are built for the tests. Where the go command cannot build them, the tests
// are skipped and say so.
package e2e
