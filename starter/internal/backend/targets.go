package backend

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/armature-io/armature/internal/searchattr"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/armature-io/armature/workflows"
)

// runningQuery lists the workflows of managed resources. Without ExecutionStatus a
// list would include runs that continued as new.
const runningQuery = "WorkflowType = '" + workflows.ReconcileResourceWorkflow + "' AND ExecutionStatus = 'Running'"

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
	// Names are names (adx, adx/telemetry, rg1/adx) or resource IDs.
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
