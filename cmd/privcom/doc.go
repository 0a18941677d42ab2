// Command privcom is the command a person types: make a graph, ingest, plan, release, evaluate, verify.
//
// It holds no logic: package internal/cli does what its flags say, and documents its
// exit codes.
package main
