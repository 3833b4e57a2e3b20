package activities

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/types"
)

// Bounds of one look at the contents of a resource.
const (
	// maxContentsLists is the number of collections that are listed. The type with the
	// most has 35 of its own.
	maxContentsLists = 100
	// maxContentsDepth is the number of levels of children that are descended into.
	maxContentsDepth = 4
)

// contents looks for what a DELETE of a resource would also delete.
type contents struct {
	activities *Activities
	in         CheckContentsInput
	// lists is the number of requests so far.
	lists int
	// unmanaged are the names of the contents that Armature does not manage, at most
	// maxContentsCounted.
	unmanaged []string
	// unlisted are the collections that ARM does not list. listed are the types of those
	// that it lists, in lower case.
	unlisted []string
	listed   map[string]bool
	// data are the resources with data that ARM does not list, and whose deletion the
	// request does not include.
	data []string
	// managedGroups are the resource groups that the service deletes with the resource.
	managedGroups []string
}

// collection is one kind of children below a resource.
type collection struct {
	// segment is the last part of the type, for example subnets.
	segment string
	// child is what is published about the type; its Type is empty for a collection
	// that an extension names.
	child types.Child
	// apiVersion is the version of the list.
	apiVersion string
}

// look finds the contents of the resource to delete. With Cascade only data counts.
func (c *contents) look(ctx context.Context) error {
	if !c.in.WithData && c.activities.Registry.HoldsUnlistedData(c.in.ID.Type()) {
		c.data = append(c.data, displayName(c.in.ID))
	}
	if c.in.Cascade && (c.in.WithData || len(c.data) > 0) {
		return nil
	}
	if strings.EqualFold(c.in.ID.Type(), resource.TypeResourceGroup) {
		return c.collection(ctx, c.in.ID, collection{
			segment: "resources", child: types.Child{Open: true}, apiVersion: resource.ResourceGroupAPIVersion,
		}, 0)
	}
	if err := c.below(ctx, c.in.ID, 0); err != nil || c.found() {
		return err
	}
	if err := c.inGroup(ctx); err != nil || c.found() {
		return err
	}
	return c.outside(ctx)
}

// found reports whether the look is over: something that Armature does not manage was
// found, or, with Cascade, data.
func (c *contents) found() bool {
	return len(c.unmanaged) > 0 || c.in.Cascade && len(c.data) > 0
}

// collections returns the children that a DELETE of a type would also delete: those
// that are published and can be created, and those that extensions name. Views and parts
// (extensions.Child) are left out.
func (c *contents) collections(resourceType string) []collection {
	var all []collection
	known := map[string]bool{}
	for _, child := range types.Children(resourceType) {
		segment := child.Type[strings.LastIndex(child.Type, "/")+1:]
		known[strings.ToLower(segment)] = true
		kind := c.activities.Registry.Facts(child.Type).Child.Kind
		if child.Writable && kind != extensions.ChildView && kind != extensions.ChildPart {
			all = append(all, collection{segment: segment, child: child, apiVersion: childVersion(child.Type, c.in.APIVersion)})
		}
	}
	for _, segment := range c.activities.Registry.Children(resourceType) {
		if !known[strings.ToLower(segment)] {
			all = append(all, collection{segment: segment, child: types.Child{Open: true}, apiVersion: c.in.APIVersion})
		}
	}
	return all
}

// below looks at the children of a resource, collection by collection, and ends with the
// first one that has something unmanaged.
func (c *contents) below(ctx context.Context, parent resource.ID, depth int) error {
	for _, collection := range c.collections(parent.Type()) {
		if err := c.collection(ctx, parent, collection, depth); err != nil || c.found() {
			return err
		}
	}
	return nil
}

// collection looks at one kind of children. Children with fixed names exist by
// themselves: they are not listed, but what is in them counts.
func (c *contents) collection(ctx context.Context, parent resource.ID, of collection, depth int) error {
	if len(of.child.Names) > 0 && !of.child.Open {
		for _, name := range of.child.Names {
			if err := c.descend(ctx, parent, of.segment, name, depth); err != nil || c.found() {
				return err
			}
		}
		return nil
	}
	holdsData := c.activities.Registry.MayHoldData(of.child.Type)
	if c.in.Cascade && of.child.Type != "" && !holdsData {
		return nil // it may be deleted, whatever is in it
	}
	if c.lists >= maxContentsLists {
		c.unlisted = append(c.unlisted, of.segment)
		return nil
	}
	c.lists++
	items, err := c.activities.Client.List(ctx, parent, of.segment, of.apiVersion, maxContentsRead)
	switch {
	case arm.IsAbsent(err):
		return nil
	case isNotListable(err):
		c.unlisted = append(c.unlisted, of.segment+" of "+parent.Short())
		if holdsData && !c.in.WithData {
			c.data = append(c.data, of.segment+" of "+parent.Short())
		}
		return nil
	case err != nil:
		return err
	}
	c.listed[strings.ToLower(of.child.Type)] = true
	return c.items(ctx, parent, of, items, depth)
}

