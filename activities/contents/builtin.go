package contents

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/internal/extensionhost"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/types"
)

// builtInFlags and builtInTypes are members of the properties with which services mark
// what they created themselves: the groups of API Management (builtIn), the modules of
// Automation (isGlobal), scope maps of registries (type SystemDefined), content filters of
// OpenAI (type SystemManaged), role definitions of Cosmos accounts (type BuiltInRole). The
// names are in lower case. The source is the published shape of each type.
var (
	builtInFlags = []string{"builtin", "isbuiltin", "isglobal", "issystem", "issystemgenerated"}
	builtInTypes = []string{"builtin", "builtinrole", "system", "systemdefined", "systemmanaged"}
)

// ExistsByItself reports whether a listed child was created by the service and not by a
// person: it has a published name, the facts of its type have it, or it is marked so.
func ExistsByItself(registry *extensionhost.Registry, child types.Child, parent resource.ID, item json.RawMessage) bool {
	name := ItemName(item)
	for _, published := range child.Names {
		if strings.EqualFold(published, name) {
			return true
		}
	}
	return IsSetting(registry, child.Type) || CreatedByService(registry, child.Type, parent, item)
}

// IsSetting reports whether the children of a type are settings that every parent has.
func IsSetting(registry *extensionhost.Registry, childType string) bool {
	return registry.Facts(childType).Child.Kind == extensions.ChildSetting
}

// CreatedByService reports whether the facts of a type have a listed child, or its service
// marks it as its own.
func CreatedByService(registry *extensionhost.Registry, childType string, parent resource.ID, item json.RawMessage) bool {
	return registry.Facts(childType).BuiltIn.Has(parent.Name(), ItemName(item)) || isBuiltIn(item)
}

// isBuiltIn reports whether the properties of a listed item mark it as created by its
// service.
func isBuiltIn(item json.RawMessage) bool {
	var found struct {
		Properties map[string]any `json:"properties"`
	}
	if json.Unmarshal(item, &found) != nil {
		return false
	}
	for name, value := range found.Properties {
		text, _ := value.(string)
		name = strings.ToLower(name)
		if value == true && slices.Contains(builtInFlags, name) || name == "type" && slices.Contains(builtInTypes, strings.ToLower(text)) {
			return true
		}
	}
	return false
}
