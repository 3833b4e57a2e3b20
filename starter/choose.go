package main

import (
	"bufio"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// addChooser adds the ways by which every command takes its targets beside names
// and IDs: a label selector, and --all, whose help is given.
func (a *app) addChooser(c *cobra.Command, s *selection, all string) {
	c.Flags().StringVarP(&s.selector, "selector", "l", "", "label selector: key=value,key=value (all of them)")
	c.Flags().BoolVar(&s.all, "all", false, all)
	c.ValidArgsFunction = a.completeNames
	a.completeFlag(c, "selector", a.completeLabels)
}

// check refuses flags that contradict each other, and a selector that does not
// parse, before anything is asked.
func (s selection) check() error {
	switch {
	case s.selector != "" && len(s.names) > 0:
		return badInput("choose resources either by name or by -l, not by both")
	case s.all && len(s.names) > 0:
		return badInput("choose resources either by name or by --all, not by both")
	case s.all && s.selector != "":
		return badInput("-l chooses some and --all everything; give one of them")
	case slices.ContainsFunc(s.names, func(name string) bool { return strings.Contains(name, "://") }):
		return badInput("an address is no name and no resource ID; write the ID, which begins with /subscriptions/, or a name from `armature get`")
	case slices.Contains(s.names, ""):
		return badInput("a name is empty; is a shell variable not set? `armature get` lists the names")
	}
	if s.selector == "" {
		return nil
	}
	_, err := readSelector(s.selector)
	return err
}

// several reports that the targets were not named one by one.
func (s selection) several() bool { return s.all || s.selector != "" }

// words say what was chosen: "--all", "-l stack=prod".
func (s selection) words() string {
	if s.all {
		return "--all"
	}
	return "-l " + s.selector
}

// question is what a user is asked before something that is not taken back.
type question struct {
	// lines tell what it is about, one each; text is the question itself.
	lines []string
	text  string
	yes   bool
	// must: where nobody can be asked, --yes is needed; verb says for what.
	must bool
	verb string
	// kept is what a no leaves: "nothing was deleted".
	kept string
}

// ask puts a question on a terminal. Elsewhere the command itself is the answer,
// unless it chose its targets by labels or by --all.
func (a *app) ask(q question) error {
	switch {
	case q.yes:
		return nil
	case !a.asks && q.must:
		return badInput("%s, %s: nobody can be asked here; look with `armature get` first, then give --yes", q.verb, q.kept)
	case !a.asks:
		return nil
	}
	for _, line := range q.lines {
		a.printf("  %s\n", line)
	}
	a.printf("%s [y/N] ", q.text)
	answer, _ := bufio.NewReader(a.in).ReadString('\n')
	if !agreed(answer) {
		return failed("%s: the question was not answered with y", q.kept)
	}
	return nil
}

// agreed reports whether an answer is y or yes.
func agreed(answer string) bool {
	answer = strings.ToLower(strings.TrimSpace(answer))
	return answer == "y" || answer == "yes"
}
