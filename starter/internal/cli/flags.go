package cli

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/armature-io/armature/internal/nearest"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Errors of the flag library. It has no other form for them.
var (
	unknownFlag = regexp.MustCompile(`^unknown flag: --(\S+)$`)
	badValue    = regexp.MustCompile(`^invalid argument ("(?:[^"\\]|\\.)*") for "(?:-\w, )?--([\w-]+)" flag: (.*)$`)
)

// FlagErrorText returns what is wrong with a flag and what is allowed.
func FlagErrorText(c *cobra.Command, err error) string {
	text, help := err.Error(), "; see `"+c.CommandPath()+" --help`"
	if parts := unknownFlag.FindStringSubmatch(text); parts != nil {
		var names []string
		add := func(f *pflag.Flag) { names = append(names, f.Name) }
		c.Flags().VisitAll(add)
		c.InheritedFlags().VisitAll(add)
		if near := nearest.Match(parts[1], names); near != "" {
			text += " (did you mean --" + near + "?)"
		}
		return text + help
	}
	parts := badValue.FindStringSubmatch(text)
	if parts == nil {
		return text + help
	}
	value, name, why := parts[1], parts[2], parts[3]
	if f := c.Flag(name); f != nil {
		switch f.Value.Type() {
		case "duration":
			why = "invalid duration; use units h, m, s, for example 1h30m"
		case "bool":
			why = "use true or false, or the flag alone"
		case "int":
			why = "use a whole number"
		}
	}
	return fmt.Sprintf("--%s %s: %s", name, value, why) + help
}

// CommandErrorText returns the error of a command. The library's error for an unknown
// command has several lines.
func CommandErrorText(root *cobra.Command, err error) string {
	if _, ok := errors.AsType[*ExitError](err); ok {
		return err.Error()
	}
	text, _, _ := strings.Cut(err.Error(), "\n")
	typed, found := strings.CutPrefix(text, `unknown command "`)
	if !found {
		return err.Error()
	}
	typed, _, _ = strings.Cut(typed, `"`)
	if near := commandsNear(root, typed); len(near) > 0 {
		text += " (did you mean " + strings.Join(near, " or ") + "?)"
	}
	return text + "; see `" + root.CommandPath() + " --help`"
}

// commandsNear returns the commands that a user of other tools means by a name, otherwise
// those that are spelt alike.
func commandsNear(root *cobra.Command, typed string) []string {
	var meant []string
	for _, c := range root.Commands() {
		if slices.Contains(c.SuggestFor, strings.ToLower(typed)) {
			meant = append(meant, c.Name())
		}
	}
	if len(meant) > 0 {
		return meant
	}
	return root.SuggestionsFor(typed)
}

// CheckOneOf returns an error for a flag's value that is not one of the allowed ones,
// ignoring case.
func CheckOneOf(flag, value string, allowed []string) error {
	for _, candidate := range allowed {
		if strings.EqualFold(candidate, value) {
			return nil
		}
	}
	return BadInput("--%s %q is not known%s; allowed are %s", flag, value, nearest.Suggest(value, allowed), strings.Join(allowed, ", "))
}

// SelectorFlag returns a selector as a flag of the command line.
func SelectorFlag(selector string) string {
	if selector == "" {
		return ""
	}
	return " -l " + selector
}

// NoArgs rejects arguments; instead names the alternative.
func NoArgs(instead string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		text := fmt.Sprintf("%s takes no arguments, found %q", c.Name(), args[0])
		if instead != "" {
			text += "; " + instead
		}
		return errors.New(text)
	}
}
