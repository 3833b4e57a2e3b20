package types

import (
	"slices"
	"strings"

	"github.com/armature-io/armature/resource"
)

// SecretList is an action of a type that returns a secret which a GET does not show.
type SecretList struct {
	// Action is the name of the action, a POST without a body, in an api-version.
	Action, Version string
	// Secret is the path of the secret in a body, Answer its path in the response, both
	// in the form of Walk.
	Secret, Answer []string
}

// envelopeNames are members of a response that say nothing about what it lists.
var envelopeNames = []string{"id", "name", "type", "nextlink", "systemdata", "etag"}

// SecretListsOf returns the actions that list secrets of a type (Shape.SecretLists) in an
// api-version, or else in the newest one.
func SecretListsOf(name, version string) []SecretList {
	for _, version := range []string{version, Newest(name)} {
		if shape := Lookup(name, version); shape != nil {
			if lists := shape.SecretLists(); len(lists) > 0 {
				return lists
			}
		}
	}
	return nil
}

// SecretLists returns the actions that list secrets of the type: published actions with
// a name that begins with "list", which ARM reserves for reads by POST, and a response in
// which the object with the secret has the shape of the one in the body. A secret of the
// body that could be meant by two parts of a response is left out, and so is a part of an
// answer that could mean two secrets.
func (s *Shape) SecretLists() []SecretList {
	var found []SecretList
	var body *outline
	for _, action := range s.Actions {
		if action.Output == nil || len(action.Name) < 4 || !strings.EqualFold(action.Name[:4], "list") || action.Input.needsValues() {
			continue
		}
		if body == nil {
			body = s.secretOutline()
		}
		if len(body.secrets) == 0 {
			return nil
		}
		for _, list := range body.listedBy(action) {
			list.Version = s.Version
			found = append(found, list)
		}
	}
	return found
}

// needsValues reports whether a body of the kind must state something.
func (n *Node) needsValues() bool {
	return n != nil && slices.ContainsFunc(n.Properties, func(p Property) bool { return p.Has(Required) })
}

// outline has the names of the members of each object of a shape, by its path, and the
// paths of its texts.
type outline struct {
	members        map[string][]string
	texts, secrets [][]string
}

func newOutline(n *Node, isSecret func(path []string, p Property) bool) *outline {
	o := &outline{members: map[string][]string{}}
	(&Shape{Body: n}).Walk(func(path []string, p Property) bool {
		parent := strings.Join(path[:len(path)-1], ".")
		o.members[parent] = append(o.members[parent], path[len(path)-1])
		if p.Type.Kind == Text {
			o.texts = appendPath(o.texts, path)
			if isSecret(path, p) {
				o.secrets = appendPath(o.secrets, path)
			}
		}
		return true
	})
	return o
}

// appendPath adds a path that may be in the list already: variants share properties.
func appendPath(paths [][]string, path []string) [][]string {
	if slices.ContainsFunc(paths, func(known []string) bool { return slices.Equal(known, path) }) {
		return paths
	}
	return append(paths, slices.Clone(path))
}

// secretOutline returns the outline of the body with the secrets that it may state.
func (s *Shape) secretOutline() *outline {
	marks, readOnly := MarksOf(s.Type), ReadOnlyOf(s.Type)
	return newOutline(s.Body, func(path []string, p Property) bool {
		at := steps(path)
		hidden := p.Type.Sensitive || p.Has(WriteOnly) || marks.Sensitive.Contain(at) || marks.WriteOnly.Contain(at)
		return hidden && !p.Has(ReadOnly) && !readOnly.Cover(at)
	})
}

// steps returns a path in the form of Walk as a path of a body.
func steps(path []string) resource.Path {
	at := make(resource.Path, len(path))
	for i, name := range path {
		if at[i] = (resource.Step{Name: name}); name == "[]" {
			at[i] = resource.Step{Any: true}
		}
	}
	return at
}

// listedBy returns the secrets of the body that an action lists.
func (o *outline) listedBy(action Action) []SecretList {
	answer := newOutline(action.Output, func([]string, Property) bool { return false })
	var found []SecretList
	for _, secret := range o.secrets {
		var at [][]string
		for _, text := range answer.texts {
			if o.answers(secret, answer, text) {
				at = append(at, text)
			}
		}
		if exact := slices.IndexFunc(at, func(path []string) bool { return slices.Equal(path, secret) }); exact >= 0 {
			at = at[exact : exact+1]
		}
		if len(at) == 1 {
			found = append(found, SecretList{Action: action.Name, Secret: secret, Answer: at[0]})
		}
	}
	ambiguous := map[string]int{}
	for _, list := range found {
		ambiguous[strings.Join(list.Answer, ".")]++
	}
	return slices.DeleteFunc(found, func(list SecretList) bool { return ambiguous[strings.Join(list.Answer, ".")] > 1 })
}

// answers reports whether a text of a response is a secret of the body: it is at the same
// path, or it has the same name in an object whose members are members of the body's
// object, both of them items of lists or neither.
func (o *outline) answers(secret []string, answer *outline, text []string) bool {
	if slices.Equal(secret, text) {
		return true
	}
	last := len(secret) - 1
	if secret[last] != text[len(text)-1] {
		return false
	}
	parent, listed := secret[:last], text[:len(text)-1]
	inItem, itemListed := len(parent) > 0 && parent[len(parent)-1] == "[]", len(listed) > 0 && listed[len(listed)-1] == "[]"
	names, own := answer.members[strings.Join(listed, ".")], o.members[strings.Join(parent, ".")]
	if inItem != itemListed || inItem && len(names) < 2 || !inItem && (len(listed) > 0 || slices.Contains(parent, "[]") || slices.Contains(parent, "*")) {
		return false
	}
	return !slices.ContainsFunc(names, func(name string) bool {
		return !slices.Contains(own, name) && (inItem || !slices.Contains(envelopeNames, name))
	})
}
