package starter

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// TestCLIReference verifies that docs/cli-reference.md matches the commands; `make docs`
// writes it.
func TestCLIReference(t *testing.T) {
	path := filepath.Join("..", "docs", "cli-reference.md")
	got := reference()
	if os.Getenv("UPDATE_DOCS") != "" {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("docs/cli-reference.md is stale; run `make docs` (-page +commands):\n%s", diff)
	}
}

// reference returns the page of all commands.
func reference() string {
	root := newWorld().rootCommand()
	var page, list strings.Builder
	for _, group := range root.Groups() {
		fmt.Fprintf(&list, "\n%s\n\n| command | effect |\n|---|---|\n", group.Title)
		for _, c := range root.Commands() {
			if c.GroupID == group.ID && c.Name() != "help" {
				fmt.Fprintf(&list, "| [`%s`](#%s) | %s |\n", c.Name(), strings.ReplaceAll(c.CommandPath(), " ", "-"), c.Short)
			}
		}
	}
	for _, c := range root.Commands() {
		if c.Name() != "help" {
			section(&page, c)
		}
	}
	return "# The commands of `armature`\n\n" +
		"<!-- Written by `make docs` from the commands themselves; a test fails when it is stale. -->\n\n" +
		paragraphs(root.Long) + "## Everywhere\n\n" + commonIntro + "\n" + flagTable(root.PersistentFlags()) +
		"\n## Commands\n" + list.String() + page.String()
}

// commonIntro is what all commands have in common.
const commonIntro = "**Targets** are names (`adx`, with the chain of owners `adx/telemetry`, or behind the resource group `rg1/adx`; a name that several resources have is refused with all of them), resource IDs, labels (`-l key=value,key=value`: all of them), manifests (`-f PATH`, `--env NAME`: those of their resources that are managed), or `--all`; one of these ways at a time. " +
	"What destroys or goes past a guard asks on a terminal when it was chosen by `-l` or `--all`, and needs `--yes` elsewhere.\n\n" +
	"**Formats** of every command that reads are `-o table` (for people), `wide` (nothing cut off), `json` and `yaml` (the same value in two spellings). " +
	"Names of fields do not change; new ones may come. Times are RFC 3339 (for people `15:04:05Z`, with a date unless it is today), always in UTC; durations are texts like `1h30m`; what is empty is left out.\n\n" +
	"**`--watch`** redraws on a terminal. Elsewhere it appends what changed: lines for `get`, whole answers for the others; with `-o json` a line, with `-o yaml` a document for each change. Ctrl-C ends it with exit code 0.\n\n" +
	"**Colors** and redrawing are for terminals only. `NO_COLOR=1` switches colors off, `TERM=dumb` redrawing too. Sentences beside an answer go to standard error.\n\n" +
	"**Flags of every command:**\n"

// section writes one command and its subcommands.
func section(page *strings.Builder, c *cobra.Command) {
	fmt.Fprintf(page, "\n### %s\n\n%s", c.CommandPath(), paragraphs(strings.ReplaceAll(c.Long, cli.ExitHelp, "")))
	if c.Long == "" {
		fmt.Fprintf(page, "%s.\n\n", c.Short)
	}
	fmt.Fprintf(page, "```text\n%s\n```\n", c.UseLine())
	c.InitDefaultHelpFlag()
	if table := flagTable(c.LocalNonPersistentFlags()); table != "" {
		fmt.Fprintf(page, "\n%s", table)
	}
	if c.Example != "" {
		fmt.Fprintf(page, "\nExamples:\n\n```text\n%s\n```\n", outdent(c.Example))
	}
	for _, below := range c.Commands() {
		section(page, below)
	}
}

// paragraphs returns a long help as Markdown; its table of exit codes stays one.
func paragraphs(long string) string {
	var b strings.Builder
	for _, part := range strings.Split(long, "\n\n") {
		lines := strings.Split(strings.TrimSpace(part), "\n")
		switch {
		case strings.TrimSpace(part) == "":
		case strings.HasPrefix(part, "Exit codes"):
			b.WriteString("| exit code | meaning |\n|---|---|\n")
			for _, line := range lines[1:] {
				code, means, _ := strings.Cut(strings.TrimSpace(line), "  ")
				fmt.Fprintf(&b, "| %s | %s |\n", code, means)
			}
			b.WriteString("\n")
		default:
			text := strings.Join(strings.Fields(strings.Join(lines, " ")), " ")
			fmt.Fprintf(&b, "%s\n\n", escaped(text))
		}
	}
	return b.String()
}

// escaped returns a text with the characters escaped that Markdown interprets.
func escaped(text string) string { return strings.NewReplacer("<", "&lt;", "|", "\\|").Replace(text) }

// flagTable returns flags as a table, "" for none.
func flagTable(flags *pflag.FlagSet) string {
	var b strings.Builder
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Name == "help" {
			return
		}
		name := "`--" + f.Name + "`"
		if f.Shorthand != "" {
			name = "`-" + f.Shorthand + "`, " + name
		}
		kind, usage := pflag.UnquoteUsage(f)
		initial := f.DefValue
		if initial == "[]" || initial == "false" {
			initial = ""
		}
		if initial != "" {
			initial = "`" + initial + "`"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", name, kind, initial, escaped(usage))
	})
	if b.Len() == 0 {
		return ""
	}
	return "| flag | value | default | meaning |\n|---|---|---|---|\n" + b.String()
}

// outdent removes the indentation of lines.
func outdent(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = strings.TrimPrefix(line, "  ")
	}
	return strings.Join(lines, "\n")
}
