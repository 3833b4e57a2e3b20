package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/armature-io/armature/internal/nearest"
	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"
)

// Format is an output format.
type Format string

// The formats of every command that reads. Table is for people; Wide is Table with
// everything, nothing shortened; JSON and YAML are the same value for programs.
const (
	FormatTable Format = "table"
	FormatWide  Format = "wide"
	FormatJSON  Format = "json"
	FormatYAML  Format = "yaml"
)

// Formats returns the names of the formats.
func Formats() []string {
	return []string{string(FormatTable), string(FormatWide), string(FormatJSON), string(FormatYAML)}
}

// The formats that only plan and drift have: for comments on pull requests, and one page that
// a browser shows.
const (
	FormatMarkdown Format = "markdown"
	FormatHTML     Format = "html"
)

// AddFormat adds -o with Formats to a command and sets its default, FormatTable.
func AddFormat(c *cobra.Command, out *Format) { AddFormats(c, out, Formats()) }

// AddFormats adds -o with other formats.
func AddFormats(c *cobra.Command, out *Format, allowed []string) {
	*out = FormatTable
	c.Flags().VarP(&formatFlag{out, allowed}, "output", "o", "output format: "+strings.Join(allowed, ", "))
	// A flag has one completer, so the registration never fails.
	_ = c.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(allowed, cobra.ShellCompDirectiveNoFileComp))
}

// ParseWord returns a word of a flag if it is allowed. what names the flag in the error.
func ParseWord[T ~string](what, word string, allowed []string) (T, error) {
	if !slices.Contains(allowed, word) {
		return "", fmt.Errorf("%s %q is not known%s; allowed are %s", what, word, nearest.Suggest(word, allowed), strings.Join(allowed, ", "))
	}
	return T(word), nil
}

// formatFlag is a pflag.Value.
type formatFlag struct {
	format  *Format
	allowed []string
}

// Set implements pflag.Value.
func (f *formatFlag) Set(text string) error {
	format, err := ParseWord[Format]("output format", text, f.allowed)
	if err == nil {
		*f.format = format
	}
	return err
}

// String implements pflag.Value.
func (f *formatFlag) String() string {
	if f.format == nil {
		return ""
	}
	return string(*f.format)
}

// Type implements pflag.Value: the flag's type in the help.
func (f *formatFlag) Type() string { return "format" }

// IsText reports whether the output is lines for people on a terminal.
func (f Format) IsText() bool { return f == FormatTable || f == FormatWide }

// IsMachine reports whether a program reads the output.
func (f Format) IsMachine() bool { return f == FormatJSON || f == FormatYAML }

// Write writes a value as JSON, or as YAML with the same names. What could act on a
// terminal is escaped, so that the document loses nothing.
func (f Format) Write(out io.Writer, value any) error {
	raw, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return fmt.Errorf("write JSON: %w", err)
	}
	if f == FormatJSON {
		_, err = fmt.Fprintf(out, "%s\n", EscapeJSON(raw))
		return err
	}
	var names any
	// YAML reads JSON, except for raw control characters.
	if err := yaml.Unmarshal(EscapeYAML(raw), &names); err != nil {
		return fmt.Errorf("write YAML: %w", err)
	}
	node, err := nodeOf(names)
	if err != nil {
		return fmt.Errorf("write YAML: %w", err)
	}
	QuoteNodes(node)
	encoded, err := yaml.Marshal(node)
	if err != nil {
		return fmt.Errorf("write YAML: %w", err)
	}
	_, err = fmt.Fprintf(out, "%s", EscapeYAML(encoded))
	return err
}

// nodeOf returns a value of JSON as nodes, with sorted names. Node.Encode would write the
// texts and read them again, before they are quoted.
func nodeOf(value any) (*yaml.Node, error) {
	node := &yaml.Node{}
	switch value := value.(type) {
	case map[string]any:
		node.Kind = yaml.MappingNode
		for _, name := range slices.Sorted(maps.Keys(value)) {
			member, err := nodeOf(value[name])
			if err != nil {
				return nil, err
			}
			key := &yaml.Node{}
			key.SetString(name)
			node.Content = append(node.Content, key, member)
		}
	case []any:
		node.Kind = yaml.SequenceNode
		for _, item := range value {
			member, err := nodeOf(item)
			if err != nil {
				return nil, err
			}
			node.Content = append(node.Content, member)
		}
	case string:
		node.SetString(value)
	default:
		return node, node.Encode(value)
	}
	return node, nil
}

// QuoteNodes puts texts in double quotes where console.YAML needs them.
func QuoteNodes(node *yaml.Node) {
	if node.Kind == yaml.ScalarNode && NeedsQuotes(node.Value) {
		node.Style = yaml.DoubleQuotedStyle
	}
	for _, content := range node.Content {
		QuoteNodes(content)
	}
}
