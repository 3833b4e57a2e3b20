package armsim

import (
	"fmt"
	"hash/fnv"
	"strings"
)

// inlineRule is a child collection that the parent's body shows and replaces.
type inlineRule struct {
	collection, property string // the property below "properties", dotted
	flat                 bool   // an item is name and properties in one object
	firstDefaults        object // defaults of the first item
	// keepAbsent tells by api-version whether a body that lacks the property
	// leaves the children alone; nil = it deletes them.
	keepAbsent func(apiVersion string) bool
}

// list is the object in which a body has the list, and the name of the list
// there; nil when it is not there and not to be made.
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

// show puts the children into a body.
func (rule inlineRule) show(body object, list []any) {
	// A nested list is shown where it stands; an object above it is not made up.
	if holder, last := rule.list(body, !strings.Contains(rule.property, ".") || len(list) > 0); holder != nil {
		holder[last] = list
	}
}

// listedItems are the children that a body lists; given is false when it leaves
// them alone.
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

// replaceInline makes a parent's inline list the whole truth about its
// children, as Azure's network resources do: what the PUT leaves out is deleted.
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
		content := cloneObject(item.(object)) // itemName took it for one
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

// finishInlineChildren lets inline children follow their parent's operation to its end.
func (s *Simulator) finishInlineChildren(r *resource, state string) {
	for _, rule := range s.ruleFor(r.typ).inline {
		for _, child := range s.children(r.id, rule.collection) {
			if child.op == nil && !terminal(child.state()) {
				child.setState(state)
			}
		}
	}
}

// inlineList is the children as their parent's body shows them.
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

// etagOf changes with every change of the resource and of the children that its
// body shows.
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
