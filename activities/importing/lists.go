package importing

import (
	"cmp"
	"strings"

	"github.com/armature-io/armature/activities/contents"
	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/types"
)

// descendants is the collection of the management groups and subscriptions below a
// management group, at all levels.
// Source: https://learn.microsoft.com/rest/api/managementgroups/management-groups/get-descendants
const descendants = "descendants"

// lists returns the lists that show what is in the resource or scope, in an order that
// is always the same, and records the collections that have none.
func (i *listing) lists() []List {
	lists := i.containerLists()
	if !i.in.ID.IsContainer() {
		lists = i.childLists()
	}
	if i.in.Request.Root {
		lists = append(lists, i.rootLists()...)
	}
	return lists
}

// containerLists returns the lists of a tenant's, subscription's or group's own.
func (i *listing) containerLists() []List {
	id := i.in.ID
	resources := List{Collection: "resources", APIVersion: resource.ResourceGroupAPIVersion}
	switch {
	case i.in.Request.Listed:
	case strings.EqualFold(id.Type(), resource.TypeManagementGroup):
		return []List{{Collection: descendants, Type: resource.TypeManagementGroup, APIVersion: resource.ManagementGroupAPIVersion}}
	case strings.EqualFold(id.Type(), resource.TypeSubscription):
		return []List{{Collection: "resourcegroups", Type: resource.TypeResourceGroup, APIVersion: resource.ResourceGroupAPIVersion}, resources}
	case strings.EqualFold(id.Type(), resource.TypeResourceGroup):
		return []List{resources}
	}
	return nil
}

// childLists returns the lists of the published children of a resource, of those that
// extensions name, and of its diagnostic settings.
func (i *listing) childLists() []List {
	var lists []List
	known := map[string]bool{}
	for _, child := range types.Nested(i.in.ID.Type()) {
		segment := child.Type[strings.LastIndex(child.Type, "/")+1:]
		known[strings.ToLower(segment)] = true
		kind := i.registry.Facts(child.Type).Child.Kind
		switch {
		case !child.Writable && !types.HasWritable(child.Type):
		case child.PathOnly:
			i.leaveOut(child.Type, "its names cannot be listed, so what is below is not known; name the IDs of those to import", false)
		case kind == extensions.ChildView:
			i.leaveOutDerived(child.Type, "not looked for: views of resources that are elsewhere")
		case kind == extensions.ChildPart:
			i.leaveOutDerived(child.Type, "not looked for: parts that the parent makes by itself")
		default:
			lists = append(lists, List{Collection: segment, Type: child.Type, APIVersion: contents.ChildVersion(child.Type, i.in.APIVersion)})
		}
	}
	for _, segment := range i.registry.Children(i.in.ID.Type()) {
		if !known[strings.ToLower(segment)] {
			lists = append(lists, List{Collection: segment, Type: i.in.ID.Type() + "/" + segment, APIVersion: i.in.APIVersion})
		}
	}
	for _, list := range i.registry.ExtensionLists(extensions.ListAtResources) {
		if _, none := i.withoutDiagnostics.Load(strings.ToLower(i.in.ID.Type())); !none && !i.isExtension() {
			lists = append(lists, extensionList(list))
		}
	}
	return lists
}

// rootLists returns the lists of extension resources at the root of the import.
func (i *listing) rootLists() []List {
	at := []extensions.ListScope{extensions.ListAtAnyScope}
	if i.in.ID.IsContainer() {
		at = append(at, extensions.ListAtContainers)
		if !strings.EqualFold(i.in.ID.Type(), resource.TypeResourceGroup) {
			at = append(at, extensions.ListAboveGroups)
		}
	}
	if strings.EqualFold(i.in.ID.Type(), resource.TypeSubscription) {
		at = append(at, extensions.ListAtResources)
	}
	var lists []List
	for _, list := range i.registry.ExtensionLists(at...) {
		lists = append(lists, extensionList(list))
	}
	return lists
}

// extensionList returns the list of an extension type at a resource or scope.
func extensionList(entry extensions.Entry) List {
	list := entry.Facts.List
	return List{
		Collection: "providers/" + entry.Type, Type: entry.Type, APIVersion: cmp.Or(list.APIVersion, types.Newest(entry.Type)), Filter: list.Filter,
	}
}

// isExtension reports whether the resource is attached to another one, or is of a type that
// has no diagnostic settings.
func (i *listing) isExtension() bool {
	id := i.in.ID
	owner := id.Owner()
	return !owner.IsZero() && !owner.IsContainer() && !id.IsChild() || i.registry.Facts(id.Type()).WithoutDiagnostics != ""
}
