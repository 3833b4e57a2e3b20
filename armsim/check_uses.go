package armsim

import (
	"fmt"
	"net/http"
	"strings"
)

// checkUse refuses to delete a resource while another one refers to it or to something
// below it.
func (s *Simulator) checkUse(r *resource) *response {
	for _, used := range append(s.below(r.id), r) {
		if user, rule := s.findUser(used); rule != nil {
			return rule.refuse(used.id, user)
		}
	}
	return nil
}

// findUser returns a resource that uses another one, and the rule that matched; nil
// when nothing uses it.
func (s *Simulator) findUser(used *resource) (string, *useRule) {
	rule := s.useRuleFor(used.typ)
	if rule == nil {
		return "", nil
	}
	found := ""
	for _, r := range s.resources {
		if user, ok := referenceFrom(rule, r, used.id); ok && (found == "" || user < found) {
			found = user // the first by ID, so that the response is deterministic
		}
	}
	if found == "" {
		return "", nil
	}
	return found, rule
}

func (s *Simulator) useRuleFor(typ string) *useRule {
	for i := range s.uses {
		if strings.EqualFold(s.uses[i].usedType, typ) {
			return &s.uses[i]
		}
	}
	return nil
}

// referenceFrom returns the place in which a resource refers to another one: its ID
// with the named list items on the way ("/ipConfigurations/first"), as ARM's messages
// have it.
func referenceFrom(rule *useRule, r *resource, used string) (string, bool) {
	for _, by := range rule.references {
		if !strings.EqualFold(by[0], r.typ) {
			continue
		}
		for _, ref := range referencesAt(r.body, strings.Split(by[1], "."), r.id) {
			if within(ref.id, used) {
				return ref.from, true
			}
		}
	}
	return "", false
}

// reference is an ID in a body. from is the ID of the resource, with the named
// list items on the way.
type reference struct{ id, from string }

// referencesAt returns the references at a path; "name[*]" matches every item.
func referencesAt(value any, path []string, from string) []reference {
	if len(path) == 0 {
		if id, _ := value.(string); id != "" {
			return []reference{{id, from}}
		}
		return nil
	}
	o, _ := value.(object)
	name, each := strings.CutSuffix(path[0], "[*]")
	if !each {
		return referencesAt(o[name], path[1:], from)
	}
	var out []reference
	items, _ := o[name].([]any)
	for _, item := range items {
		itemFrom := from
		if itemName, ok := itemName(item); ok {
			itemFrom += "/" + name + "/" + itemName
		}
		out = append(out, referencesAt(item, path[1:], itemFrom)...)
	}
	return out
}

func itemName(item any) (string, bool) {
	o, _ := item.(object)
	name, ok := o["name"].(string)
	return name, ok && name != ""
}

// within reports whether an ID equals another one or is below it.
func within(id, top string) bool {
	k, t := key(id), key(top)
	return k == t || strings.HasPrefix(k, t+"/")
}

// checkReferences is the Network provider's check of the resources that a body refers
// to. Each must exist (400 InvalidResourceReference) and be in Succeeded (429
// RetryableError with the detail ReferencedResourceNotProvisioned and without
// Retry-After, recorded).
func (s *Simulator) checkReferences(t target, body object) *response {
	if !strings.EqualFold(t.namespace, "Microsoft.Network") || s.recordings[key(t.id)] != nil {
		return nil // the recording shows that Azure accepted it
	}
	for _, rule := range s.uses {
		for _, by := range rule.references {
			if !strings.EqualFold(by[0], t.resourceType()) {
				continue
			}
			for _, ref := range referencesAt(body, strings.Split(by[1], "."), t.id) {
				if resp := s.checkReference(t, ref.id); resp != nil {
					return resp
				}
			}
		}
	}
	return nil
}

func (s *Simulator) checkReference(t target, id string) *response {
	r := s.find(id)
	if r == nil || r.hidden {
		return armError(http.StatusBadRequest, "InvalidResourceReference",
			"Resource %s referenced by resource %s was not found. Please make sure that the referenced resource exists, and that both resources are in the same region.", id, t.id)
	}
	if state := r.state(); state == "" || strings.EqualFold(state, "Succeeded") {
		return nil
	}
	last := r.typ[strings.LastIndexByte(r.typ, '/')+1:]
	return armErrorDetail(http.StatusTooManyRequests, "RetryableError", "A retryable error occurred.", "ReferencedResourceNotProvisioned",
		fmt.Sprintf("Cannot proceed with operation because resource %s used by resource %s is not in Succeeded state. Resource is in %s state and the last operation that updated/is updating the resource is Put%sOperation.",
			r.id, t.id, r.state(), strings.TrimSuffix(strings.ToUpper(last[:1])+last[1:], "s")))
}
