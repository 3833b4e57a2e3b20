package starter

import (
	"fmt"
	"strings"

	"github.com/armature-io/armature/starter/internal/author"
	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/spf13/cobra"
)

func (a *app) typesCommand() *cobra.Command {
	var output cli.Format
	c := &cobra.Command{
		Use:   "types [PATTERN]",
		Short: "List the published resource types that match a pattern",
		Long: `types lists the resource types whose name contains PATTERN, ignoring case, with the
newest api-version (a preview only if no stable one can be written) and the scopes in
which a manifest can create them. With * the pattern must match the whole name, and *
stands for any text. Without a pattern it lists all types.

wide adds the newest stable and preview versions and the number of versions. json and
yaml are a list of {type, version, versions, scopes}. Exit code 1: no type matches.`,
		Example:           "  armature types storageaccounts\n  armature types 'Microsoft.Network/*gateways'",
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: completeTypes,
		RunE: func(_ *cobra.Command, args []string) error {
			pattern := strings.Join(args, "")
			entries := author.ListTypes(pattern)
			if len(entries) == 0 {
				return cli.Failed("no published type matches %q%s", pattern, nearestTypes(pattern))
			}
			if output.IsMachine() {
				return output.Write(a.out, entries)
			}
			a.printf("%s", typeTable(entries, output == cli.FormatWide))
			return nil
		},
	}
	cli.AddFormat(c, &output)
	return c
}

// nearestTypes returns the end of the sentence about a pattern without a match.
func nearestTypes(pattern string) string {
	if found := author.Suggestions(strings.Trim(strings.ReplaceAll(pattern, "*", ""), "/")); len(found) > 0 {
		return "; did you mean " + strings.Join(found, " or ") + "?"
	}
	return "; try a shorter part of the name"
}

// typeTable returns the list for people.
func typeTable(entries []author.Entry, wide bool) string {
	rows := [][]string{{"TYPE", "VERSION", "SCOPE"}}
	if wide {
		rows[0] = []string{"TYPE", "VERSION", "STABLE", "PREVIEW", "VERSIONS", "SCOPE"}
	}
	for _, e := range entries {
		scope := strings.Join(e.Scopes, ", ")
		if scope == "" {
			scope = "- (read-only)"
		}
		row := []string{e.Type, e.Version, scope}
		if wide {
			row = []string{e.Type, e.Version, orDash(e.Versions.NewestStable), orDash(e.Versions.NewestPreview), fmt.Sprint(len(e.Versions.All)), scope}
		}
		rows = append(rows, row)
	}
	return columns(rows)
}

func orDash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}

// columns returns rows as aligned columns, without blanks at the ends of lines.
func columns(rows [][]string) string {
	if len(rows) == 0 {
		return ""
	}
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], len(cell))
		}
	}
	var b strings.Builder
	for _, row := range rows {
		line := ""
		for i, cell := range row {
			line += fmt.Sprintf("%-*s  ", widths[i], cell)
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	return b.String()
}
