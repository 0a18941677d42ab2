// Command coordinator is the cluster process that draws the noise, keeps the ledger and makes one release.
//
// It holds no logic: package internal/cli does what its flags say, and documents its
// exit codes.
package main
