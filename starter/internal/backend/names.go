package backend

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/armature-io/armature/internal/nearest"
	"github.com/armature-io/armature/internal/searchattr"
	"github.com/armature-io/armature/manifest"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/armature-io/armature/workflows"
)

// maxNamesInQuery bounds the names in one query.
const maxNamesInQuery = 50

// candidates returns the records among which the names that are no IDs are to be found. It
// returns all managed resources if a name has no candidate, for suggestions.
func candidates(ctx context.Context, reader Reader, names []string) ([]Record, error) {
	records, all, err := named(ctx, reader, names)
	if err != nil || all {
		return records, err
	}
	for _, name := range names {
		if !strings.HasPrefix(name, "/") && len(matching(records, name)) == 0 {
			return Running(ctx, reader, "")
		}
	}
	return records, nil
}

// named returns the records with one of the names that are no IDs, and those of older
// workflows, which have no name to query: by one list. For more than maxNamesInQuery names,
// and in a namespace that does not know ArmName yet, it returns all managed resources.
func named(ctx context.Context, reader Reader, names []string) (records []Record, all bool, err error) {
	var terms []string
	for _, name := range names {
		if !strings.HasPrefix(name, "/") {
			terms = append(terms, workflows.NameTerm(name))
		}
	}
	slices.Sort(terms)
	terms = slices.Compact(terms)
	if len(terms) == 0 {
		return nil, true, nil
	}
	if len(terms) <= maxNamesInQuery {
		query := runningQuery + " AND (" + searchattr.ArmName + " IN (" + quoted(terms) + ") OR " + searchattr.ArmName + " IS NULL)"
		records, err = reader.List(ctx, query)
		if err == nil || cli.ExitCode(err) == cli.ExitUnreachable {
			return records, false, err
		}
	}
	records, err = Running(ctx, reader, "")
	return records, true, err
}

// Managed returns the managed resources with one of the names that manifests use, by one
// list. A workflow has none if its memo has no resource ID, or that of another workflow:
// other programs may have started it.
func Managed(ctx context.Context, reader Reader, names []string) ([]manifest.Managed, error) {
	records, _, err := named(ctx, reader, names)
	if err != nil {
		return nil, err
	}
	var managed []manifest.Managed
	for _, r := range records {
		if r.ID.WorkflowID() == r.WorkflowID {
			managed = append(managed, manifest.Managed{
				ID: r.ID, Name: r.Name, APIVersion: r.APIVersion, Labels: r.Labels, Deleting: r.Status().Deleting,
			})
		}
	}
	slices.SortFunc(managed, func(a, b manifest.Managed) int { return strings.Compare(a.ID.Key(), b.ID.Key()) })
	return managed, nil
}

// GroupNames returns the names of resources for a list: those that repeat in several
// resource groups are behind their group. displayed are the names otherwise.
func GroupNames(ids []resource.ID, displayed []string) []string {
	groups := map[string]string{}
	repeats := map[string]bool{}
	for i, id := range ids {
		key, group := strings.ToLower(displayed[i]), strings.ToLower(id.ResourceGroup()+" "+id.Subscription())
		if known, found := groups[key]; found && known != group {
			repeats[key] = true
		}
		groups[key] = group
	}
	names := slices.Clone(displayed)
	for i, id := range ids {
		if repeats[strings.ToLower(displayed[i])] && !id.IsZero() {
			names[i] = id.GroupName()
		}
	}
	return names
}

// RecordNames returns the names of records for a list.
func RecordNames(records []Record) []string {
	ids, displayed := make([]resource.ID, len(records)), make([]string, len(records))
	for i, r := range records {
		ids[i], displayed[i] = r.ID, r.DisplayName()
	}
	return GroupNames(ids, displayed)
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
	return Record{}, cli.BadInput("find %q: %d resources have this name; use one of these names or IDs:%s", name, len(matches), candidateLines(all, matches))
}

// candidateLines returns a line for each record: the shortest name that means it alone, and
// the ID.
func candidateLines(all, records []Record) string {
	var b strings.Builder
	for _, r := range records {
		b.WriteString("\n  ")
		for _, name := range []string{r.DisplayName(), r.ID.GroupName()} {
			if len(matching(all, name)) == 1 {
				b.WriteString(name + "  ")
				break
			}
		}
		b.WriteString(r.ID.String())
	}
	return b.String()
}

// matching returns the records that a name means.
func matching(all []Record, name string) []Record {
	return resource.FindNamed(all, name, func(r Record) (resource.ID, string) { return r.ID, r.Name })
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
