package starter

import (
	"bufio"
	"context"
	"strings"

	"github.com/armature-io/armature/manifest"
	"github.com/armature-io/armature/starter/internal/backend"
	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/armature-io/armature/starter/internal/project"
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

// addTargets adds the flags that choose managed resources besides names and IDs: those of
// addSelection, and manifests. It reads both, and the arguments, before the command runs.
func (a *app) addTargets(c *cobra.Command, s *backend.Selection, all string) {
	a.addTargetsIn(c, s, all, new(manifest.Set))
}

// addTargetsIn is addTargets for a command that also reads the manifests of -f, which set keeps.
func (a *app) addTargetsIn(c *cobra.Command, s *backend.Selection, all string, set *manifest.Set) {
	var from project.Flags
	from.Add(c)
	a.addSelection(c, s, all)
	c.PreRunE = func(c *cobra.Command, args []string) error {
		s.Names = args
		if len(from.Files) == 0 {
			return from.Check()
		}
		return backend.WithExitCode(a.selectManifests(c.Context(), &from, s, set))
	}
}

// selectManifests chooses the managed resources of manifests, which set keeps, and notes the
// others.
func (a *app) selectManifests(ctx context.Context, from *project.Flags, s *backend.Selection, set *manifest.Set) error {
	if !s.IsEmpty() {
		return errFilesAndTargets()
	}
	loader := a.loader()
	loader.HasKey = nil // no spec is sent
	loaded, err := from.Load(ctx, loader)
	if err != nil {
		return err
	}
	*set = loaded
	b, err := a.connection(ctx)
	if err != nil {
		return err
	}
	managed, unmanaged, err := backend.SplitManaged(ctx, b, recordsOf(set.Resources))
	if err != nil {
		return err
	}
	if len(managed) == 0 {
		return cli.Failed("none of the %s is managed; `armature apply` adds them", cli.CountOf(len(set.Resources), "resource of the manifests", "resources of the manifests"))
	}
	for _, r := range managed {
		s.Names = append(s.Names, r.ID.String())
	}
	if len(unmanaged) > 0 {
		names := make([]string, len(unmanaged))
		for i, r := range unmanaged {
			names[i] = cli.KindAndName(r.ID)
		}
		a.note("%s not managed and left out: %s", cli.CountAre(len(unmanaged), "resource"), cli.Cut(strings.Join(names, ", "), maxUnmanagedShown))
	}
	return nil
}

// maxUnmanagedShown bounds the characters of the list of unmanaged resources.
const maxUnmanagedShown = 300

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
		return cli.BadInput("name the resources, or choose them with -l key=value, -f PATH or --all; `armature get` lists them")
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
