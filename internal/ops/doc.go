// Package ops is what an operator's tools see of a coordinator or a shard worker.
//
// # Contract
//
//	Start           an HTTP server with /healthz, /readyz and /metrics
//	StartProfiler   an HTTP server with Go's profiles, on loopback only
//	Metrics         every metric of a role: name, kind, help
//	Termination     one line of JSON about how a process ended
//	StartTracing    OpenTelemetry spans, where OTEL_* asks for them
//
// A role gives a function that returns a Snapshot; nothing here asks the cluster for
// anything, and nothing is counted twice.
//
// # Invariants
//
// What is shown does not depend on an edge of the graph: sizes of messages, steps,
// workers, and connections follow from public numbers. Memory and processor time do
// depend on the graph where the graph is, so a shard worker shows no metrics of its
// process; the coordinator, which never holds an edge, does. No label takes a value
// from data, a run, a host or a worker: the only labels are the version, and a phase
// out of a fixed list.
//
// A termination message leaves the boundary with the pod's status: it holds codes and
// fixed words, never the text of an error.
//
// # What it refuses
//
// Profiles on an address that is not loopback: they show names, sizes and times.
package ops
