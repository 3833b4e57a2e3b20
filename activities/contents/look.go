package contents

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
	// maxLists is the number of collections that are listed. The type with the
	// most has 35 of its own.
	maxLists = 100
	// maxDepth is the number of levels of children that are descended into.
	maxDepth = 4
)

// look is one look for the contents of a resource.
type look struct {
	Looker
	in Request
	// all is set to find everything. Otherwise the look ends with the first contents that
	// block the DELETE.
	all bool
	// lists is the number of requests so far.
	lists int
	// listed are the types of the collections that ARM lists, in lower case.
	listed map[string]bool
	Found
}

// Found are the contents that a DELETE would also delete.
type Found struct {
	// Unmanaged are the contents that Armature does not manage, at most maxCounted.
	Unmanaged []Item `json:"unmanaged,omitempty"`
	// Unlisted are the collections that ARM does not list.
	Unlisted []Item `json:"unlisted,omitempty"`
	// Data are the resources with data that ARM does not list, and whose deletion the request
	// does not include.
	Data []Item `json:"data,omitempty"`
	// Rules are the unmanaged children that need no consent, at most maxCounted.
	Rules []Item `json:"rules,omitempty"`
	// ManagedGroups are the resource groups that the service deletes with the resource.
	ManagedGroups []Item `json:"managedGroups,omitempty"`
}

// Item is a resource that was found, or a collection of resources that ARM does not list.
type Item struct {
	// ID is the resource, or the owner of the collection; zero if ARM gives no valid one.
	ID   resource.ID `json:"id,omitzero"`
	Name string      `json:"name"`
}

