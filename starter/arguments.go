package starter

import (
	"bufio"
	"strings"

	"github.com/armature-io/armature/starter/internal/backend"
	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/spf13/cobra"
)

// addSelection adds the flags that choose resources besides names and IDs: a label
// selector, and --all with its help.
func (a *app) addSelection(c *cobra.Command, s *backend.Selection, all string) {
	c.Flags().StringVarP(&s.Selector, "selector", "l", "", "label selector: key=value,key=value (all of them)")
	c.Flags().BoolVar(&s.All, "all", false, all)
	c.ValidArgsFunction = a.completeNames
	a.completeFlag(c, "selector", a.completeLabels)
}

// addReason adds --reason of a command that changes something: free text, so a shell offers
// nothing, no files either.
func addReason(c *cobra.Command, reason *string, help string) {
	c.Flags().StringVar(reason, "reason", "", help)
	_ = c.RegisterFlagCompletionFunc("reason", fixed())
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

// question is asked before something that cannot be undone.
type question struct {
	// lines are shown above the question, one for each resource.
	lines []string
	text  string
	yes   bool
	// required means that --yes is needed without a terminal to ask on; action then
	// names what needs it.
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
	reply, _ := bufio.NewReader(a.in).ReadString('\n')
	switch strings.ToLower(strings.TrimSpace(reply)) {
	case "y", "yes":
		return nil
	}
	return cli.Failed("%s: the question was not answered with y", q.unchanged)
}
