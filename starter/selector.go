package main

import (
	"maps"
	"slices"

	"github.com/armature-io/armature/resource"
)

// label is one term of a selector: key=value.
type label struct{ key, value string }

// readSelector reads k=v,k=v, sorted by key; all of them are meant.
func readSelector(selector string) ([]label, error) {
	parsed, err := resource.ParseSelector(selector)
	if err != nil {
		return nil, badInput("%w", err)
	}
	var labels []label
	for _, key := range slices.Sorted(maps.Keys(parsed)) {
		labels = append(labels, label{key, parsed[key]})
	}
	return labels, nil
}

// labelled reports whether a record has all labels, letter by letter: some
// stores of Temporal compare lists without regard to case.
func (r record) labelled(labels []label) bool {
	for _, l := range labels {
		if !slices.Contains(r.Labels, l.key+"="+l.value) {
			return false
		}
	}
	return true
}

// labelQuery narrows runningQuery to a label selector.
func labelQuery(labels []label) string {
	query := runningQuery
	for _, l := range labels {
		query += " AND " + attributeLabels + " = '" + l.key + "=" + l.value + "'"
	}
	return query
}
