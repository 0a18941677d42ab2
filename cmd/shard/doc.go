// Command shard is the cluster process that serves rows of a graph to one run.
//
// It holds no logic: package internal/cli does what its flags say, and documents its
// exit codes.
package main
