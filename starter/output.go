package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"

	"github.com/armature-io/armature/internal/nearest"
)

// format is how a command writes its answer.
type format string

// The formats of every command that reads. table is for people; wide is table
// with nothing cut off; json and yaml are the same value in two spellings, for
// machines.
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

// Set reads the flag.
func (f *format) Set(text string) error {
	for _, known := range formats() {
		if text == known {
			*f = format(text)
			return nil
		}
	}
	return fmt.Errorf("output format %q is not known%s; allowed are %s", text, nearest.Suggest(text, formats()), strings.Join(formats(), ", "))
}

// String is the flag as it is written.
func (f *format) String() string { return string(*f) }

// Type is the flag's type in the help.
func (f *format) Type() string { return "format" }

// machine reports whether a program reads the answer.
func (f format) machine() bool { return f == formatJSON || f == formatYAML }

// write writes a value for machines, in both formats with the same names.
func (a *app) write(f format, value any) error {
	if f == formatJSON {
		return a.printJSON(value)
	}
	var raw strings.Builder
	copied := *a
	copied.out = &raw
	if err := copied.printJSON(value); err != nil {
		return err
	}
	var out any
	if err := yaml.Unmarshal([]byte(raw.String()), &out); err != nil {
		return fmt.Errorf("write YAML: %w", err)
	}
	encoded, err := yaml.Marshal(out)
	if err != nil {
		return fmt.Errorf("write YAML: %w", err)
	}
	a.printf("%s", encoded)
	return nil
}
