package resource

import "strings"

// FindNamed returns the items that a user's name means: those with that chain of names
// (adx/telemetry), else those with that name in their manifest, else those with that last
// name. Each may follow the name of the resource group (rg1/adx/telemetry), so that adx/x
// is a child of adx, and also x in the group adx. Letter case is ignored. of returns the ID
// of an item and the name in its manifest.
func FindNamed[T any](items []T, name string, of func(T) (id ID, manifestName string)) []T {
	if name == "" {
		return nil
	}
	for _, candidate := range []func(ID, string) string{
		func(id ID, _ string) string { return shortOf(id) },
		func(_ ID, manifestName string) string { return manifestName },
		func(id ID, _ string) string { return id.Name() },
	} {
		var found []T
		for _, item := range items {
			id, manifestName := of(item)
			if isNamed(id.ResourceGroup(), candidate(id, manifestName), name) {
				found = append(found, item)
			}
		}
		if len(found) > 0 {
			return found
		}
	}
	return nil
}

// shortOf returns the chain of names of an ID, "" for the zero ID.
func shortOf(id ID) string {
	if id.IsZero() {
		return ""
	}
	return id.Short()
}

// isNamed reports whether a name is candidate, or candidate behind its group.
func isNamed(group, candidate, name string) bool {
	if strings.EqualFold(candidate, name) {
		return true
	}
	return candidate != "" && group != "" && strings.EqualFold(group+"/"+candidate, name)
}

// HasGroup reports whether a name begins with the resource group of an ID and a slash, and
// means the resource by what follows.
func HasGroup(id ID, manifestName, name string) bool {
	group, rest, _ := strings.Cut(name, "/")
	if id.ResourceGroup() == "" || !strings.EqualFold(group, id.ResourceGroup()) {
		return false
	}
	for _, candidate := range []string{shortOf(id), manifestName, id.Name()} {
		if rest != "" && strings.EqualFold(candidate, rest) {
			return true
		}
	}
	return false
}

// GroupName returns the chain of names behind the resource group, which is a name of the
// resource in every command. What is in no group, and a resource group, has its own name.
func (id ID) GroupName() string {
	group := id.ResourceGroup()
	if id.IsZero() || group == "" || id.IsContainer() {
		return shortOf(id)
	}
	return group + "/" + id.Short()
}
