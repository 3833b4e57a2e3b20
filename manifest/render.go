package manifest

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Rendered is one manifest with parameters, texts, patches, labels and the credential of
// its environment in place.
type Rendered struct {
	Source Source
	// Document has the fields in the order of the file. $ref, $secret, $plain, and texts
	// that read observed values, are still in it.
	Document *yaml.Node
	// Open are the names in it that no manifest defines (Options.Open).
	Open Issues
}

// RenderedSet is the result of Render.
type RenderedSet struct {
	Manifests []Rendered
	// ResourceGroup and Subscription are those of manifests without owner: of the
	// environment or of the options.
	ResourceGroup, Subscription string
}

// Render reads manifests like Load and returns them as they are after the choice of an
// environment, by file and line. It reads files and nothing else, and gives the same
// result for the same files in any order of paths. Its error is the one of Load.
func Render(options Options, paths ...string) (RenderedSet, error) {
	l, _ := load(options, paths)
	issues := l.issues.sorted(l.order)
	if len(issues.Of(SeverityFault)) > 0 {
		return RenderedSet{}, issues
	}
	set := RenderedSet{ResourceGroup: l.options.ResourceGroup, Subscription: l.options.Subscription}
	for _, d := range l.drafts {
		set.Manifests = append(set.Manifests, Rendered{Source: d.source(), Document: d.root.yaml(), Open: d.open})
	}
	slices.SortStableFunc(set.Manifests, func(a, b Rendered) int {
		if byFile := strings.Compare(a.Source.File, b.Source.File); byFile != 0 {
			return byFile
		}
		return a.Source.Line - b.Source.Line
	})
	return set, nil
}

// yaml returns a value for the YAML library. Texts that it would read as another kind
// have quotes.
func (n *node) yaml() *yaml.Node {
	switch n.kind {
	case kindObject:
		mapping := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
		for _, f := range n.fields {
			mapping.Content = append(mapping.Content, textNode(f.name), f.value.yaml())
		}
		return mapping
	case kindList:
		list := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
		for _, item := range n.items {
			list.Content = append(list.Content, item.yaml())
		}
		return list
	case kindText:
		return textNode(n.text)
	case kindNull:
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Value: "null"}
	case kindBoolean:
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!bool", Value: n.text}
	}
	tag := "!!int"
	if strings.ContainsAny(n.text, ".eE") {
		tag = "!!float"
	}
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: tag, Value: n.text}
}

func textNode(text string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: text}
}

// addDefaults adds the labels and the credential of the chosen environment to documents
// that state none.
func (r *renderer) addDefaults(documents []document) {
	if r.project == nil || r.project.chosen == nil {
		return
	}
	env := r.project.chosen
	for i := range documents {
		if documents[i].root.kind != kindObject {
			continue
		}
		if env.labels != nil {
			documents[i].root = documents[i].root.withDefaults("labels", env.labels.fields)
		}
		if env.credential != nil {
			documents[i].root = documents[i].root.withDefaults("reconcile", []field{{name: "credential", position: env.credential.position, value: env.credential}})
		}
	}
}

// withDefaults returns an object whose section has the fields that it lacks. A section
// that is no mapping stays as it is, and is reported where it is read.
func (n *node) withDefaults(name string, defaults []field) *node {
	result := *n
	result.fields = slices.Clone(n.fields)
	i := slices.IndexFunc(result.fields, func(f field) bool { return f.name == name })
	if i < 0 {
		if len(defaults) > 0 {
			at := defaults[0].position
			result.fields = append(result.fields, field{name: name, position: at, value: &node{kind: kindObject, position: at, fields: defaults}})
		}
		return &result
	}
	if result.fields[i].value.kind != kindObject {
		return n
	}
	section := *result.fields[i].value
	section.fields = slices.Clone(section.fields)
	for _, f := range defaults {
		if section.get(f.name) == nil {
			section.fields = append(section.fields, f)
		}
	}
	result.fields[i].value = &section
	return &result
}
