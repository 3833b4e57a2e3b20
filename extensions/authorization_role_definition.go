package extensions

import (
	"context"
	"log/slog"
	"strings"

	"github.com/armature-io/armature/resource"
)

var _ Importer = RoleDefinition{}

// RoleDefinitionType is the ARM type of a role.
const RoleDefinitionType = "Microsoft.Authorization/roleDefinitions"

// RoleDefinition leaves the roles that come with Azure alone.
type RoleDefinition struct{}

// Import leaves out built-in roles.
func (RoleDefinition) Import(
	ctx context.Context, obj *resource.Object, owner *resource.Object, log *slog.Logger, next ImporterFunc,
) (ImportResult, error) {
	if strings.EqualFold(textAt(obj.At("properties.type")), "BuiltInRole") {
		return ImportSkipped("role definition is built-in"), nil
	}
	return next(ctx, obj, owner, log)
}
