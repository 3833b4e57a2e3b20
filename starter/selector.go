package main

import (
	"slices"
	"strings"
)

// label is one term of a selector: key=value.
type label struct{ key, value string }

// readSelector reads k=v,k=v; all of them are meant.
func readSelector(selector string) ([]label, error) {
	var labels []label
	for _, term := range strings.Split(selector, ",") {
		key, value, found := strings.Cut(strings.TrimSpace(term), "=")
		switch {
		case !found || key == "" || strings.HasPrefix(value, "=") || strings.HasSuffix(key, "!"):
			return nil, badInput("read selector %q: %q is not key=value; write -l key=value,key=value", selector, term)
		case strings.ContainsAny(term, `'"\`):
			return nil, badInput("read selector %q: quotes and backslashes are not allowed in it", selector)
		}
		labels = append(labels, label{key, value})
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
