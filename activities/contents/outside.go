package contents

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/internal/jsontree"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/types"
)

// deleteOption is the property with which a resource takes another one along: the
// disks, network interfaces and addresses of a machine.
const deleteOption = "deleteoption"

// outside looks at what a DELETE takes along that is not below the resource: what its
// body marks with deleteOption Delete, and the resource group that its service manages.
// What the manifest marks itself belongs to the resource. It sends a request only for a
// type whose published shape has such properties.
func (c *look) outside(ctx context.Context) error {
	if !takesAlong(types.Lookup(c.in.ID.Type(), c.in.APIVersion)) {
		return nil
	}
	response, err := c.Client.Get(ctx, c.in.ID, c.in.APIVersion)
	if arm.IsAbsent(err) {
		return nil
	}
	if err != nil {
		return err
	}
	observed, err := resource.DecodeBody(response.Body)
	if err != nil {
		return fmt.Errorf("read %s for what its DELETE takes along: %w", c.in.ID, err)
	}
	var stated any
	if len(c.in.Stated) > 0 && json.Unmarshal(c.in.Stated, &stated) != nil {
		stated = nil // the manifest was checked when it was applied
	}
	own := markedItems(stated)
	for _, marked := range markedItems(observed) {
		if marked.id == "" || slices.ContainsFunc(own, marked.same) {
			continue
		}
		item, _ := json.Marshal(map[string]string{"id": marked.id}) //nolint:errchkjson // texts only
		if err := c.noteItem(ctx, item); err != nil {
			return err
		}
	}
	for _, name := range managedGroups(observed) {
		id, _ := resource.ParseID("/subscriptions/" + c.in.ID.Subscription() + "/resourceGroups/" + name) // a name of another form has no ID
		c.ManagedGroups = append(c.ManagedGroups, Item{id, name})
	}
	return nil
}

// takesAlong reports whether a shape has properties with which a DELETE reaches
// resources that are not below it.
func takesAlong(shape *types.Shape) bool {
	found := false
	if shape != nil {
		shape.Walk(func(path []string, _ types.Property) bool {
			name := path[len(path)-1]
			found = found || name == deleteOption || isManagedGroup(name)
			return !found
		})
	}
	return found
}

// isManagedGroup reports whether a property, in lower case, names a resource group that
// a service creates for a resource and deletes with it.
func isManagedGroup(name string) bool {
	return strings.HasPrefix(name, "managedresourcegroup") || strings.HasPrefix(name, "noderesourcegroup")
}

// markedItem is an object of a body with deleteOption Delete.
type markedItem struct{ id, name string }

func (m markedItem) same(other markedItem) bool {
	return m.id != "" && strings.EqualFold(m.id, other.id) || m.name != "" && strings.EqualFold(m.name, other.name)
}

// markedItems returns the objects of a body that say deleteOption Delete: beside the ID
// of the resource or of its managedDisk, or in the properties below it.
func markedItems(body any) []markedItem {
	var items []markedItem
	for value := range jsontree.All(body) {
		at, _ := value.(map[string]any)
		if !isDelete(at["deleteOption"]) && !isDelete(jsontree.Object(at, "properties")["deleteOption"]) {
			continue
		}
		item := markedItem{id: jsontree.Text(jsontree.Object(at, "managedDisk"), "id"), name: jsontree.Text(at, "name")}
		if item.id == "" {
			item.id = jsontree.Text(at, "id")
		}
		items = append(items, item)
	}
	slices.SortFunc(items, func(a, b markedItem) int { return strings.Compare(a.id, b.id) })
	return items
}

func isDelete(value any) bool {
	text, _ := value.(string)
	return strings.EqualFold(text, "Delete")
}

// managedGroups returns the names of the resource groups that a body names as managed by
// the service.
func managedGroups(body map[string]any) []string {
	properties, _ := body["properties"].(map[string]any)
	var groups []string
	for name, value := range properties {
		if text, ok := value.(string); ok && text != "" && isManagedGroup(strings.ToLower(name)) {
			groups = append(groups, text[strings.LastIndex(text, "/")+1:])
		}
	}
	slices.Sort(groups)
	return slices.Compact(groups)
}
