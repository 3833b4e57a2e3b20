package azure

import (
	"context"
	"log/slog"
	"strings"

	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/resource"
)

var (
	_ extensions.Importer = serverConfiguration{}
	_ extensions.Importer = builtInDatabase{}
)

// serverConfiguration is a setting of a MySQL or PostgreSQL server. There are
// hundreds, and only those that a user has set need a manifest.
type serverConfiguration struct{}

// Import skips settings that are defaults or read-only.
func (serverConfiguration) Import(
	ctx context.Context, obj *resource.Object, owner *resource.Object, log *slog.Logger, next extensions.ImporterFunc,
) (extensions.ImportResult, error) {
	value, initial := textAt(obj.At("properties.value")), textAt(obj.At("properties.defaultValue"))
	readOnly, _ := obj.At("properties.isReadOnly")
	switch {
	case strings.EqualFold(textAt(obj.At("properties.source")), "system-default"):
		return extensions.ImportSkipped("system-defaults don't need to be imported"), nil
	case readOnly == true, strings.EqualFold(textAt(obj.At("properties.isReadOnly")), "True"):
		return extensions.ImportSkipped("readonly configuration can't be set"), nil
	case value != "" && value == initial:
		return extensions.ImportSkipped("default value is the same as the current value"), nil
	}
	return next(ctx, obj, owner, log)
}

// PostgreSQLDatabaseType is the ARM type of a database of a flexible server.
const PostgreSQLDatabaseType = "Microsoft.DBforPostgreSQL/flexibleServers/databases"

// builtInDatabase is a database that a PostgreSQL server creates for itself.
type builtInDatabase struct{}

// Import skips the server's own databases.
func (builtInDatabase) Import(
	ctx context.Context, obj *resource.Object, owner *resource.Object, log *slog.Logger, next extensions.ImporterFunc,
) (extensions.ImportResult, error) {
	if FactsOf(obj.ID.Type()).BuiltIn.Has(obj.ID.Owner().Name(), obj.ID.Name()) {
		return extensions.ImportSkipped("built in databases cannot be managed"), nil
	}
	return next(ctx, obj, owner, log)
}
