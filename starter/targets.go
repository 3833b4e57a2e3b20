package main

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"github.com/armature-io/armature/internal/nearest"
	"github.com/armature-io/armature/resource"
)

// selection is how a user names resources.
type selection struct {
	// names are names (adx, adx/telemetry) or resource IDs.
	names    []string
	selector string
	// all is --all: everything that is managed.
	all bool
}

// empty reports that nothing was named: everything, where that is allowed.
func (s selection) empty() bool { return len(s.names) == 0 && s.selector == "" && !s.all }

// targets finds what is meant, each resource once. A name must mean one resource;
// what is unknown is a fault that names the way out.
func (b *backend) targets(ctx context.Context, s selection) ([]record, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	if len(s.names) == 0 {
		return b.running(ctx, s.selector)
	}
	var all, found []record
	add := func(r record) {
		if !slices.ContainsFunc(found, func(f record) bool { return f.WorkflowID == r.WorkflowID }) {
			found = append(found, r)
		}
	}
	for _, name := range s.names {
		if strings.HasPrefix(name, "/") {
			r, err := b.byID(ctx, name)
			if err != nil {
				return nil, err
			}
			add(r)
			continue
		}
		if all == nil {
			var err error
			if all, err = b.running(ctx, ""); err != nil {
				return nil, err
			}
		}
		r, err := byName(all, name)
		if err != nil {
			return nil, err
		}
		add(r)
	}
	return found, nil
}

// running lists the managed resources, by name.
func (b *backend) running(ctx context.Context, selector string) ([]record, error) {
	var labels []label
	if selector != "" {
		var err error
		if labels, err = readSelector(selector); err != nil {
			return nil, err
		}
	}
	records, err := b.list(ctx, labelQuery(labels))
	if err != nil {
		return nil, err
	}
	records = slices.DeleteFunc(records, func(r record) bool { return !r.labelled(labels) })
	sort.SliceStable(records, func(i, j int) bool {
		left, right := records[i].called(), records[j].called()
		if left != right {
			return left < right
		}
		return records[i].WorkflowID < records[j].WorkflowID
	})
	return records, nil
}

// byID needs no list: the workflow ID follows from the resource ID.
func (b *backend) byID(ctx context.Context, text string) (record, error) {
	id, err := resource.ParseID(text)
	if err != nil {
		return record{}, badInput("%w", err)
	}
	r, err := b.record(ctx, id.WorkflowID())
	if errors.Is(err, errNotManaged) {
		return record{}, failed("find %s: it is not managed; `armature get` lists what is", text)
	}
	if r.ID.IsZero() {
		r.ID = id
	}
	return r, err
}

// byName finds a name among the managed resources: the manifest's name, the
// chain of names (adx/telemetry), or the last name.
func byName(all []record, name string) (record, error) {
	var matches []record
	for _, match := range []func(record) string{
		func(r record) string { return r.called() },
		func(r record) string { return r.Name },
		func(r record) string { return r.ID.Name() },
	} {
		for _, r := range all {
			if strings.EqualFold(match(r), name) {
				matches = append(matches, r)
			}
		}
		if len(matches) > 0 {
			break
		}
	}
	switch len(matches) {
	case 0:
		hint := "`armature get` lists them"
		if near := nearestRecord(all, name); near != "" {
			hint = "did you mean " + near + "? " + hint
		}
		if ext := strings.ToLower(filepath.Ext(name)); ext == ".yaml" || ext == ".yml" || ext == ".json" {
			hint = "a manifest is given with -f; " + hint
		}
		return record{}, failed("find %q: no managed resource has this name; %s; what ended (apply --once) is found by its resource ID", name, hint)
	case 1:
		return matches[0], nil
	}
	ids := make([]string, len(matches))
	for i, r := range matches {
		ids[i] = "\n  " + r.ID.String()
	}
	return record{}, badInput("find %q: %d resources have this name; give one by its ID:%s", name, len(matches), strings.Join(ids, ""))
}

// nearestRecord is what a resource is called whose name a typo was meant for, "" where
// none is near.
func nearestRecord(all []record, name string) string {
	called := map[string]string{}
	var names []string
	for _, r := range all {
		for _, candidate := range []string{r.called(), r.Name, r.ID.Name()} {
			called[candidate] = r.called()
			names = append(names, candidate)
		}
	}
	return called[nearest.Match(name, names)]
}
