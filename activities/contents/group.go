package contents

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/types"
)

// inGroup looks in the list of the resource group for what is below the resource and was
// in no list: children of a type that is not published, and of collections that ARM does
// not list. That list has only children of tracked types, such as databases of a SQL
// server, and lags behind by minutes, so it never shows that nothing is there. It is one
// list more, and none for a published type whose collections were all listed.
func (c *look) inGroup(ctx context.Context) error {
	_, published := types.Spelled(c.in.ID.Type())
	if published && len(c.Unlisted) == 0 || c.in.ID.IsContainer() {
		return nil
	}
	group := c.in.ID
	for !group.IsZero() && !strings.EqualFold(group.Type(), resource.TypeResourceGroup) {
		group = group.Owner()
	}
	if group.IsZero() {
		return nil
	}
	c.lists++
	items, err := c.Client.List(ctx, group, "resources", resource.ResourceGroupAPIVersion, MaxRead)
	if err != nil && (arm.IsAbsent(err) || IsNotListable(err) || isForbidden(err)) {
		return nil // the collections were looked at
	}
	if err != nil {
		return err
	}
	for _, item := range items {
		if child := c.childType(itemID(item)); child == "" || c.listed[strings.ToLower(child)] {
			continue
		}
		if err := c.noteItem(ctx, item); err != nil {
			return err
		}
	}
	return nil
}

// itemID returns the ID of a listed item, the zero ID if it has none that parses.
func itemID(item json.RawMessage) resource.ID {
	var found struct {
		ID string `json:"id"`
	}
	_ = json.Unmarshal(item, &found) // an item of another form has no ID
	id, _ := resource.ParseID(found.ID)
	return id
}

// childType returns the type of the child of the resource that is, or contains, another
// one below it; "" if that is not below it.
func (c *look) childType(below resource.ID) string {
	for at := below; !at.IsZero(); at = at.Owner() {
		if at.Owner().Equal(c.in.ID) {
			return at.Type()
		}
	}
	return ""
}