// items looks at the listed children of one kind.
func (c *contents) items(ctx context.Context, parent resource.ID, of collection, items []json.RawMessage, depth int) error {
	stated := statedItems(c.in.Stated, parent, c.in.ID, of.segment)
	for _, item := range items {
		name := itemName(item)
		if existsByItself(c.activities.Registry, of.child, parent, item) {
			if err := c.descend(ctx, parent, of.segment, name, depth); err != nil || c.found() {
				return err
			}
			continue
		}
		if slices.ContainsFunc(stated, func(s string) bool { return strings.EqualFold(s, name) }) {
			continue
		}
		if err := c.noteItem(ctx, item); err != nil || len(c.unmanaged) >= maxContentsCounted {
			return err
		}
	}
	return nil
}

// noteItem records a resource that a DELETE would remove too: as unmanaged, or in a cascade
// as data that needs a consent. What is being deleted already does not count.
func (c *contents) noteItem(ctx context.Context, item json.RawMessage) error {
	id, shown, deleting, err := c.activities.checkItem(ctx, c.in.ID, item)
	switch {
	case err != nil || deleting:
	case !c.in.Cascade:
		c.unmanaged = append(c.unmanaged, shown)
	case c.activities.Registry.MayHoldData(id.Type()):
		c.data = append(c.data, shown)
	}
	return err
}

// descend looks below a child that exists by itself.
func (c *contents) descend(ctx context.Context, parent resource.ID, segment, name string, depth int) error {
	if depth >= maxContentsDepth {
		return nil
	}
	id, err := resource.ParseID(parent.String() + "/" + segment + "/" + name)
	if err != nil {
		return nil //nolint:nilerr // a name that no ID can have has no children
	}
	return c.below(ctx, id, depth+1)
}

// itemName returns the last segment of the name of a listed item.
func itemName(item json.RawMessage) string {
	var found struct {
		Name string `json:"name"`
	}
	if json.Unmarshal(item, &found) != nil {
		return ""
	}
	return found.Name[strings.LastIndex(found.Name, "/")+1:]
}

// isNotListable reports whether ARM refuses a list because there is no such list: the
// method is not allowed, the request is not understood, or a 404 that is no absence.
func isNotListable(err error) bool {
	failure, ok := errors.AsType[*arm.Error](err)
	if !ok {
		return false
	}
	switch failure.Status {
	case http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusBadRequest, http.StatusNotImplemented:
		return failure.Class != arm.ClassConflict
	}
	return failure.Code == arm.CodeInvalidAnswer
}

// statedItems returns the names of the children that the manifest of the deleted
// resource states in a list of its body: they were created with it and belong to it. The
// list has the name of the collection, or the name of the collection with "Profiles", as
// agentPoolProfiles of agentPools.
func statedItems(stated json.RawMessage, parent, deleted resource.ID, segment string) []string {
	var body any
	if parent != deleted || len(stated) == 0 || json.Unmarshal(stated, &body) != nil {
		return nil
	}
	var names []string
	var walk func(value any, isList bool)
	walk = func(value any, isList bool) {
		switch at := value.(type) {
		case map[string]any:
			for name, member := range at {
				walk(member, sameList(name, segment))
			}
		case []any:
			for _, item := range at {
				object, _ := item.(map[string]any)
				if name, ok := object["name"].(string); ok && isList {
					names = append(names, name)
				}
				walk(item, false)
			}
		}
	}
	walk(body, false)
	return names
}

// sameList reports whether a list in a body has the children of a collection.
func sameList(property, segment string) bool {
	return strings.EqualFold(property, segment) ||
		strings.EqualFold(strings.TrimSuffix(strings.ToLower(property), "profiles")+"s", segment)
}

// verdict blocks a DELETE that would also delete what was found.
func (c *contents) verdict() resource.Verdict {
	var parts, flags []string
	reason, advice := resource.ReasonContainsUnmanaged, "delete them first, or run"
	switch {
	case len(c.unmanaged) > 0:
		parts, flags = []string{"resources that Armature does not manage: " + nameContents(c.unmanaged)}, []string{"--cascade"}
	case len(c.unlisted) > 0 && !c.in.Cascade:
		parts, flags = []string{"what ARM does not list: " + nameContents(c.unlisted)}, []string{"--cascade"}
		advice = "look at it in Azure, then run"
	case len(c.data) > 0:
		reason, advice = resource.ReasonContainsData, "look at it in Azure, then run"
	default:
		return resource.Proceed("nothing else would be deleted with it")
	}
	if len(c.data) > 0 {
		parts, flags = append(parts, "data that ARM does not list, in "+nameContents(c.data)), append(flags, "--with-data")
	}
	return resource.Block(reason, fmt.Sprintf("a DELETE of %s would also delete %s; %s `armature delete %s %s`",
		c.in.ID.Short(), strings.Join(parts, "; and "), advice, c.in.ID, strings.Join(flags, " ")))
}
