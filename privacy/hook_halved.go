//go:build privcom_halved_sensitivity

package privacy

// sensitivityShift halves every sensitivity (a quarter of its square), so that noise is
// half of what it must be: audit_test.go, built with this tag, must find out.
const sensitivityShift = 2
