package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"
)

// envPrefix is the prefix of the environment variables that stand for flags.
const envPrefix = "PRIVCOM_"

// envName is the variable of a flag: --row-norm is PRIVCOM_ROW_NORM.
func envName(flag string) string {
	return envPrefix + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// fillFlags sets every flag that the command line left alone from the environment or
// the configuration file. A key of the file that is no flag of the command is an error:
// a misspelt privacy parameter must not pass in silence.
// All faults are given at once.
func (a *app) fillFlags(cmd *cobra.Command) error {
	faults := []error{a.checkEnvironment()}
	path, _ := cmd.Flags().GetString("config")
	if path == "" {
		path = os.Getenv(envName("config"))
	}
	values := map[string]string{}
	file, err := readConfig(path)
	if err == nil {
		values, err = file.of(cmd)
	}
	faults = append(faults, err)
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		value, set := values[f.Name]
		if f.Changed || f.Name == "config" || f.Name == "help" {
			return
		}
		from := path + ": " + f.Name
		if env, ok := os.LookupEnv(envName(f.Name)); ok {
			value, set, from = env, true, envName(f.Name)
		}
		if !set {
			return
		}
		if err := cmd.Flags().Set(f.Name, value); err != nil {
			faults = append(faults, flagFault(from, f.Value.Type(), value, err))
		}
	})
	return usage(errors.Join(faults...))
}

// configFile is a configuration file as read.
type configFile struct {
	path     string
	keys     map[string]string            // outside of any section
	sections map[string]map[string]string // by command, as in "budget init", or commonSection
}

// commonSection holds keys for every command that has such a flag.
const commonSection = "common"

// of gives the values for one command: those of the common section where it has the flag, the
// keys outside of sections, and its own section, later ones winning.
func (f *configFile) of(cmd *cobra.Command) (map[string]string, error) {
	values := map[string]string{}
	if f.path == "" {
		return values, nil
	}
	commands := commandFlags()
	name := commandName(cmd)
	for section := range f.sections {
		if _, ok := commands[section]; !ok && section != commonSection {
			return nil, fmt.Errorf("%s: unknown section %q; a section has the name of a command, as in \"release\" or \"budget init\", or is %s", f.path, section, commonSection)
		}
	}
	var unknown []string
	anywhere := map[string]bool{}
	for _, flags := range commands {
		for flag := range flags {
			anywhere[flag] = true
		}
	}
	for key, value := range f.sections[commonSection] {
		switch {
		case !anywhere[key]:
			unknown = append(unknown, key)
		case cmd.Flags().Lookup(key) != nil:
			values[key] = value
		}
	}
	for _, part := range []map[string]string{f.keys, f.sections[name]} {
		for key, value := range part {
			if cmd.Flags().Lookup(key) == nil {
				unknown = append(unknown, key)
			}
			values[key] = value
		}
	}
	if len(unknown) > 0 {
		slices.Sort(unknown)
		return values, fmt.Errorf("%s: unknown key %s; keys are the long names of the flags of %q; what is for other commands goes into sections: %s:, or the name of a command",
			f.path, strings.Join(unknown, ", "), cmd.CommandPath(), commonSection)
	}
	return values, nil
}

// commandName is how a section names a command: without "privcom".
func commandName(cmd *cobra.Command) string {
	return strings.TrimPrefix(cmd.CommandPath(), "privcom ")
}

// commandFlags lists the flags of every command of all three binaries.
func commandFlags() map[string]map[string]bool {
	all := map[string]map[string]bool{}
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		flags := map[string]bool{}
		c.InheritedFlags() // merges those of the root in
		c.Flags().VisitAll(func(f *pflag.Flag) { flags[f.Name] = true })
		c.PersistentFlags().VisitAll(func(f *pflag.Flag) { flags[f.Name] = true })
		all[commandName(c)] = flags
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	for _, build := range []func(*app) *cobra.Command{newRoot, newCoordinator, newShard} {
		walk(build(&app{}))
	}
	return all
}

// checkEnvironment finds variables that are meant as flags and name none. One that is a slip
// away from a flag is refused: a misspelt privacy parameter must not pass in silence. Others
// are told of and left alone. What Kubernetes sets for a service called privcom… is neither.
func (a *app) checkEnvironment() error {
	known := map[string]bool{}
	for _, flags := range commandFlags() {
		for flag := range flags {
			known[envName(flag)] = true
		}
	}
	var names []string
	for name := range known {
		names = append(names, name)
	}
	slices.Sort(names)
	var wrong []error
	for _, pair := range os.Environ() {
		name, _, _ := strings.Cut(pair, "=")
		if !strings.HasPrefix(strings.ToUpper(name), envPrefix) || known[name] || strings.HasPrefix(name, envPrefix+"TEST_") || serviceVariable.MatchString(name) {
			continue
		}
		if near := nearest(strings.ToUpper(name), names); near != "" {
			wrong = append(wrong, fmt.Errorf("environment variable %s is no flag's; did you mean %s?", name, near))
		} else if !a.quiet {
			fmt.Fprintf(a.stderr, "warning: environment variable %s is no flag's and is not used\n", name)
		}
	}
	return usage(errors.Join(wrong...))
}

// serviceVariable is what Kubernetes sets in every pod for each service of its namespace.
var serviceVariable = regexp.MustCompile(`_SERVICE_(HOST|PORT)(_[A-Z0-9_]+)?$|_PORT(_[0-9]+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)?$`)

// readConfig reads a YAML mapping of flag names to scalars, and of command names to such
// mappings.
func readConfig(path string) (*configFile, error) {
	f := &configFile{path: path, sections: map[string]map[string]string{}}
	if path == "" {
		return f, nil
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("configuration file: %w", err)
	}
	var root yaml.Node
	dec := yaml.NewDecoder(bytes.NewReader(data))
	if err := dec.Decode(&root); errors.Is(err, io.EOF) {
		return f, nil // nothing but comments
	} else if err != nil {
		return nil, fmt.Errorf("configuration file %s: %w", path, err)
	}
	if len(root.Content) != 1 || root.Content[0].Kind != yaml.MappingNode {
		return nil, fmt.Errorf("configuration file %s: want a mapping of flag names to values", path)
	}
	f.keys, err = f.scalars(root.Content[0], true)
	return f, err
}

// scalars reads the pairs of a mapping; mappings below it are sections, where it may have any.
func (f *configFile) scalars(node *yaml.Node, outer bool) (map[string]string, error) {
	out := map[string]string{}
	seen := map[string]bool{}
	for i := 0; i+1 < len(node.Content); i += 2 {
		key, value := node.Content[i], node.Content[i+1]
		if seen[key.Value] {
			return nil, fmt.Errorf("configuration file %s, line %d: %s stands twice", f.path, key.Line, key.Value)
		}
		seen[key.Value] = true
		switch {
		case value.Kind == yaml.ScalarNode:
			// The text as written: 1e-5 stays a decimal and never becomes a float.
			out[key.Value] = value.Value
		case value.Kind == yaml.MappingNode && outer:
			section, err := f.scalars(value, false)
			if err != nil {
				return nil, err
			}
			f.sections[key.Value] = section
		default:
			return nil, fmt.Errorf("configuration file %s, line %d: %s must be a single value", f.path, value.Line, key.Value)
		}
	}
	return out, nil
}
