package activities

import (
	"strings"

	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/types"
)

const (
	// descendants is the collection of the management groups and subscriptions below a
	// management group, at all levels.
	// Source: https://learn.microsoft.com/rest/api/managementgroups/management-groups/get-descendants
	descendants = "descendants"
	// diagnosticSettings are listed for each resource; the only stable version has another
	// form, with one setting of a fixed name.
	diagnosticSettings           = "Microsoft.Insights/diagnosticSettings"
	diagnosticSettingsAPIVersion = "2021-05-01-preview"
)

// scopeList is a list of extension resources that ARM has for a scope: it contains those
// at the scope and below it.
type scopeList struct {
	resourceType, filter string
	// containers is set where only containers have the list.
	containers bool
}

// scopeLists are the extension resources that an import looks for at its root. Built-in
// definitions are the same everywhere and left out by the filter.
// Source: https://learn.microsoft.com/rest/api/authorization and /rest/api/policy
var scopeLists = []scopeList{
	{resourceType: "Microsoft.Authorization/locks"},
	{resourceType: "Microsoft.Authorization/roleAssignments"},
	{resourceType: "Microsoft.Authorization/policyAssignments", containers: true},
	{resourceType: "Microsoft.Authorization/policyExemptions", containers: true},
	{resourceType: "Microsoft.Authorization/policyDefinitions", filter: "policyType eq 'Custom'", containers: true},
	{resourceType: "Microsoft.Authorization/policySetDefinitions", filter: "policyType eq 'Custom'", containers: true},
	{resourceType: "Microsoft.Authorization/roleDefinitions", filter: "type eq 'CustomRole'", containers: true},
}

func isDiagnostics(resourceType string) bool {
	return strings.EqualFold(resourceType, diagnosticSettings)
}

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
			lists = append(lists, ImportList{Collection: segment, Type: child.Type, APIVersion: childVersion(child.Type, i.version)})
		}
	}
	for _, segment := range i.Registry.Children(i.in.ID.Type()) {
		if !known[strings.ToLower(segment)] {
			lists = append(lists, ImportList{Collection: segment, Type: i.in.ID.Type() + "/" + segment, APIVersion: i.version})
		}
	}
	if _, none := i.withoutDiagnostics.Load(strings.ToLower(i.in.ID.Type())); !none && !isExtension(i.in.ID) {
		lists = append(lists, ImportList{Collection: "providers/" + diagnosticSettings, Type: diagnosticSettings, APIVersion: diagnosticSettingsAPIVersion})
	}
	return lists
}

// rootLists returns the lists of extension resources at the root of the import.
func (i *importing) rootLists() []ImportList {
	var lists []ImportList
	isGroup := strings.EqualFold(i.in.ID.Type(), resource.TypeResourceGroup)
	for _, list := range scopeLists {
		definition := list.filter != ""
		if list.containers && !i.in.ID.IsContainer() || definition && isGroup {
			continue
		}
		lists = append(lists, ImportList{
			Collection: "providers/" + list.resourceType, Type: list.resourceType, APIVersion: types.Newest(list.resourceType), Filter: list.filter,
		})
	}
	if strings.EqualFold(i.in.ID.Type(), resource.TypeSubscription) {
		lists = append(lists, ImportList{Collection: "providers/" + diagnosticSettings, Type: diagnosticSettings, APIVersion: diagnosticSettingsAPIVersion})
	}
	return lists
}

// isExtension reports whether a resource is attached to another one, or to a scope, by its
// provider: locks, role assignments and settings have none of their own.
func isExtension(id resource.ID) bool {
	owner := id.Owner()
	return !owner.IsZero() && !owner.IsContainer() && !id.IsChild() || strings.EqualFold(id.Provider(), "Microsoft.Authorization")
}

// childVersion returns the api-version for a type of child: the version of the parent if
// the child is published in it, or is not published at all, else the newest one of the
// child.
func childVersion(childType, parentVersion string) string {
	versions := types.Versions(childType)
	for _, version := range versions {
		if strings.EqualFold(version, parentVersion) {
			return parentVersion
		}
	}
	if len(versions) == 0 {
		return parentVersion
	}
	return types.Newest(childType)
}
