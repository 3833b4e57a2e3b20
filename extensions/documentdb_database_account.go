package extensions

import (
	"context"
	"log/slog"
	"strings"

	"github.com/armature-io/armature/resource"
)

var _ PreReconciliationChecker = CosmosDatabaseAccount{}

// CosmosDatabaseAccountType is the ARM type of a Cosmos DB account.
const CosmosDatabaseAccountType = "Microsoft.DocumentDB/databaseAccounts"

// CosmosDatabaseAccount leaves a Cosmos DB account alone that is being deleted: it answers
// reads for as long as that takes, and a PUT meanwhile fails or is lost.
type CosmosDatabaseAccount struct{}

// PreReconcileCheck blocks while it is being deleted.
func (CosmosDatabaseAccount) PreReconcileCheck(
	ctx context.Context,
	obj *resource.Object,
	owner *resource.Object,
	resolver Resolver,
	client ARMClient,
	log *slog.Logger,
	next PreReconcileCheckFunc,
) (PreReconcileCheckResult, error) {
	if strings.EqualFold(obj.ProvisioningState(), "Deleting") && !Forced(ctx) {
		return BlockReconcile("reconcile blocked while account is at status deleting"), nil
	}
	return next(ctx, obj, owner, resolver, client, log)
}
