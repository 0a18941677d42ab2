// Package houserules checks the module's own source: that imports point
// downwards only, that noise and the exact product stay free of floats and of
// statistical generators, that the packages beside the graph do not log, and a
// few rules of tidiness. It holds tests only; the failure texts say what to do.
//
// The rules read source files, not builds, so files behind build tags count too.
// Folders whose name starts with "." or "_", and testdata, are not read.
package houserules
