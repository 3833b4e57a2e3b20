package armsim

import (
	"fmt"
	"hash/fnv"
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
func (rule inlineRule) list(body object, fill bool) (object, string) {
	names := strings.Split("properties."+rule.property, ".")
	last := names[len(names)-1]
	at := body
	for _, name := range names[:len(names)-1] {
		below, ok := at[name].(object)
		if !ok && !fill {
			return nil, last
		}
		if !ok {
			below = object{}
			at[name] = below
		}
		at = below
	}
	return at, last
}

// show sets the children in a body.
func (rule inlineRule) show(body object, list []any) {
	// A nested list is set only where its parent object exists, or where it has items.
	if holder, last := rule.list(body, !strings.Contains(rule.property, ".") || len(list) > 0); holder != nil {
		holder[last] = list
	}
}

// listedItems returns the children that a body lists; present is false when the body
// keeps the existing ones.
func listedItems(q *request, body object, rule inlineRule) (items []any, present bool) {
	holder, last := rule.list(body, false)
	value, present := holder[last]
	if !present && rule.keepAbsent != nil && rule.keepAbsent(q.apiVersion) {
		return nil, false
	}
	items, _ = value.([]any)
	return items, true
}

// checkInline refuses a body that would delete a child which is in use.
func (s *Simulator) checkInline(q *request, r *resource, body object, rule inlineRule) *response {
	items, given := listedItems(q, body, rule)
	if !given {
		return nil
	}
	listed := map[string]bool{}
	for _, item := range items {
		if name, ok := itemName(item); ok {
			listed[key(r.id+"/"+rule.collection+"/"+name)] = true
		}
	}
	for _, child := range s.children(r.id, rule.collection) {
		if listed[key(child.id)] {
			continue
		}
		if resp := s.checkUse(child); resp != nil {
			return resp
		}
	}
	return nil
}

// replaceInline creates, replaces and deletes children so that they equal the parent's
// list, as Azure's network resources do.
func (s *Simulator) replaceInline(q *request, r *resource, body object, rule inlineRule) {
	items, given := listedItems(q, body, rule)
	if holder, last := rule.list(body, false); holder != nil {
		delete(holder, last)
	}
	if !given {
		return
	}
	listed := map[string]bool{}
	for i, item := range items {
		name, ok := itemName(item)
		if !ok {
			continue
		}
		child := q.target
		child.id = r.id + "/" + rule.collection + "/" + name
		child.types = append(append([]string(nil), child.types...), rule.collection)
		child.names = append(append([]string(nil), child.names...), name)
		child.kind = kindResource
		listed[key(child.id)] = true
		stored := s.find(child.id)
		if stored == nil {
			stored = s.newResource(child)
			s.resources[key(child.id)] = stored
		}
		content := cloneObject(item.(object)) // itemName accepts objects only
		if i == 0 {
			for field, value := range rule.firstDefaults {
				setDefault(content, field, value)
			}
		}
		s.storeInline(stored, content, rule)
	}
	for _, child := range s.children(r.id, rule.collection) {
		if !listed[key(child.id)] {
			s.remove(child.id)
		}
	}
}

func (s *Simulator) storeInline(child *resource, content object, rule inlineRule) {
	for _, name := range []string{"id", "name", "type", "etag"} {
		delete(content, name)
	}
	if rule.flat {
		content = object{"properties": content}
	}
	s.log.addSecrets(dropWriteOnly(content))
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
// inline children.
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
	if !shown {
		return r.etag()
	}
	return strings.TrimSuffix(r.etag(), `"`) + fmt.Sprintf(`-%08x"`, sum.Sum32())
}
