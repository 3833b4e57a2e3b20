package activities

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
func (i *importing) lists() []ImportList {
	lists := i.containerLists()
	if !i.in.ID.IsContainer() {
		lists = i.childLists()
	}
	if i.in.Contents.Root {
		lists = append(lists, i.rootLists()...)
	}
	return lists
}

// containerLists returns the lists of a tenant's, subscription's or group's own.
func (i *importing) containerLists() []ImportList {
	id := i.in.ID
	resources := ImportList{Collection: "resources", APIVersion: resource.ResourceGroupAPIVersion}
	switch {
	case i.in.Contents.Listed:
	case strings.EqualFold(id.Type(), resource.TypeManagementGroup):
		return []ImportList{{Collection: descendants, Type: resource.TypeManagementGroup, APIVersion: resource.ManagementGroupAPIVersion}}
	case strings.EqualFold(id.Type(), resource.TypeSubscription):
		return []ImportList{{Collection: "resourcegroups", Type: resource.TypeResourceGroup, APIVersion: resource.ResourceGroupAPIVersion}, resources}
	case strings.EqualFold(id.Type(), resource.TypeResourceGroup):
		return []ImportList{resources}
	}
	return nil
}

// childLists returns the lists of the published children of a resource, of those that
// extensions name, and of its diagnostic settings.
func (i *importing) childLists() []ImportList {
	var lists []ImportList
	known := map[string]bool{}
	for _, child := range types.Nested(i.in.ID.Type()) {
		segment := child.Type[strings.LastIndex(child.Type, "/")+1:]
		known[strings.ToLower(segment)] = true
		kind := i.Registry.Facts(child.Type).Child.Kind
		switch {
		case !child.Writable && !types.HasWritable(child.Type):
		case child.PathOnly:
			i.leaveOut(child.Type, "its names cannot be listed, so what is below is not known; name the IDs of those to import", false)
		case kind == extensions.ChildView:
			i.leaveOut(child.Type, "not looked for: views of resources that are elsewhere", false)
		case kind == extensions.ChildPart:
			i.leaveOut(child.Type, "not looked for: parts that the parent makes by itself", false)
		default:
			lists = append(lists, ImportList{Collection: segment, Type: child.Type, APIVersion: contents.ChildVersion(child.Type, i.version)})
		}
	}
	for _, segment := range i.Registry.Children(i.in.ID.Type()) {
		if !known[strings.ToLower(segment)] {
			lists = append(lists, ImportList{Collection: segment, Type: i.in.ID.Type() + "/" + segment, APIVersion: i.version})
		}
	}
	for _, list := range i.Registry.ExtensionLists(extensions.ListAtResources) {
		if _, none := i.withoutDiagnostics.Load(strings.ToLower(i.in.ID.Type())); !none && !i.isExtension() {
			lists = append(lists, extensionList(list))
		}
	}
	return lists
}

// rootLists returns the lists of extension resources at the root of the import.
func (i *importing) rootLists() []ImportList {
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
	var lists []ImportList
	for _, list := range i.Registry.ExtensionLists(at...) {
		lists = append(lists, extensionList(list))
	}
	return lists
}

// extensionList returns the list of an extension type at a resource or scope.
func extensionList(entry extensions.Entry) ImportList {
	list := entry.Facts.List
	return ImportList{
		Collection: "providers/" + entry.Type, Type: entry.Type, APIVersion: cmp.Or(list.APIVersion, types.Newest(entry.Type)), Filter: list.Filter,
	}
}

// isExtension reports whether the resource is attached to another one, or is of a type that
// has no diagnostic settings.
func (i *importing) isExtension() bool {
	id := i.in.ID
	owner := id.Owner()
	return !owner.IsZero() && !owner.IsContainer() && !id.IsChild() || i.Registry.Facts(id.Type()).WithoutDiagnostics != ""
}
