package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/armature-io/armature/internal/nearest"
	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"
)

// format is an output format.
type format string

// The formats of every command that reads. table is for people; wide is table with
// every column, nothing shortened; json and yaml are the same value for programs.
const (
	formatTable format = "table"
	formatWide  format = "wide"
	formatJSON  format = "json"
	formatYAML  format = "yaml"
)

func formats() []string {
	return []string{string(formatTable), string(formatWide), string(formatJSON), string(formatYAML)}
}

// addOutput adds -o to a command.
func (a *app) addOutput(c *cobra.Command, out *format) {
	*out = formatTable
	c.Flags().VarP(out, "output", "o", "output format: "+strings.Join(formats(), ", "))
	a.completeFlag(c, "output", fixed(formats()...))
}

// Set implements pflag.Value.
func (f *format) Set(text string) error {
	if !slices.Contains(formats(), text) {
		return fmt.Errorf("output format %q is not known%s; allowed are %s", text, nearest.Suggest(text, formats()), strings.Join(formats(), ", "))
	}
	*f = format(text)
	return nil
}

// String implements pflag.Value.
func (f *format) String() string { return string(*f) }

// Type implements pflag.Value: the flag's type in the help.
func (f *format) Type() string { return "format" }

// isMachine reports whether a program reads the output.
func (f format) isMachine() bool { return f == formatJSON || f == formatYAML }

// write writes a value as JSON, or as YAML with the same names.
func (a *app) write(f format, value any) error {
	raw, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return fmt.Errorf("write JSON: %w", err)
	}
	if f == formatJSON {
		a.printf("%s\n", raw)
		return nil
	}
	var names any
	if err := yaml.Unmarshal(raw, &names); err != nil {
		return fmt.Errorf("write YAML: %w", err)
	}
	encoded, err := yaml.Marshal(names)
	if err != nil {
		return fmt.Errorf("write YAML: %w", err)
	}
	a.printf("%s", encoded)
	return nil
}
