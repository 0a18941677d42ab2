package blockmatmul_test

import (
	"testing"

	"github.com/privcom/privcom/blockmatmul"
	"github.com/privcom/privcom/blockmatmul/multipliertest"
)

func TestLocalConforms(t *testing.T) {
	multipliertest.Suite(t, func(_ *testing.T, n int, blocks []*blockmatmul.CSR) blockmatmul.Multiplier {
		return &blockmatmul.Local{N: n, Blocks: blocks}
	})
}
