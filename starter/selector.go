package main

import "strings"

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

// labelQuery narrows runningQuery to a label selector.
func labelQuery(selector string) (string, error) {
	labels, err := readSelector(selector)
	if err != nil {
		return "", err
	}
	query := runningQuery
	for _, l := range labels {
		query += " AND " + attributeLabels + " = '" + l.key + "=" + l.value + "'"
	}
	return query, nil
}