// Names returns the names of items.
func Names(items []Item) []string {
	names := make([]string, len(items))
	for i, item := range items {
		names[i] = item.Name
	}
	return names
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

// find finds the contents of the resource to delete. With Cascade only data counts.
func (c *look) find(ctx context.Context) error {
	if !c.in.WithData && c.Registry.HoldsUnlistedData(c.in.ID.Type()) {
		c.Data = append(c.Data, Item{c.in.ID, DisplayName(c.in.ID)})
	}
	if c.in.Cascade && (c.in.WithData || len(c.Data) > 0) {
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
func (c *look) found() bool {
	return !c.all && (len(c.Unmanaged) > 0 || c.in.Cascade && len(c.Data) > 0)
}

// collections returns the children that a DELETE of a type would also delete: those
// that are published and can be created, and those that extensions name. Views and parts
// (extensions.Child) are left out.
func (c *look) collections(resourceType string) []collection {
	var all []collection
	known := map[string]bool{}
	for _, child := range types.Children(resourceType) {
		segment := child.Type[strings.LastIndex(child.Type, "/")+1:]
		known[strings.ToLower(segment)] = true
		kind := c.Registry.Facts(child.Type).Child.Kind
		if child.Writable && kind != extensions.ChildView && kind != extensions.ChildPart {
			all = append(all, collection{segment: segment, child: child, apiVersion: ChildVersion(child.Type, c.in.APIVersion)})
		}
	}
	for _, segment := range c.Registry.Children(resourceType) {
		if !known[strings.ToLower(segment)] {
			all = append(all, collection{segment: segment, child: types.Child{Open: true}, apiVersion: c.in.APIVersion})
		}
	}
	return all
}

// below looks at the children of a resource, collection by collection, and ends with the
// first one that has something unmanaged.
func (c *look) below(ctx context.Context, parent resource.ID, depth int) error {
	for _, collection := range c.collections(parent.Type()) {
		if err := c.collection(ctx, parent, collection, depth); err != nil || c.found() {
			return err
		}
	}
	return nil
}

// collection looks at one kind of children. Children with fixed names exist by
// themselves: they are not listed, but what is in them counts.
func (c *look) collection(ctx context.Context, parent resource.ID, of collection, depth int) error {
	if len(of.child.Names) > 0 && !of.child.Open {
		for _, name := range of.child.Names {
			if err := c.descend(ctx, parent, of.segment, name, depth); err != nil || c.found() {
				return err
			}
		}
		return nil
	}
	holdsData := c.Registry.MayHoldData(of.child.Type)
	if c.in.Cascade && of.child.Type != "" && !holdsData {
		return nil // it may be deleted, whatever is in it
	}
	if c.lists >= maxLists {
		c.Unlisted = append(c.Unlisted, Item{parent, of.segment})
		return nil
	}
	c.lists++
	items, err := c.Client.List(ctx, parent, of.segment, of.apiVersion, MaxRead)
	switch {
	case arm.IsAbsent(err):
		return nil
	case IsNotListable(err):
		unlisted := Item{parent, of.segment + " of " + parent.Short()}
		c.Unlisted = append(c.Unlisted, unlisted)
		if holdsData && !c.in.WithData {
			c.Data = append(c.Data, unlisted)
		}
		return nil
	case err != nil:
		return err
	}
	c.listed[strings.ToLower(of.child.Type)] = true
	return c.items(ctx, parent, of, items, depth)
}

// items looks at the listed children of one kind.
func (c *look) items(ctx context.Context, parent resource.ID, of collection, items []json.RawMessage, depth int) error {
	stated := statedItems(c.in.Stated, parent, c.in.ID, of.segment)
	for _, item := range items {
		name := ItemName(item)
		if ExistsByItself(c.Registry, of.child, parent, item) {
			if err := c.descend(ctx, parent, of.segment, name, depth); err != nil || c.found() {
				return err
			}
			continue
		}
		if slices.ContainsFunc(stated, func(s string) bool { return strings.EqualFold(s, name) }) {
			continue
		}
		if c.Registry.Facts(of.child.Type).Child.Kind == extensions.ChildRule {
			if err := c.noteRule(ctx, item); err != nil {
				return err
			}
			continue
		}
		if err := c.noteItem(ctx, item); err != nil || len(c.Unmanaged) >= maxCounted {
			return err
		}
	}
	return nil
}

// noteItem records a resource that a DELETE would remove too: as unmanaged, or in a cascade
// as data that needs a consent. What is being deleted already does not count.
func (c *look) noteItem(ctx context.Context, item json.RawMessage) error {
	shown, deleting, err := c.checkItem(ctx, c.in.ID, item)
	switch {
	case err != nil || deleting:
		return err
	case !c.in.Cascade && len(c.Unmanaged) < maxCounted:
		c.Unmanaged = append(c.Unmanaged, shown)
	}
	if (c.in.Cascade || c.all) && c.Registry.MayHoldData(shown.ID.Type()) {
		c.Data = append(c.Data, shown)
	}
	return nil
}

// noteRule records a child that a DELETE would remove too, and that is only named.
func (c *look) noteRule(ctx context.Context, item json.RawMessage) error {
	shown, deleting, err := c.checkItem(ctx, c.in.ID, item)
	if err == nil && !deleting && len(c.Rules) < maxCounted {
		c.Rules = append(c.Rules, shown)
	}
	return err
}

// descend looks below a child that exists by itself.
func (c *look) descend(ctx context.Context, parent resource.ID, segment, name string, depth int) error {
	if depth >= maxDepth {
		return nil
	}
	id, err := resource.ParseID(parent.String() + "/" + segment + "/" + name)
	if err != nil {
		return nil //nolint:nilerr // a name that no ID can have has no children
	}
	return c.below(ctx, id, depth+1)
}

// ItemName returns the last segment of the name of a listed item.
func ItemName(item json.RawMessage) string {
	var found struct {
		Name string `json:"name"`
	}
	if json.Unmarshal(item, &found) != nil {
		return ""
	}
	return found.Name[strings.LastIndex(found.Name, "/")+1:]
}

// IsNotListable reports whether ARM refuses a list because there is no such list: the
// method is not allowed, the request is not understood, or a 404 that is no absence.
func IsNotListable(err error) bool {
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
func (c *look) verdict() resource.Verdict {
	var parts, flags []string
	reason, advice := resource.ReasonContainsUnmanaged, "delete them first, or run"
	switch {
	case len(c.Unmanaged) > 0:
		parts, flags = []string{"resources that Armature does not manage: " + NameAll(Names(c.Unmanaged))}, []string{"--cascade"}
	case len(c.Unlisted) > 0 && !c.in.Cascade:
		parts, flags = []string{"what could not be listed: " + NameAll(Names(c.Unlisted))}, []string{"--cascade"}
		advice = "look at it in Azure, then run"
	case len(c.Data) > 0:
		reason, advice = resource.ReasonContainsData, "look at it in Azure, then run"
	default:
		return resource.Proceed("nothing else would be deleted with it")
	}
	if len(c.Data) > 0 {
		parts, flags = append(parts, "data that ARM does not list, in "+NameAll(Names(c.Data))), append(flags, "--with-data")
	}
	return resource.Block(reason, fmt.Sprintf("a DELETE of %s would also delete %s; %s `armature delete %s %s`",
		c.in.ID.Short(), strings.Join(parts, "; and "), advice, c.in.ID, strings.Join(flags, " ")))
}

func isForbidden(err error) bool {
	failure, ok := errors.AsType[*arm.Error](err)
	return ok && failure.Status == http.StatusForbidden
}

// ChildVersion returns the api-version for a type of child: the version of the parent if
// the child is published in it, or is not published at all, else the newest one of the
// child.
func ChildVersion(childType, parentVersion string) string {
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
