package main

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/armature-io/armature/internal/nearest"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// unknownFlag and badValue are how the flag library words its faults.
var (
	unknownFlag = regexp.MustCompile(`^unknown flag: --(\S+)$`)
	badValue    = regexp.MustCompile(`^invalid argument ("(?:[^"\\]|\\.)*") for "(?:-\w, )?--([\w-]+)" flag: (.*)$`)
)

// flagFault words a fault of the flags: what was found and what is allowed.
func flagFault(c *cobra.Command, err error) string {
	text := err.Error()
	if parts := unknownFlag.FindStringSubmatch(text); parts != nil {
		var names []string
		c.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
		c.InheritedFlags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
		if near := nearest.Match(parts[1], names); near != "" {
			text += " (did you mean --" + near + "?)"
		}
		return text + "; see `" + c.CommandPath() + " --help`"
	}
	if parts := badValue.FindStringSubmatch(text); parts != nil {
		value, name, why := parts[1], parts[2], parts[3]
		kind := ""
		if f := c.Flag(name); f != nil {
			kind = f.Value.Type()
		}
		switch kind {
		case "duration":
			why = "it is no duration; write it with the units h, m and s, like 90s or 1h30m"
		case "bool":
			why = "write true or false, or the flag alone"
		case "int":
			why = "write a whole number"
		}
		return fmt.Sprintf("--%s %s: %s; see `%s --help`", name, value, why, c.CommandPath())
	}
	return text + "; see `" + c.CommandPath() + " --help`"
}

// commandFault words the fault of a command that does not exist: the library
// spreads it over lines.
func commandFault(root *cobra.Command, err error) string {
	var f *fault
	if errors.As(err, &f) {
		return err.Error()
	}
	text, _, _ := strings.Cut(err.Error(), "\n")
	typed, found := strings.CutPrefix(text, `unknown command "`)
	if !found {
		return err.Error()
	}
	typed, _, _ = strings.Cut(typed, `"`)
	if near := root.SuggestionsFor(typed); len(near) > 0 {
		text += " (did you mean " + strings.Join(near, " or ") + "?)"
	}
	return text + "; see `" + root.CommandPath() + " --help`"
}

// among finds a word among those that a flag takes, in any case of letters.
func among(flag, word string, known []string) error {
	for _, candidate := range known {
		if strings.EqualFold(candidate, word) {
			return nil
		}
	}
	return badInput("--%s %q is not known%s; allowed are %s", flag, word, nearest.Suggest(word, known), strings.Join(known, ", "))
}

// none refuses arguments; instead says what a user meant with one.
func none(instead string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		text := fmt.Sprintf("%s takes no arguments, found %q", c.Name(), args[0])
		if instead != "" {
			text += "; " + instead
		}
		return fmt.Errorf("%s", text)
	}
}
