package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
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
func fillFlags(cmd *cobra.Command) error {
	path, _ := cmd.Flags().GetString("config")
	if path == "" {
		path = os.Getenv(envName("config"))
	}
	values, err := readConfig(path)
	if err != nil {
		return usage(err)
	}
	used := map[string]bool{}
	var failed error
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		value, inFile := values[f.Name]
		used[f.Name] = true
		if f.Changed || failed != nil || f.Name == "config" || f.Name == "help" {
			return
		}
		from := path
		if env, ok := os.LookupEnv(envName(f.Name)); ok {
			value, inFile, from = env, true, envName(f.Name)
		}
		if !inFile {
			return
		}
		if err := cmd.Flags().Set(f.Name, value); err != nil {
			failed = usagef("%s: %s: %w", from, f.Name, err)
		}
	})
	if failed != nil {
		return failed
	}
	var unknown []string
	for key := range values {
		if !used[key] {
			unknown = append(unknown, key)
		}
	}
	if len(unknown) > 0 {
		slices.Sort(unknown)
		return usagef("%s: unknown key %s; keys are the long names of the flags of %q", path, strings.Join(unknown, ", "), cmd.CommandPath())
	}
	return nil
}

// readConfig reads a YAML mapping of flag names to scalars.
func readConfig(path string) (map[string]string, error) {
	if path == "" {
		return nil, nil
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("configuration file: %w", err)
	}
	var root yaml.Node
	dec := yaml.NewDecoder(bytes.NewReader(data))
	if err := dec.Decode(&root); errors.Is(err, io.EOF) {
		return nil, nil // nothing but comments
	} else if err != nil {
		return nil, fmt.Errorf("configuration file %s: %w", path, err)
	}
	if len(root.Content) != 1 || root.Content[0].Kind != yaml.MappingNode {
		return nil, fmt.Errorf("configuration file %s: want a mapping of flag names to values", path)
	}
	out := map[string]string{}
	pairs := root.Content[0].Content
	for i := 0; i+1 < len(pairs); i += 2 {
		key, value := pairs[i], pairs[i+1]
		if value.Kind != yaml.ScalarNode {
			return nil, fmt.Errorf("configuration file %s, line %d: %s must be a single value", path, value.Line, key.Value)
		}
		if _, twice := out[key.Value]; twice {
			return nil, fmt.Errorf("configuration file %s, line %d: %s stands twice", path, key.Line, key.Value)
		}
		// The text as written: 1e-5 stays a decimal and never becomes a float.
		out[key.Value] = value.Value
	}
	return out, nil
}
