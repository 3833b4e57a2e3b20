package screen

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/armature-io/armature/internal/text"
	"github.com/armature-io/armature/starter/internal/backend"
	"github.com/armature-io/armature/starter/internal/cli"
)

// OutputFormat is how outputs are written.
type OutputFormat string

// The formats. Env are assignments for a shell, Azd those of the Azure Developer CLI, and
// OutputGitHub those of the file that $GITHUB_OUTPUT names.
const (
	OutputTable  OutputFormat = "table"
	OutputJSON   OutputFormat = "json"
	OutputEnv    OutputFormat = "env"
	OutputGitHub OutputFormat = "github"
	OutputAzd    OutputFormat = "azd"
)

// OutputFormats returns all formats.
func OutputFormats() []string {
	return []string{string(OutputTable), string(OutputJSON), string(OutputEnv), string(OutputGitHub), string(OutputAzd)}
}

// Set implements pflag.Value.
func (f *OutputFormat) Set(word string) error {
	parsed, err := cli.ParseWord[OutputFormat]("format", word, OutputFormats())
	if err == nil {
		*f = parsed
	}
	return err //nolint:wrapcheck // it names the flag
}

// String implements pflag.Value.
func (f *OutputFormat) String() string { return string(*f) }

// Type implements pflag.Value.
func (f *OutputFormat) Type() string { return "format" }

// Write writes values that all have one.
func (f OutputFormat) Write(out io.Writer, values []backend.Output) error {
	switch f {
	case OutputJSON:
		byName := make(map[string]any, len(values))
		for _, v := range values {
			byName[v.Name] = v.Value
		}
		raw, err := json.MarshalIndent(byName, "", "  ")
		if err != nil {
			return fmt.Errorf("write JSON: %w", err)
		}
		_, err = fmt.Fprintf(out, "%s\n", cli.EscapeJSON(raw))
		return err
	case OutputTable:
		table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
		fmt.Fprintf(table, "NAME\tRESOURCE\tVALUE\n")
		for _, v := range values {
			fmt.Fprintf(table, "%s\t%s\t%s\n", v.Name, text.Visible(v.Resource.Short()), text.Visible(plain(v.Value)))
		}
		return table.Flush()
	}
	for _, v := range values {
		value := plain(v.Value)
		if strings.ContainsFunc(value, text.IsUnsafe) {
			return fmt.Errorf("%s of %s contains line breaks or control characters, which -o %s cannot write; use -o json", v.Name, v.Resource.Short(), f)
		}
		line := v.Name + "=" + value
		switch f {
		case OutputEnv:
			line = v.Name + "=" + shellQuoted(value)
		case OutputAzd:
			line = v.Name + "=" + doubleQuoted(value)
		}
		if _, err := fmt.Fprintln(out, line); err != nil {
			return err
		}
	}
	return nil
}

// plain returns a text as it is, and anything else as JSON.
func plain(value any) string {
	if text, ok := value.(string); ok {
		return text
	}
	raw, err := json.Marshal(value)
	if err != nil {
		return fmt.Sprint(value)
	}
	return string(raw)
}

// shellQuoted returns a text that a shell reads as this text.
func shellQuoted(value string) string { return "'" + strings.ReplaceAll(value, "'", `'\''`) + "'" }

// doubleQuoted returns a text as files of variables have it. A dollar would be expanded.
func doubleQuoted(value string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "$", `\$`).Replace(value) + `"`
}
