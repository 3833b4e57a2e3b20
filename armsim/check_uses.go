package armsim

import (
	"fmt"
	"net/http"
	"strings"
)

// inUse refuses to delete a resource that another one still refers to, or to
// something below it.
func (s *Simulator) inUse(r *resource) *answer {
	for _, gone := range append(s.below(r.id), r) {
		if user, rule := s.userOf(gone); rule != nil {
			return rule.refuse(gone.id, user)
		}
	}
	return nil
}

// userOf finds who uses a resource.
func (s *Simulator) userOf(used *resource) (string, *useRule) {
	rule := s.useRuleFor(used.typ)
	if rule == nil {
		return "", nil
	}
	found := ""
	for _, r := range s.resources {
		if place, ok := usePlace(rule, r, used.id); ok && (found == "" || place < found) {
			found = place // the first in order, so that the answer does not vary
		}
	}
	if found == "" {
		return "", nil
	}
	return found, rule
}

func (s *Simulator) useRuleFor(typ string) *useRule {
	for i := range s.uses {
		if strings.EqualFold(s.uses[i].target, typ) {
			return &s.uses[i]
		}
	}
	return nil
}

// usePlace tells where a resource names another: its ID with the named list
// items on the way ("/ipConfigurations/first"), as ARM writes it.
func usePlace(rule *useRule, r *resource, used string) (string, bool) {
	for _, by := range rule.by {
		if !strings.EqualFold(by[0], r.typ) {
			continue
		}
		if place, ok := findReference(r.body, strings.Split(by[1], "."), used, r.id); ok {
			return place, true
		}
	}
	return "", false
}

func findReference(value any, path []string, used, place string) (string, bool) {
	if len(path) == 0 {
		id, _ := value.(string)
		return place, id != "" && under(id, used)
	}
	o, ok := value.(object)
	if !ok {
		return "", false
	}
	name, each := strings.CutSuffix(path[0], "[*]")
	if !each {
		return findReference(o[name], path[1:], used, place)
	}
	items, _ := o[name].([]any)
	for _, item := range items {
		at := place
		if itemName, ok := itemName(item); ok {
			at += "/" + name + "/" + itemName
		}
		if found, ok := findReference(item, path[1:], used, at); ok {
			return found, true
		}
	}
	return "", false
}

func itemName(item any) (string, bool) {
	o, _ := item.(object)
	name, ok := o["name"].(string)
	return name, ok && name != ""
}

// under tells whether an ID is another one or lies below it.
func under(id, top string) bool {
	k, t := key(id), key(top)
	return k == t || strings.HasPrefix(k, t+"/")
}

// checkReferences is the Network provider's look at what a body names: it has to
// be there (400 InvalidResourceReference) and at rest (429 RetryableError with the
// detail ReferencedResourceNotProvisioned and without Retry-After, recorded).
func (s *Simulator) checkReferences(t target, body object) *answer {
	if !strings.EqualFold(t.namespace, "Microsoft.Network") || s.recordings[key(t.id)] != nil {
		return nil // a recording says that Azure took it
	}
	for _, rule := range s.uses {
		for _, by := range rule.by {
			if !strings.EqualFold(by[0], t.resourceType()) {
				continue
			}
			for _, id := range referencesAt(body, strings.Split(by[1], ".")) {
				if a := s.checkReference(t, id); a != nil {
					return a
				}
			}
		}
	}
	return nil
}

func (s *Simulator) checkReference(t target, id string) *answer {
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

// referencesAt reads the strings at a path; "name[*]" stands for every item.
func referencesAt(value any, path []string) []string {
	if len(path) == 0 {
		if id, ok := value.(string); ok && id != "" {
			return []string{id}
		}
		return nil
	}
	o, _ := value.(object)
	name, each := strings.CutSuffix(path[0], "[*]")
	if !each {
		return referencesAt(o[name], path[1:])
	}
	var out []string
	items, _ := o[name].([]any)
	for _, item := range items {
		out = append(out, referencesAt(item, path[1:])...)
	}
	return out
}
