package azure

import (
	"context"
	"log/slog"
	"strings"

	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/resource"
)

var _ extensions.Importer = RoleDefinition{}

// RoleDefinitionType is the ARM type of a role definition.
const RoleDefinitionType = "Microsoft.Authorization/roleDefinitions"

// RoleDefinition keeps the roles that ship with Azure out of imports.
type RoleDefinition struct{}

// Import skips built-in roles.
func (RoleDefinition) Import(
	ctx context.Context, obj *resource.Object, owner *resource.Object, log *slog.Logger, next extensions.ImporterFunc,
) (extensions.ImportResult, error) {
	if strings.EqualFold(textAt(obj.At("properties.type")), "BuiltInRole") {
		return extensions.ImportSkipped("role definition is built-in"), nil
	}
	return next(ctx, obj, owner, log)
}
