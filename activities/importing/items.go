package importing

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/armature-io/armature/activities/contents"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/types"
)

// listedItem is what the import reads of an item of a list.
type listedItem struct {
	ID         string `json:"id"`
	Name       string `json:"name"`
	ManagedBy  string `json:"managedBy"`
	Properties struct {
		Source string `json:"source"`
	} `json:"properties"`
}

// item adds an item of a list.
func (i *listing) item(list List, raw json.RawMessage) {
	var found listedItem
	_ = json.Unmarshal(raw, &found) // an item of another form has no ID
	id, err := resource.ParseID(found.ID)
	if err != nil {
		// Some lists have names only.
		id, err = resource.ParseID(i.in.ID.String() + "/" + list.Collection + "/" + found.Name[strings.LastIndex(found.Name, "/")+1:])
	}
	if err != nil || found.ID == "" && found.Name == "" {
		i.leaveOut(list.Type, "an item of the list has no resource ID", true)
		return
	}
	isGroup := strings.EqualFold(list.Collection, descendants)
	if !isGroup && !strings.HasPrefix(id.Key(), i.in.ID.Key()+"/") {
		return // it applies here and is elsewhere, as an inherited role assignment
	}
	item := Item{ID: id, APIVersion: list.APIVersion, Root: isGroup, Listed: isGroup}
	switch {
	case isGroup:
	case strings.EqualFold(id.Type(), resource.TypeResourceGroup):
		item.Listed = true
		if found.ManagedBy != "" {
			item.ManagedBy, item.Skipped = found.ManagedBy, "the service of "+found.ManagedBy+" manages the resource group"
		}
	case list.Type == "":
		item.APIVersion = ""
		if item.Skipped = whyNotWritable(id.Type()); item.Skipped == "" && id.IsChild() {
			item.Skipped, item.Below = i.whySkipped(id.Owner(), id.Type(), raw, found)
		}
	default:
		item.Skipped, item.Below = i.whySkipped(i.in.ID, list.Type, raw, found)
	}
	if id.IsChild() {
		item.BuiltIn = contents.ExistsByItself(i.registry, childOf(id.Owner().Type(), id.Type()), id.Owner(), raw)
	}
	i.contents.Items = append(i.contents.Items, item)
}

// NamedItems returns the names, in lower case, of the items of the lists in a body and in its
// properties, by property. Some of these lists are children of the resource.
func NamedItems(body map[string]any) map[string][]string {
	found := map[string][]string{}
	properties, _ := body["properties"].(map[string]any)
	for _, object := range []map[string]any{body, properties} {
		for property, value := range object {
			items, _ := value.([]any)
			for _, item := range items {
				stated, _ := item.(map[string]any)
				if name, ok := stated["name"].(string); ok {
					found[property] = append(found[property], strings.ToLower(name))
				}
			}
		}
	}
	return found
}

// whyNotWritable returns why no manifest can have a type, "" where one can.
func whyNotWritable(resourceType string) string {
	if shape := types.Lookup(resourceType, types.Newest(resourceType)); shape != nil && shape.Writable == 0 && shape.Readable != 0 {
		return "a PUT cannot create its type"
	}
	return ""
}

// whySkipped returns why a listed child needs no manifest, "" where it needs one, and whether
// it may contain others that do.
func (i *listing) whySkipped(parent resource.ID, childType string, raw json.RawMessage, found listedItem) (string, bool) {
	child := childOf(parent.Type(), childType)
	switch name := contents.ItemName(raw); {
	case !child.Writable:
		return "a PUT cannot create its type", true
	case slices.ContainsFunc(child.Names, func(n string) bool { return strings.EqualFold(n, name) }):
		return "", false
	case contents.CreatedByService(i.registry, child.Type, parent, raw):
		return "the service creates it by itself", false
	case contents.IsSetting(i.registry, child.Type) && found.Properties.Source != "" && !strings.EqualFold(found.Properties.Source, userOverride):
		return "a setting with the value that the service gives it", false
	}
	return "", false
}

// codeNoDiagnostics is the code with which Azure Monitor refuses a type that has no
// diagnostic settings.
const codeNoDiagnostics = "ResourceTypeNotSupported"

// userOverride is the source of a server parameter that a user has set.
// Source: https://learn.microsoft.com/rest/api/postgresql/configurations/get
const userOverride = "user-override"
