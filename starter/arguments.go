package main

import (
	"bufio"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/armature-io/armature/internal/nearest"
	"github.com/armature-io/armature/starter/internal/backend"
	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// addSelection adds the flags that choose resources besides names and IDs: a label
// selector, and --all with its help.
func (a *app) addSelection(c *cobra.Command, s *backend.Selection, all string) {
	c.Flags().StringVarP(&s.Selector, "selector", "l", "", "label selector: key=value,key=value (all of them)")
	c.Flags().BoolVar(&s.All, "all", false, all)
	c.ValidArgsFunction = a.completeNames
	a.completeFlag(c, "selector", a.completeLabels)
}

// checkTargets returns an error for a selection that contradicts itself or is empty.
func checkTargets(s backend.Selection) error {
	if err := s.Check(); err != nil {
		return err
	}
	if s.IsEmpty() {
		return cli.BadInput("name the resources, or choose them with -l key=value or --all; `armature get` lists them")
	}
	return nil
}

func errFilesAndTargets() error {
	return cli.BadInput("-f cannot be combined with names, -l or --all; choose resources by one of them")
}

// Errors of the flag library. It has no other form for them.
var (
	unknownFlag = regexp.MustCompile(`^unknown flag: --(\S+)$`)
	badValue    = regexp.MustCompile(`^invalid argument ("(?:[^"\\]|\\.)*") for "(?:-\w, )?--([\w-]+)" flag: (.*)$`)
)

// flagErrorText returns what is wrong with a flag and what is allowed.
func flagErrorText(c *cobra.Command, err error) string {
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

// commandErrorText returns the error of a command. The library's error for an unknown
// command has several lines.
func commandErrorText(root *cobra.Command, err error) string {
	if _, ok := errors.AsType[*cli.ExitError](err); ok {
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

// checkOneOf returns an error for a flag's value that is not one of the allowed ones,
// ignoring case.
func checkOneOf(flag, value string, allowed []string) error {
	for _, candidate := range allowed {
		if strings.EqualFold(candidate, value) {
			return nil
		}
	}
	return cli.BadInput("--%s %q is not known%s; allowed are %s", flag, value, nearest.Suggest(value, allowed), strings.Join(allowed, ", "))
}

// noArgs rejects arguments; instead says the alternative with one.
func noArgs(instead string) cobra.PositionalArgs {
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

// question is asked before something that cannot be undone.
type question struct {
	// lines are shown above the question, one for each resource.
	lines []string
	text  string
	yes   bool
	// required means that --yes is needed if nobody can be asked; action then names
	// what needs it.
	required bool
	action   string
	// unchanged is what a "no" leaves: "nothing was deleted".
	unchanged string
}

// ask asks on a terminal. Elsewhere the command itself is the consent, unless the
// question is required.
func (a *app) ask(q question) error {
	switch {
	case q.yes:
		return nil
	case !a.interactive && q.required:
		return cli.BadInput("%s, %s: there is no terminal to ask on; check with `armature get` first, then add --yes", q.action, q.unchanged)
	case !a.interactive:
		return nil
	}
	for _, line := range q.lines {
		a.printf("  %s\n", line)
	}
	a.printf("%s [y/N] ", q.text)
	answer, _ := bufio.NewReader(a.in).ReadString('\n')
	switch strings.ToLower(strings.TrimSpace(answer)) {
	case "y", "yes":
		return nil
	}
	return cli.Failed("%s: the question was not answered with y", q.unchanged)
}
