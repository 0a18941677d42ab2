package cli

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// checked registers what a command checks of its flags before it does anything,
// so that one message lists those faults beside flags that cannot be read.
func (a *app) checked(c *cobra.Command, check func() error) {
	if a.checks == nil {
		a.checks = map[*cobra.Command]func() error{}
	}
	a.checks[c] = check
}

// withChecks adds the command's own faults to those of reading its flags.
func (a *app) withChecks(c *cobra.Command, faults error) error {
	if check := a.checks[c]; check != nil {
		faults = errors.Join(faults, check())
	}
	return usage(faults)
}

// flagFault says that a value is not one of its flag, in the user's words and not in those
// of a parser. name is the flag, the variable or the key.
func flagFault(name, kind, value string, err error) error {
	var invalid *pflag.InvalidValueError
	if errors.As(err, &invalid) {
		err = invalid.Unwrap()
	}
	want := map[string]string{
		"int": "a whole number", "int64": "a whole number", "uint64": "a whole number of 0 or more",
		"float64": "a number", "bool": "true or false", "duration": "a time such as 30s or 5m",
	}[kind]
	switch {
	case want == "":
		return fmt.Errorf("%s: %w", name, err)
	case errors.Is(err, strconv.ErrRange):
		return fmt.Errorf("%s: %q is too large", name, value)
	}
	return fmt.Errorf("%s: %q is not %s", name, value, want)
}

// argumentFaults lists every fault of a command line of which the first is known: an
// argument that cannot be read is taken out and the rest is read again.
func (a *app) argumentFaults(c *cobra.Command, first error) error {
	var faults []error
	_, rest, err := c.Root().Find(a.args)
	for again := first; again != nil && err == nil; again = c.Flags().Parse(rest) {
		var invalid *pflag.InvalidValueError
		var unknown *pflag.NotExistError
		from, to := -1, -1
		fault := again
		switch {
		case errors.As(again, &invalid):
			name := "--" + invalid.GetFlag().Name
			fault = flagFault(name, invalid.GetFlag().Value.Type(), invalid.GetValue(), again)
			from, to = argument(rest, name, invalid.GetValue())
		case errors.As(again, &unknown):
			from, to = argument(rest, "--"+unknown.GetSpecifiedName(), "")
		}
		faults = append(faults, fault)
		if from < 0 {
			break
		}
		rest = append(append([]string{}, rest[:from]...), rest[to:]...)
	}
	if err != nil {
		faults = append(faults, first)
	}
	return errors.Join(faults...)
}

// argument finds --name=value or --name value among arguments, or --name whatever follows
// if value is empty; -1 if it is not there.
func argument(args []string, name, value string) (from, to int) {
	for i, arg := range args {
		key, inline, joined := strings.Cut(arg, "=")
		switch {
		case arg == "--":
			return -1, -1
		case key != name:
		case value == "" || joined && inline == value:
			return i, i + 1
		case !joined && i+1 < len(args) && args[i+1] == value:
			return i, i + 2
		}
	}
	return -1, -1
}
