package cli

import (
	"context"
	"errors"
	"fmt"
	"testing"
)

func TestAfterStopIsPlain(t *testing.T) {
	stop := context.Canceled
	for _, c := range []struct {
		err  error
		want string
	}{
		{stop, ""},
		{errors.Join(stop, stop), ""},
		{fmt.Errorf("%w\nledger entry x stays", stop), "\nledger entry x stays"},
		{fmt.Errorf("read a.txt: %w", stop), ": read a.txt"},
		{fmt.Errorf("step 3: %w: nothing was spent\nand more: %w", stop, stop), ": step 3: nothing was spent\nand more"},
		{fmt.Errorf("%w: nothing was spent", stop), ": nothing was spent"},
		{errors.New("the disk is full"), ": the disk is full"},
	} {
		if got := afterStop(c.err); got != c.want {
			t.Errorf("%q: %q, want %q", c.err, got, c.want)
		}
	}
}
