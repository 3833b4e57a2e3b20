package types

import (
	"slices"
	"strings"

	"github.com/armature-io/armature/internal/nearest"
	"github.com/armature-io/armature/resource"
)

// Missing returns the beginning of a path that no published version of a type has, with the
// name that was probably meant: properties.stat (did you mean state?). It returns "" for a path
// that exists, and for a type that is not published.
func Missing(resourceType string, path resource.Path) string {
	first := missingStep(resourceType, path)
	if first.name == "" {
		return ""
	}
	return path[:first.index+1].String() + nearest.Suggest(first.name, first.others)
}

// missing is the first step of a path that a type does not have, and the names that it
// has instead.
type missing struct {
	index  int
	name   string
	others []string
}

// envelope returns the properties that Azure shows of every resource, published or not.
func envelope() []string {
	return []string{"id", "name", "type", "systemData", "etag", "tags", "location"}
}

// missingStep returns the first step of a path that no published version of a type has,
// none for a type that is not published.
func missingStep(resourceType string, path resource.Path) missing {
	first := missing{}
	if len(path) > 0 && slices.ContainsFunc(envelope(), func(name string) bool { return strings.EqualFold(name, path[0].Name) }) {
		return first
	}
	for _, version := range slices.Backward(Versions(resourceType)) {
		found := absentFrom(Lookup(resourceType, version), path)
		if found.name == "" {
			return missing{}
		}
		if first.name == "" || found.index > first.index {
			first = found
		}
	}
	return first
}

func absentFrom(shape *Shape, path resource.Path) missing {
	if shape == nil {
		return missing{}
	}
	for i, step := range path {
		found, free := shape.Find(path[:i+1])
		if free {
			return missing{}
		}
		if len(found) == 0 && step.Name != "" {
			return missing{index: i, name: step.Name, others: namesAt(shape, path[:i])}
		}
		if len(found) == 0 {
			return missing{}
		}
	}
	return missing{}
}

// namesAt returns the names of the properties at a path of a shape.
func namesAt(shape *Shape, path resource.Path) []string {
	nodes := []*Node{shape.Body}
	if len(path) > 0 {
		nodes = nil
		found, _ := shape.Find(path)
		for _, p := range found {
			nodes = append(nodes, p.Type)
		}
	}
	var names []string
	for len(nodes) > 0 {
		node := nodes[0]
		nodes = append(nodes[1:], node.Elements...)
		for _, v := range node.Variants {
			nodes = append(nodes, v.Type)
		}
		for _, p := range node.Properties {
			names = append(names, p.Name)
		}
	}
	return names
}

// Words returns the published values of a text of a type, and for a state the usual words of
// Azure, which services return without publishing them.
func Words(resourceType string, path resource.Path) []string {
	var words []string
	for _, version := range Versions(resourceType) {
		shape := Lookup(resourceType, version)
		if shape == nil {
			continue
		}
		found, _ := shape.Find(path)
		for _, property := range found {
			values, _ := property.Type.Values()
			words = append(words, values...)
		}
	}
	last := strings.ToLower(path.LastName())
	if !strings.HasSuffix(last, "state") && !strings.HasSuffix(last, "status") {
		return words
	}
	// Azure returns usual words that a type does not publish, in the letters of the others.
	for _, usual := range stateWords() {
		if !slices.ContainsFunc(words, func(word string) bool { return strings.EqualFold(word, usual) }) {
			words = append(words, usual)
		}
	}
	return words
}

// NearWord returns the word of a list that a word is nearly, ignoring case, "" for none. Of the
// usual words, which the type may not have, one letter may differ.
func NearWord(word string, published []string) string {
	if word == "" || slices.ContainsFunc(published, func(other string) bool { return strings.EqualFold(other, word) }) {
		return ""
	}
	match := nearest.Match(word, published)
	if slices.Contains(stateWords(), match) && nearest.Distance(strings.ToLower(word), strings.ToLower(match)) > 1 {
		return ""
	}
	return match
}

// stateWords are the words of states in Azure's usual letters, for types that publish no
// values.
func stateWords() []string {
	return []string{
		"Succeeded", "Failed", "Canceled", "Accepted", "Creating", "Updating", "Deleting", "Running", "Starting", "Started", "Stopping", "Stopped",
		"Provisioning", "Ready", "Disabled", "Enabled", "Pending", "Approved", "Rejected", "Online", "Offline", "Paused", "Pausing", "Resuming", "Scaling",
	}
}
