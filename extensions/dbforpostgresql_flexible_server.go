package extensions

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/armature-io/armature/resource"
)

var _ PreReconciliationChecker = PostgreSQLFlexibleServer{}

// PostgreSQLFlexibleServerType is the ARM type of a PostgreSQL flexible server.
const PostgreSQLFlexibleServerType = "Microsoft.DBforPostgreSQL/flexibleServers"

// PostgreSQLFlexibleServer waits for a server that cannot take a change. The
// service says so in properties.state, not in a provisioning state. A server
// that rests in a state that takes no PUT (Stopped, Disabled, Inaccessible) is
// left alone while it needs none: stopped and in sync is a fine state to be in.
type PostgreSQLFlexibleServer struct{}

// postgreSQLState is where the service puts its state.
const postgreSQLState = "properties.state"

// postgreSQLOpen are the states in which a server takes changes.
func postgreSQLOpen() []string { return []string{"Succeeded", "Failed", "Canceled", "Ready"} }

// postgreSQLResting are states without an operation in which it takes none.
func postgreSQLResting() []string { return []string{"Stopped", "Disabled", "Inaccessible"} }

// PreReconcileCheck blocks while the server is changing; one that rests closed,
// when there is something to change.
func (PostgreSQLFlexibleServer) PreReconcileCheck(
	ctx context.Context,
	obj *resource.Object,
	owner *resource.Object,
	resolver Resolver,
	client ARMClient,
	log *slog.Logger,
	next PreReconcileCheckFunc,
) (PreReconcileCheckResult, error) {
	state, closed := unsettled(obj, postgreSQLState, postgreSQLOpen()...)
	if !closed || Forced(ctx) {
		return next(ctx, obj, owner, resolver, client, log)
	}
	if among(state, postgreSQLResting()...) {
		result, err := next(ctx, obj, owner, resolver, client, log)
		if err != nil || result.Action() != resource.ActionProceed {
			return result.sayingFirst(fmt.Sprintf("Flexible Server is in state %q", state)), err
		}
	}
	return BlockReconcile(fmt.Sprintf("Flexible Server is in state %q", state)), nil
}

// postgreSQLOwnerCheck is the owner check of everything below a server.
func postgreSQLOwnerCheck(
	ctx context.Context,
	owner *resource.Object,
	resolver Resolver,
	client ARMClient,
	log *slog.Logger,
	next PreReconcileOwnerCheckFunc,
) (PreReconcileCheckResult, error) {
	if isType(owner, PostgreSQLFlexibleServerType) {
		if state, closed := unsettled(owner, postgreSQLState, postgreSQLOpen()...); closed {
			return BlockReconcile(fmt.Sprintf("Owning FlexibleServer is in state %q", state)), nil
		}
	}
	return next(ctx, owner, resolver, client, log)
}
