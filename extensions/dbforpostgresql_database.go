package extensions

import (
	"context"
	"log/slog"

	"github.com/armature-io/armature/resource"
)

var _ PreReconciliationOwnerChecker = PostgreSQLDatabase{}

// PostgreSQLDatabaseType is the ARM type of a database of a flexible server.
const PostgreSQLDatabaseType = "Microsoft.DBforPostgreSQL/flexibleServers/databases"

// PostgreSQLDatabase leaves a database alone while its server takes no change.
type PostgreSQLDatabase struct{}

// PreReconcileOwnerCheck blocks while the server is changing, stopped or closed.
func (PostgreSQLDatabase) PreReconcileOwnerCheck(
	ctx context.Context,
	owner *resource.Object,
	resolver Resolver,
	client ARMClient,
	log *slog.Logger,
	next PreReconcileOwnerCheckFunc,
) (PreReconcileCheckResult, error) {
	return postgreSQLOwnerCheck(ctx, owner, resolver, client, log, next)
}
