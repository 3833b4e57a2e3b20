package backend

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/armature-io/armature/internal/nearest"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/searchattr"
	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/armature-io/armature/workflows"
)

// runningQuery lists the workflows of managed resources. Without ExecutionStatus a
// list would include runs that continued as new.
const runningQuery = "WorkflowType = '" + workflows.ReconcileResourceWorkflow + "' AND ExecutionStatus = 'Running'"

// AllWorkflowsQuery returns the query for every running workflow of Armature.
func AllWorkflowsQuery() string {
	return "WorkflowType IN ('" + strings.Join(workflows.Names(), "', '") + "') AND ExecutionStatus = 'Running'"
}

// ParseSelector parses "k=v,k=v" and returns its terms, sorted. A resource must have
// all of them.
func ParseSelector(selector string) ([]string, error) {
	parsed, err := resource.ParseSelector(selector)
	if err != nil {
		return nil, cli.BadInput("%w", err)
	}
	var terms []string
	for key, value := range parsed {
		terms = append(terms, key+"="+value)
	}
	slices.Sort(terms)
	return terms, nil
}

// Selection chooses resources: by names, by labels, or all.
type Selection struct {
	// Names are names (adx, adx/telemetry) or resource IDs.
	Names    []string
	Selector string
	// All is --all: every managed resource.
	All bool
	// Where restricts what labels or --all choose.
	Where Filter
}

// IsEmpty reports whether nothing was chosen, which some commands read as
// everything.
func (s Selection) IsEmpty() bool { return len(s.Names) == 0 && s.Selector == "" && !s.All }

// IsQuery reports whether resources were chosen by labels or --all, not one by one.
func (s Selection) IsQuery() bool { return s.All || s.Selector != "" }

// Flags returns the flags of a query: "--all", "-l stack=prod".
func (s Selection) Flags() string {
	if s.All {
		return "--all"
	}
	return "-l " + s.Selector
}

// Check returns an error for flags that contradict each other and for a selector
// that does not parse.
func (s Selection) Check() error {
	switch {
	case s.Selector != "" && len(s.Names) > 0:
		return cli.BadInput("names and -l cannot be combined; choose resources by one of them")
	case s.All && len(s.Names) > 0:
		return cli.BadInput("names and --all cannot be combined; choose resources by one of them")
	case s.All && s.Selector != "":
		return cli.BadInput("-l and --all cannot be combined; choose one of them")
	case slices.ContainsFunc(s.Names, func(name string) bool { return strings.Contains(name, "://") }):
		return cli.BadInput("a URL is neither a name nor a resource ID; use the ID, which begins with /subscriptions/, or a name from `armature get`")
	case slices.Contains(s.Names, ""):
		return cli.BadInput("a name is empty; is a shell variable not set? `armature get` lists the names")
	}
	_, err := ParseSelector(s.Selector)
	return err
}

// NoMatch returns the error for a selection that matches nothing.
func (s Selection) NoMatch() error {
	if s.Selector == "" {
		return cli.Failed("no resources are managed; `armature apply -f PATH` adds some")
	}
	return cli.Failed("find resources with %s: no managed resource matches; `armature get` lists all, with -o json their labels", s.Selector)
}

// Reader reads workflows. Only Status needs a worker.
type Reader interface {
	Status(ctx context.Context, workflowID string) (workflows.Status, error)
	Record(ctx context.Context, workflowID string) (Record, error)
	List(ctx context.Context, query string) ([]Record, error)
}

// Targets returns the records of a selection, each resource once. A name must match
// exactly one resource; the error for any other name suggests one that exists.
func Targets(ctx context.Context, reader Reader, s Selection) ([]Record, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	if len(s.Names) == 0 {
		return running(ctx, reader, s.Selector, s.Where)
	}
	var found []Record
	named, err := candidates(ctx, reader, s.Names)
	if err != nil {
		return nil, err
	}
	for _, name := range s.Names {
		var r Record
		if strings.HasPrefix(name, "/") {
			r, err = byID(ctx, reader, name)
		} else {
			r, err = byName(named, name)
		}
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(found, func(f Record) bool { return f.WorkflowID == r.WorkflowID }) {
			found = append(found, r)
		}
	}
	return found, nil
}

// maxNamesInQuery bounds the names in one query.
const maxNamesInQuery = 50

