package armsim

import (
	"fmt"
	"net/http"
	"strings"
)

// checkUse refuses to delete a resource that another one still refers to, or to
// something below it.
func (s *Simulator) checkUse(r *resource) *response {
	for _, used := range append(s.below(r.id), r) {
		if user, rule := s.findUser(used); rule != nil {
			return rule.refuse(used.id, user)
		}
	}
	return nil
}

// findUser finds who uses a resource.
func (s *Simulator) findUser(used *resource) (string, *useRule) {
	rule := s.useRuleFor(used.typ)
	if rule == nil {
		return "", nil
	}
	found := ""
	for _, r := range s.resources {
		if user, ok := referenceFrom(rule, r, used.id); ok && (found == "" || user < found) {
			found = user // the first in order, so that the answer does not vary
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

// referenceFrom tells where a resource names another: its ID with the named list
// items on the way ("/ipConfigurations/first"), as ARM writes it.
func referenceFrom(rule *useRule, r *resource, used string) (string, bool) {
	for _, by := range rule.by {
		if !strings.EqualFold(by[0], r.typ) {
			continue
		}
		if user, ok := findReference(r.body, strings.Split(by[1], "."), used, r.id); ok {
			return user, true
		}
	}
	return "", false
}

func findReference(value any, path []string, used, user string) (string, bool) {
	if len(path) == 0 {
		id, _ := value.(string)
		return user, id != "" && within(id, used)
	}
	o, ok := value.(object)
	if !ok {
		return "", false
	}
	name, each := strings.CutSuffix(path[0], "[*]")
	if !each {
		return findReference(o[name], path[1:], used, user)
	}
	items, _ := o[name].([]any)
	for _, item := range items {
		at := user
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

// within tells whether an ID is another one or lies below it.
func within(id, top string) bool {
	k, t := key(id), key(top)
	return k == t || strings.HasPrefix(k, t+"/")
}

// checkReferences is the Network provider's look at what a body names: it has to
// be there (400 InvalidResourceReference) and at rest (429 RetryableError with the
// detail ReferencedResourceNotProvisioned and without Retry-After, recorded).
func (s *Simulator) checkReferences(t target, body object) *response {
	if !strings.EqualFold(t.namespace, "Microsoft.Network") || s.recordings[key(t.id)] != nil {
		return nil // a recording says that Azure took it
	}
	for _, rule := range s.uses {
		for _, by := range rule.by {
			if !strings.EqualFold(by[0], t.resourceType()) {
				continue
			}
			for _, id := range referencesAt(body, strings.Split(by[1], ".")) {
				if resp := s.checkReference(t, id); resp != nil {
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
