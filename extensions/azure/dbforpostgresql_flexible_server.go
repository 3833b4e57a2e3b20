package azure

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/resource"
)

var _ extensions.PreReconciliationChecker = PostgreSQLFlexibleServer{}

// PostgreSQLFlexibleServerType is the ARM type of a PostgreSQL flexible server.
const PostgreSQLFlexibleServerType = "Microsoft.DBforPostgreSQL/flexibleServers"

// PostgreSQLFlexibleServer waits for a server that refuses changes. The service
// reports this in properties.state, not in a provisioning state. A server that is
// idle in such a state (Stopped, Disabled, Inaccessible) blocks only when it needs
// a PUT: stopped and in sync is fine.
type PostgreSQLFlexibleServer struct{}

// postgreSQLState is the path of the server's state.
const postgreSQLState = "properties.state"

// postgreSQLSettled returns the states in which a server accepts changes.
func postgreSQLSettled() []string { return []string{"Succeeded", "Failed", "Canceled", "Ready"} }

// postgreSQLClosed returns the states in which a server is idle and refuses
// changes.
func postgreSQLClosed() []string { return []string{"Stopped", "Disabled", "Inaccessible"} }

// PreReconcileCheck blocks while the server is changing, and while it is closed
// and needs a PUT.
func (PostgreSQLFlexibleServer) PreReconcileCheck(
	ctx context.Context,
	obj *resource.Object,
	owner *resource.Object,
	resolver extensions.Resolver,
	client extensions.ARMClient,
	log *slog.Logger,
	next extensions.PreReconcileCheckFunc,
) (extensions.PreReconcileCheckResult, error) {
	state, blocks := unsettled(obj, postgreSQLState, postgreSQLSettled()...)
	if !blocks || extensions.Forced(ctx) {
		return next(ctx, obj, owner, resolver, client, log)
	}
	message := fmt.Sprintf("Flexible Server is in state %q", state)
	if equalFoldAny(state, postgreSQLClosed()...) {
		result, err := next(ctx, obj, owner, resolver, client, log)
		if err != nil || result.Action() != resource.ActionProceed {
			return prefixStopped(result, message), err
		}
	}
	return extensions.BlockReconcile(message), nil
}
