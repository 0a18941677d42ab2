// Package baselinetest makes the generators and graphs that tests of the baselines share.
//
// Contract. Equal arguments give equal graphs; a failure ends the test.
//
// What it refuses: nothing. It is for tests only.
package baselinetest
