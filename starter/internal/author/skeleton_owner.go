package author

import (
	"strings"

	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/types"
	"go.yaml.in/yaml/v3"
)

// Placeholders of the scopes above a resource.
const (
	subscription    = "/subscriptions/00000000-0000-0000-0000-000000000000"
	resourceGroup   = subscription + "/resourceGroups/my-group"
	managementGroup = "/providers/" + resource.TypeManagementGroup + "/my-management-group"
	extended        = resourceGroup + "/providers/Microsoft.Compute/virtualMachines/my-machine"
)

// tenant is the owner that means the tenant.
const tenant = "/"

// scopeOf returns the owner that stands for a set of scopes, the most common first, and
// what it is. The owner of a type without published scopes is a resource group.
func scopeOf(scopes types.Scope) (owner, what string) {
	for _, s := range []struct {
		scope       types.Scope
		owner, what string
	}{
		{types.ResourceGroupScope, resourceGroup, "The ID of a resource group, or the name of its manifest."},
		{types.SubscriptionScope, subscription, "The ID of a subscription."},
		{types.ManagementGroupScope, managementGroup, "The ID of a management group, or the name of its manifest."},
		{types.TenantScope, tenant, "The tenant."},
		{types.ExtensionScope, extended, "The ID of any resource, or the name of its manifest."},
	} {
		if scopes&s.scope != 0 {
			return s.owner, s.what
		}
	}
	return resourceGroup, "The ID of a resource group, or the name of its manifest."
}

// ownerOf returns the owner of a resource of the shape, and what it is: the scope, or
// for a nested type its parent in it.
func ownerOf(shape *types.Shape) (owner, what string) {
	scope, what := scopeOf(shape.Writable)
	segments := strings.Split(shape.Type, "/")
	if len(segments) <= 2 {
		return scope, what
	}
	owner = strings.TrimSuffix(scope, tenant) + "/providers/" + segments[0]
	for i := 1; i < len(segments)-1; i++ {
		parent := strings.Join(segments[:i+1], "/")
		name := "my-" + kebab(singular(segments[i]))
		if above := types.Lookup(parent, shape.Version); above != nil {
			name = nameOf(above).Value
		}
		owner += "/" + segments[i] + "/" + name
	}
	return owner, "The ID of the " + strings.Join(segments[:len(segments)-1], "/") + ", or the name of its manifest."
}

// nameOf returns a placeholder for the name of a resource: the first published name, or
// one within the published bounds.
func nameOf(shape *types.Shape) *yaml.Node {
	names, open := shape.PublishedNames()
	switch {
	case len(names) == 1 && !open:
		return comment(text(names[0]), "the only name")
	case len(names) > 0:
		return comment(text(names[0]), "or "+strings.Join(names[1:], " | "))
	}
	p, _ := shape.Body.Property("name")
	words := ""
	if p.Type != nil {
		words = Detail(p)
	}
	last := kebab(singular(shape.Type[strings.LastIndexByte(shape.Type, '/')+1:]))
	candidates := []string{"my-" + last, "my" + strings.ReplaceAll(last, "-", ""), "1"}
	if p.Type != nil {
		candidates = append(candidates, textFor(p.Type.Bounds))
	}
	for _, name := range candidates {
		if len(shape.CheckName(name)) == 0 && resource.CheckSegment(name) == nil {
			return comment(text(name), words)
		}
	}
	return comment(text(candidates[0]), words)
}

// kebab returns virtualNetwork as virtual-network.
func kebab(word string) string {
	return strings.ToLower(strings.ReplaceAll(upperSnake(word), "_", "-"))
}

// singular returns the singular of a type's last segment, where that is its plural.
func singular(word string) string {
	switch {
	case strings.HasSuffix(word, "ies"):
		return strings.TrimSuffix(word, "ies") + "y"
	case strings.HasSuffix(word, "ss"), strings.HasSuffix(word, "us"), strings.HasSuffix(word, "is"):
		return word
	}
	return strings.TrimSuffix(word, "s")
}
