package armsim

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
)

// inlineRule describes a child collection that the parent's body contains and replaces.
type inlineRule struct {
	collection, property string // property is a dotted path below "properties"
	flat                 bool   // an item has name and properties in one object
	firstDefaults        object // defaults of the first item
	// keepAbsent reports by api-version whether a body without the property keeps the
	// children; nil means that it deletes them.
	keepAbsent func(apiVersion string) bool
}

// list returns the object that contains the list, and the list's name in it. The object
// is nil when it is absent and create is false.
func (rule inlineRule) list(body object, create bool) (object, string) {
	names := strings.Split("properties."+rule.property, ".")
	name := names[len(names)-1]
	parent := body
	for _, segment := range names[:len(names)-1] {
		child, ok := parent[segment].(object)
		if !ok && !create {
			return nil, name
		}
		if !ok {
			child = object{}
			parent[segment] = child
		}
		parent = child
	}
	return parent, name
}

// show sets the children in a body.
func (rule inlineRule) show(body object, list []any) {
	// A nested list is set only where its parent object exists, or where it has items.
	if parent, name := rule.list(body, !strings.Contains(rule.property, ".") || len(list) > 0); parent != nil {
		parent[name] = list
	}
}

// listedItems returns the children that a body lists; present is false when the body
// keeps the existing ones.
func listedItems(q *request, body object, rule inlineRule) (items []any, present bool) {
	parent, name := rule.list(body, false)
	value, present := parent[name]
	if !present && rule.keepAbsent != nil && rule.keepAbsent(q.apiVersion) {
		return nil, false
	}
	items, _ = value.([]any)
	return items, true
}

// checkInline refuses a body that would delete a child which is in use.
func (s *Simulator) checkInline(q *request, r *resource, body object, rule inlineRule) *response {
	items, present := listedItems(q, body, rule)
	if !present {
		return nil
	}
	for _, child := range s.omitted(r, items, rule) {
		if resp := s.checkUse(child); resp != nil {
			return resp
		}
	}
	return nil
}

// replaceInline creates, replaces and deletes children so that they equal the parent's
// list, as Azure's network resources do.
func (s *Simulator) replaceInline(q *request, r *resource, body object, rule inlineRule) {
	items, present := listedItems(q, body, rule)
	if parent, name := rule.list(body, false); parent != nil {
		delete(parent, name)
	}
	if !present {
		return
	}
	for i, item := range items {
		name, ok := itemName(item)
		if !ok {
			continue
		}
		child := q.target
		child.id = r.id + "/" + rule.collection + "/" + name
		child.types = append(slices.Clone(child.types), rule.collection)
		child.names = append(slices.Clone(child.names), name)
		child.kind = kindResource
		stored := s.find(child.id)
		if stored == nil {
			stored = s.newResource(child)
			s.resources[key(child.id)] = stored
		}
		content := cloneObject(item.(object)) // itemName accepts objects only
		if i == 0 {
			setDefaults(content, rule.firstDefaults)
		}
		s.storeInline(stored, content, rule)
	}
	for _, child := range s.omitted(r, items, rule) {
		s.remove(child.id)
	}
}

// omitted returns the children that a list does not name.
func (s *Simulator) omitted(r *resource, items []any, rule inlineRule) []*resource {
	return slices.DeleteFunc(s.children(r.id, rule.collection), func(child *resource) bool {
		return slices.ContainsFunc(items, func(item any) bool {
			name, ok := itemName(item)
			return ok && strings.EqualFold(child.name, name)
		})
	})
}

func (s *Simulator) storeInline(child *resource, content object, rule inlineRule) {
	for _, name := range []string{"id", "name", "type", "etag"} {
		delete(content, name)
	}
	if rule.flat {
		content = object{"properties": content}
	}
	s.logSecrets(child.typ, content)
	keepOmitted(child.typ, content, child.body)
	if row := s.ruleFor(child.typ); row.defaults != nil {
		row.defaults(child, content)
	}
	properties(content)["provisioningState"] = "Updating" // until the parent's operation is done
	child.body = content
	child.version++
}

// finishInlineChildren sets the final state of the parent's operation on its inline
// children.
func (s *Simulator) finishInlineChildren(r *resource, state string) {
	for _, rule := range s.ruleFor(r.typ).inline {
		for _, child := range s.children(r.id, rule.collection) {
			if child.op == nil && !terminal(child.state()) {
				child.setState(state)
			}
		}
	}
}

// inlineList returns the children in the form of the parent's body.
func (s *Simulator) inlineList(r *resource, rule inlineRule) []any {
	list := []any{}
	for _, child := range s.children(r.id, rule.collection) {
		if child.hidden {
			continue
		}
		shown := s.render(child)
		if rule.flat {
			flat := cloneObject(properties(shown))
			flat["name"] = shown["name"]
			shown = flat
		}
		list = append(list, shown)
	}
	return list
}

// etagOf returns a value that changes with every change of the resource and of its
// inline children, in the form of its provider.
func (s *Simulator) etagOf(r *resource) string {
	if r.recording != nil {
		return r.etag()
	}
	sum, shown := fnv.New32a(), false
	for _, rule := range s.ruleFor(r.typ).inline {
		for _, child := range s.children(r.id, rule.collection) {
			shown = true
			fmt.Fprintf(sum, "%s %s %d\n", key(child.id), child.guid, child.version)
		}
	}
	etag := r.etag()
	if shown {
		etag = strings.TrimSuffix(etag, `"`) + fmt.Sprintf(`-%08x"`, sum.Sum32())
	}
	return s.answerFor(r.typ).ETag.in(etag)
}
