package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/privcom/privcom/evaluate/method"
)

// app is one invocation: its streams and the flags that every command has.
type app struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	output         string // text, json or none
	quiet          bool
	args           []string                        // of the command line
	checks         map[*cobra.Command]func() error // see checked
	operation      *operation                      // of a coordinator or shard process
	methods        []method.Method                 // to compare with
}

// Privcom runs the command a person types and returns its exit code.
//
// The methods that releases are compared with are handed in: the cluster's binaries, which
// share this package, must not contain them.
func Privcom(args []string, methods []method.Method) int {
	return main(args, func(a *app) *cobra.Command {
		a.methods = methods
		return newRoot(a)
	})
}

func main(args []string, build func(*app) *cobra.Command) int {
	a := &app{stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, args: args}
	ctx, caught := signals()
	root := build(a)
	root.SetArgs(args)
	root.SetIn(a.stdin)
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	err := root.ExecuteContext(ctx)
	code := exitCode(err)
	if a.operation != nil {
		defer func() { a.operation.end(a, code) }()
	}
	if s := caught(); s != nil && err != nil {
		name := "SIGINT"
		code = ExitSIGINT
		if s == syscall.SIGTERM {
			name, code = "SIGTERM", ExitSIGTERM
		}
		fmt.Fprintf(a.stderr, "%s: stopped by %s%s\n", root.Name(), name, afterStop(err))
		return code
	}
	if err != nil {
		fmt.Fprintf(a.stderr, "%s: %v\n", root.Name(), err)
	}
	return code
}

// afterStop is what an error tells beyond that the work was stopped, led in by a colon or a
// new line; "" where it tells nothing else.
func afterStop(err error) string {
	var b strings.Builder
	stop := context.Canceled.Error()
	for i, line := range strings.Split(err.Error(), "\n") {
		rest := strings.TrimSuffix(strings.ReplaceAll(line, stop+": ", ""), stop)
		rest = strings.ReplaceAll(strings.TrimSuffix(rest, ": "), ": "+stop, "")
		switch {
		case rest == "":
		case i == 0:
			b.WriteString(": " + rest)
		default:
			b.WriteString("\n" + rest)
		}
	}
	return b.String()
}

// signals ends the context on the first SIGINT or SIGTERM; a second one ends the
// process.
func signals() (context.Context, func() os.Signal) {
	ctx, cancel := context.WithCancel(context.Background())
	ch := make(chan os.Signal, 1)
	var got atomic.Value
	signal.Notify(ch, os.Interrupt, syscall.SIGTERM)
	go func() {
		s := <-ch
		got.Store(s)
		signal.Stop(ch)
		cancel()
	}()
	return ctx, func() os.Signal {
		s, _ := got.Load().(os.Signal)
		return s
	}
}

// newRoot is the tree of commands.
func newRoot(a *app) *cobra.Command {
	root := &cobra.Command{
		Use:   "privcom",
		Short: "Publish a synthetic social graph that keeps communities and protects each person",
		Long: `privcom turns a private social graph into a synthetic one that keeps its communities, under a
differential-privacy guarantee that the release states and a ledger enforces.

A first run:
  privcom generate sbm --vertices 2000 --communities 2 --degree-in 40 --degree-out 8 --out graph.txt
  privcom release --input graph.txt --unit edge --epsilon 2 --out release
  privcom evaluate --original graph.txt --synthetic release`,
	}
	a.common(root)
	root.AddCommand(newDemo(a), newGenerate(a), newInspect(a), newIngest(a), newPlan(a), newRelease(a), newEvaluate(a),
		newVerify(a), newPublish(a), newBudget(a), newExport(a), newBaseline(a), newBench(a), newStatus(a), newEnd(a), newVersion(a))
	return group(root)
}

// common gives a root command the flags and habits that all of them share.
func (a *app) common(root *cobra.Command) {
	root.SilenceErrors, root.SilenceUsage = true, true
	root.PersistentFlags().String("config", "", "YAML file of flag names and values")
	root.PersistentFlags().StringVar(&a.output, "output", "text", "what standard output carries: text, json or none")
	root.PersistentFlags().BoolVar(&a.quiet, "quiet", false, "no progress on standard error")
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		if errors.Is(err, pflag.ErrHelp) {
			return err
		}
		err = errors.Join(a.argumentFaults(c, err), a.fillFlags(c))
		return usagef("%w\nsee %q", a.withChecks(c, err), c.CommandPath()+" --help")
	})
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error {
		err := a.fillFlags(cmd)
		switch a.output {
		case "text", "json", "none":
		default:
			err = errors.Join(err, fmt.Errorf("output %q is not text, json or none", a.output))
		}
		if err != nil {
			return a.withChecks(cmd, err)
		}
		return nil
	}
}

// group makes a command that only holds others: alone it shows its help, and a name that
// it does not know is a mistake.
func group(c *cobra.Command) *cobra.Command {
	c.Args = func(cmd *cobra.Command, a []string) error {
		if len(a) == 0 {
			return nil
		}
		cmd.SuggestionsMinimumDistance = 2
		hint := ""
		if near := cmd.SuggestionsFor(a[0]); len(near) > 0 {
			hint = "; did you mean " + strings.Join(near, " or ") + "?"
		}
		return usagef("unknown command %q for %q%s\nsee %q", a[0], cmd.CommandPath(), hint, cmd.CommandPath()+" --help")
	}
	c.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	return c
}

// args checks the number of positional arguments and calls it usage when wrong.
func args(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, a []string) error { return usage(check(cmd, a)) }
}

// print writes v as JSON or nothing when asked for, else runs text.
func (a *app) print(v any, text func(io.Writer) error) error {
	switch a.output {
	case "text":
		return text(a.stdout)
	case "none":
		return nil
	}
	enc := json.NewEncoder(a.stdout)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// Version is set at link time for a release build.
var Version = "devel"

// Tool is the name and version that a release records.
func Tool() string {
	v := Version
	if info, ok := debug.ReadBuildInfo(); ok && v == "devel" && info.Main.Version != "" && info.Main.Version != "(devel)" {
		v = info.Main.Version
	}
	return "privcom " + v
}

func newVersion(a *app) *cobra.Command {
	return &cobra.Command{Use: "version", Short: "Print the version", Args: args(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			v := map[string]string{"tool": Tool(), "go": runtime.Version(), "platform": runtime.GOOS + "/" + runtime.GOARCH}
			return a.print(v, func(w io.Writer) error {
				_, err := fmt.Fprintf(w, "%s (%s, %s)\n", v["tool"], v["go"], v["platform"])
				return err
			})
		}}
}

// firstError joins what closing things said to the error that matters.
func firstError(err error, more ...error) error {
	if err != nil {
		return err
	}
	return errors.Join(more...)
}
