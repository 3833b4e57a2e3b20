// Package project owns the manifests of a command line: the flags that name them, reading
// them, and the managed resources that they no longer have. It sends nothing: it looks up
// names and resources by lists.
package project

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/armature-io/armature/manifest"
	"github.com/armature-io/armature/starter/internal/backend"
	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/spf13/cobra"
)

// Flags are the flags that name manifests.
type Flags struct {
	Files         []string
	resourceGroup string
	subscription  string
	validation    validationFlag
	environment   string
	params        []string
	targets       []string
}

// Add adds the flags to a command.
func (s *Flags) Add(c *cobra.Command) {
	flags := c.Flags()
	flags.StringArrayVarP(&s.Files, "filename", "f", nil, "manifest `file`, folder, or - for stdin (repeatable)")
	flags.StringVar(&s.resourceGroup, "resource-group", "", "resource group of manifests without owner")
	flags.StringVar(&s.subscription, "subscription", "", "subscription (GUID) of manifests without owner")
	flags.StringVar(&s.environment, "env", "", "`name` of an environment of armature.yaml")
	flags.StringArrayVar(&s.params, "param", nil, "value of a parameter of armature.yaml, as `name=value` (repeatable)")
	_ = c.RegisterFlagCompletionFunc("env", s.complete(func(environments, _ []string) []string { return environments }))
}

// complete offers some of the names that the files have, in the current folder without -f.
func (s *Flags) complete(choose func(environments, manifests []string) []string) cobra.CompletionFunc {
	return func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
		paths := slices.DeleteFunc(slices.Clone(s.Files), func(path string) bool { return path == "-" })
		if len(paths) == 0 {
			paths = []string{"."}
		}
		var offers []cobra.Completion
		for _, name := range choose(manifest.Choices(s.options(nil), paths...)) {
			offers = cli.Offer(offers, name, "")
		}
		return offers, cobra.ShellCompDirectiveNoFileComp
	}
}

// AddTarget adds the flag that names a part of the manifests.
func (s *Flags) AddTarget(c *cobra.Command) {
	c.Flags().StringArrayVar(&s.targets, "target", nil, "only the manifest with this `name`, and the owners and references that it needs (repeatable)")
	_ = c.RegisterFlagCompletionFunc("target", s.complete(func(_, manifests []string) []string { return manifests }))
}

// AddValidation adds --validation to a command that checks bodies.
func (s *Flags) AddValidation(c *cobra.Command) {
	c.Flags().Var(&s.validation, "validation", "how findings of the published types count, instead of reconcile.validation: "+strings.Join(validations(), ", "))
	_ = c.RegisterFlagCompletionFunc("validation", cobra.FixedCompletions(validations(), cobra.ShellCompDirectiveNoFileComp))
}

// AreWhole reports whether the flags name whole folders, so that a resource of theirs without a
// manifest has none anywhere.
func (s *Flags) AreWhole() bool {
	return len(s.targets) == 0 && !slices.ContainsFunc(s.Files, func(file string) bool {
		info, err := os.Stat(file)
		return err != nil || !info.IsDir()
	})
}

// HasTarget reports whether the flags name a part of the manifests.
func (s *Flags) HasTarget() bool { return len(s.targets) > 0 }

// Check returns an error for flags about manifests without -f.
func (s *Flags) Check() error {
	switch {
	case len(s.Files) > 0:
		return nil
	case s.resourceGroup != "":
		return cli.BadInput("--resource-group is for manifests; add -f PATH, or omit it")
	case s.subscription != "":
		return cli.BadInput("--subscription is for manifests; add -f PATH, or omit it")
	case s.environment != "" || len(s.params) > 0:
		return cli.BadInput("--env and --param are for manifests; add -f PATH, or omit them")
	}
	return nil
}

// options returns how the manifests are read.
func (s *Flags) options(stdin io.Reader) manifest.Options {
	return manifest.Options{
		ResourceGroup: s.resourceGroup, Subscription: s.subscription, Stdin: stdin, Validation: manifest.Validation(s.validation),
		Facts: cli.TypeFacts, Environment: s.environment, Params: s.params, Targets: s.targets,
	}
}

// Render returns the manifests as the environment makes them.
func (s *Flags) Render(stdin io.Reader) (manifest.RenderedSet, error) {
	options := s.options(stdin)
	options.Open = true
	return manifest.Render(options, s.Files...) //nolint:wrapcheck // issues of the manifests
}

// Validate reads and checks the manifests without a server: names that none of them has
// are left open.
func (s *Flags) Validate(stdin io.Reader) manifest.Report {
	options := s.options(stdin)
	options.Open = true
	return manifest.Validate(options, s.Files...)
}

// Loader is what it takes to read manifests for a command.
type Loader struct {
	Stdin io.Reader
	// Reader connects to Temporal. It is called only for names that no manifest has.
	Reader func(ctx context.Context) (backend.Reader, error)
	// Note writes one sentence for the user.
	Note func(format string, args ...any)
	// HasKey reports whether the manifests will be signed; nil where they are not sent.
	HasKey func() (bool, error)
}

// Load reads manifests whose resources exist, for a deletion or a wait. All their issues
// are one error.
func (s *Flags) Load(ctx context.Context, l Loader) (manifest.Set, error) {
	options := s.options(l.Stdin)
	options.Managed = func(names []string) ([]manifest.Managed, error) {
		found, err := l.managed(ctx, names)
		for i := range found {
			// What is in a resource that is being deleted can be deleted.
			found[i].Deleting = false
		}
		return found, err
	}
	set, err := manifest.Load(options, s.Files...)
	if err != nil {
		return set, refusal(err)
	}
	return set, l.checkSigned(set)
}