// candidates returns the records among which the names that are no IDs are to be found:
// those with one of the names and those of older workflows, which have none to query. It
// returns all managed resources if a name has no candidate, for suggestions, and for a
// namespace that does not know ArmName yet.
func candidates(ctx context.Context, reader Reader, names []string) ([]Record, error) {
	var terms []string
	for _, name := range names {
		if !strings.HasPrefix(name, "/") {
			terms = append(terms, workflows.NameTerm(name))
		}
	}
	slices.Sort(terms)
	terms = slices.Compact(terms)
	if len(terms) == 0 {
		return nil, nil
	}
	if len(terms) > maxNamesInQuery {
		return Running(ctx, reader, "")
	}
	query := runningQuery + " AND (" + searchattr.ArmName + " IN (" + quoted(terms) + ") OR " + searchattr.ArmName + " IS NULL)"
	records, err := reader.List(ctx, query)
	if cli.ExitCode(err) == cli.ExitUnreachable {
		return nil, err
	}
	for _, name := range names {
		if err != nil || !strings.HasPrefix(name, "/") && len(matching(records, name)) == 0 {
			return Running(ctx, reader, "")
		}
	}
	return records, nil
}

// Running returns the records of the managed resources that a label selector
// chooses ("" = all), sorted by name.
func Running(ctx context.Context, reader Reader, selector string) ([]Record, error) {
	return running(ctx, reader, selector, Filter{})
}

func running(ctx context.Context, reader Reader, selector string, where Filter) ([]Record, error) {
	terms, err := ParseSelector(selector)
	if err != nil {
		return nil, err
	}
	query := runningQuery + where.terms()
	for _, term := range terms {
		query += " AND " + searchattr.ReconcileLabels + " = '" + term + "'"
	}
	records, err := reader.List(ctx, query)
	if err != nil {
		return nil, err
	}
	// Some visibility stores of Temporal ignore case, labels do not.
	records = slices.DeleteFunc(records, func(r Record) bool {
		return slices.ContainsFunc(terms, func(term string) bool { return !slices.Contains(r.Labels, term) })
	})
	slices.SortFunc(records, func(a, b Record) int {
		return cmp.Or(cmp.Compare(a.DisplayName(), b.DisplayName()), cmp.Compare(a.WorkflowID, b.WorkflowID))
	})
	return records, nil
}

// MaxListed bounds the workflows that one query names: its answer fits into one page.
const MaxListed = firstPageSize

// ListByID returns the records of those of at most MaxListed workflows that run.
func ListByID(ctx context.Context, reader Reader, workflowIDs []string) ([]Record, error) {
	return reader.List(ctx, runningQuery+" AND WorkflowId IN ("+quoted(workflowIDs)+")")
}

// byID needs no list: the workflow ID follows from the resource ID.
func byID(ctx context.Context, reader Reader, name string) (Record, error) {
	id, err := resource.ParseID(name)
	if err != nil {
		return Record{}, cli.BadInput("%w", err)
	}
	r, err := reader.Record(ctx, id.WorkflowID())
	if errors.Is(err, ErrNotManaged) {
		return Record{}, cli.Failed("find %s: it is not managed; `armature get` lists managed resources", name)
	}
	if r.ID.IsZero() {
		r.ID = id
	}
	return r, err
}

// byName returns the one record with a name.
func byName(all []Record, name string) (Record, error) {
	matches := matching(all, name)
	switch len(matches) {
	case 0:
		hint := "`armature get` lists them"
		if suggestion := suggestName(all, name); suggestion != "" {
			hint = "did you mean " + suggestion + "? " + hint
		}
		if ext := strings.ToLower(filepath.Ext(name)); ext == ".yaml" || ext == ".yml" || ext == ".json" {
			hint = "pass a manifest with -f; " + hint
		}
		return Record{}, cli.Failed("find %q: no managed resource has this name; %s; use the resource ID for one that is no longer managed (apply --once)", name, hint)
	case 1:
		return matches[0], nil
	}
	ids := make([]string, len(matches))
	for i, r := range matches {
		ids[i] = "\n  " + r.ID.String()
	}
	return Record{}, cli.BadInput("find %q: %d resources have this name; use the ID of one:%s", name, len(matches), strings.Join(ids, ""))
}

// matching returns the records with a name: by its chain of names, else by the manifest's
// name, else by its last name.
func matching(all []Record, name string) []Record {
	var matches []Record
	for _, field := range []func(Record) string{
		Record.DisplayName,
		func(r Record) string { return r.Name },
		func(r Record) string { return r.ID.Name() },
	} {
		for _, r := range all {
			if strings.EqualFold(field(r), name) {
				matches = append(matches, r)
			}
		}
		if len(matches) > 0 {
			return matches
		}
	}
	return nil
}

// suggestName returns the display name of the resource with the most similar name,
// "" if no name is close enough.
func suggestName(all []Record, name string) string {
	displayNames := map[string]string{}
	var names []string
	for _, r := range all {
		for _, candidate := range []string{r.DisplayName(), r.Name, r.ID.Name()} {
			displayNames[candidate] = r.DisplayName()
			names = append(names, candidate)
		}
	}
	return displayNames[nearest.Match(name, names)]
}
