package cluster

import (
	"testing"

	"go.uber.org/goleak"
)

// Nothing that a test started may outlive it.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