// LoadValid reads manifests whose bodies are sent: it also checks them against the
// published types, and notes the warnings, and which names it found among the managed
// resources.
func (s *Flags) LoadValid(ctx context.Context, l Loader) (manifest.Set, error) {
	options := s.options(l.Stdin)
	options.Validate = true
	options.Managed = func(names []string) ([]manifest.Managed, error) { return l.managed(ctx, names) }
	set, err := manifest.Load(options, s.Files...)
	if err != nil {
		return set, refusal(err)
	}
	if err := l.checkSigned(set); err != nil {
		return set, err
	}
	for _, line := range IssueLines(set.Warnings, "`armature validate` lists all") {
		l.Note("%s", line)
	}
	for _, line := range foundLines(set) {
		l.Note("%s", line)
	}
	if s.HasTarget() {
		l.Note("%s", targetLine(set))
	}
	return set, nil
}

func (l Loader) managed(ctx context.Context, names []string) ([]manifest.Managed, error) {
	reader, err := l.Reader(ctx)
	if err != nil {
		return nil, err
	}
	return backend.Managed(ctx, reader, names)
}

// checkSigned returns an error for names of managed resources in manifests that will be
// signed: a signature is for what the user wrote, and every user of the Temporal namespace
// can start a workflow with a name.
func (l Loader) checkSigned(set manifest.Set) error {
	if len(set.Found) == 0 || l.HasKey == nil {
		return nil
	}
	signed, err := l.HasKey()
	if err != nil || !signed {
		return err
	}
	var lines []string
	for _, found := range set.Found[:min(len(set.Found), maxFoundShown)] {
		lines = append(lines, fmt.Sprintf("%s: %s: %s is the managed resource %s", found.Source, found.Path, cli.OneLine(found.Name), found.ID))
	}
	return cli.BadInput("cannot sign names of managed resources, nothing was started: any user of the Temporal namespace could have given a resource the name; write resource IDs (%s):\n  %s",
		cli.Count(len(set.Found), "name"), strings.Join(lines, "\n  "))
}

// maxFoundShown bounds the names of managed resources that are listed.
const maxFoundShown = 25

// foundLines returns a line for each name that means a managed resource.
func foundLines(set manifest.Set) []string {
	var lines []string
	for _, found := range set.Found {
		line := fmt.Sprintf("%s is the managed resource %s", cli.OneLine(found.Name), found.ID)
		if !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	if rest := len(lines) - maxFoundShown; rest > 0 {
		lines = append(lines[:maxFoundShown], fmt.Sprintf("… and %d more names of managed resources; a plan file has their resource IDs", rest))
	}
	return lines
}

// targetLine returns what --target takes along and leaves out.
func targetLine(set manifest.Set) string {
	line := "--target: only what it names"
	if len(set.Along) > 0 {
		names := make([]string, len(set.Along))
		for i, id := range set.Along {
			names[i] = cli.KindAndName(id)
		}
		line += ", and " + strings.Join(names, ", ") + ", which it needs"
	}
	return line + "; " + cli.Count(set.LeftOut, "other manifest") + " left out"
}

// MaxIssuesShown bounds the issues that are listed: more mean that the path is wrong.
const MaxIssuesShown = 25

// IssueLines returns the first issues as lines; more is the advice after them.
func IssueLines(issues manifest.Issues, more string) []string {
	var lines []string
	for _, issue := range issues[:min(MaxIssuesShown, len(issues))] {
		lines = append(lines, issue.String())
	}
	if rest := len(issues) - len(lines); rest > 0 {
		lines = append(lines, fmt.Sprintf("… and %d more; %s", rest, more))
	}
	return lines
}

// LowerHelp is the last line of a refusal by the published types.
const LowerHelp = "if Azure takes what is refused here, pass --validation warn or write reconcile: {validation: warn}"

// refusal returns the error of a load for the user: its faults, and how to lower those
// that the published types cause.
func refusal(err error) error {
	issues, ok := errors.AsType[manifest.Issues](err)
	if !ok {
		return err // of Temporal
	}
	faults := issues.Of(manifest.SeverityFault)
	lines := IssueLines(faults, "fix these first")
	if HasTypeFault(faults) {
		if n := len(issues) - len(faults); n > 0 {
			lines = append(lines, "and "+cli.Count(n, "warning")+"; `armature validate` lists all")
		}
		lines = append(lines, LowerHelp)
	}
	text := fmt.Sprintf("invalid manifests, nothing was started (%s):\n  %s", cli.Count(len(faults), "issue"), strings.Join(lines, "\n  "))
	return &cli.ExitError{Code: cli.ExitBadInput, Err: refused{issues, text}}
}

// refused is the error of manifests with faults, in words for the user.
type refused struct {
	issues manifest.Issues
	text   string
}

func (r refused) Error() string { return r.text }
func (r refused) Unwrap() error { return r.issues }

// HasTypeFault reports whether --validation could lower one of the faults.
func HasTypeFault(faults manifest.Issues) bool {
	return slices.ContainsFunc(faults, func(i manifest.Issue) bool { return i.Rule != manifest.InvalidManifest })
}

// validationFlag is the value of --validation, "" if it is not given.
type validationFlag manifest.Validation

func validations() []string {
	var words []string
	for _, v := range manifest.Validations() {
		words = append(words, string(v))
	}
	return words
}

// Set implements pflag.Value.
func (v *validationFlag) Set(text string) error {
	parsed, err := cli.ParseWord[validationFlag]("validation", text, validations())
	if err == nil {
		*v = parsed
	}
	return err //nolint:wrapcheck // it names the flag
}

// String implements pflag.Value.
func (v *validationFlag) String() string { return string(*v) }

// Type implements pflag.Value: the flag's type in the help.
func (v *validationFlag) Type() string { return "word" }
