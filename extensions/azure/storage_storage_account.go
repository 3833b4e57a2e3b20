package azure

import (
	"context"
	"fmt"
	"log/slog"
	"regexp"

	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/resource"
)

var (
	_ extensions.PreReconciliationChecker  = StorageAccount{}
	_ extensions.PostReconciliationChecker = StorageAccount{}
)

// StorageAccountType is the ARM type of a storage account.
const StorageAccountType = "Microsoft.Storage/storageAccounts"

// StorageAccount refuses a name that Azure never accepts, leaves an account alone
// while its region or redundancy changes, and is not Ready while its primary region
// is unavailable.
type StorageAccount struct{}

// storageName matches a valid name, which becomes part of host names (published
// naming rules of the Storage provider).
var storageName = regexp.MustCompile(`^[a-z0-9]{3,24}$`)

// reasonAccountNameInvalid is ARM's own code, returned before a request is spent.
const reasonAccountNameInvalid resource.Reason = "AccountNameInvalid"

// PreReconcileCheck refuses a name that cannot be created, and blocks during a
// failover or a migration: a PUT would be refused, or undo half of it.
func (StorageAccount) PreReconcileCheck(
	ctx context.Context,
	obj *resource.Object,
	owner *resource.Object,
	resolver extensions.Resolver,
	client extensions.ARMClient,
	log *slog.Logger,
	next extensions.PreReconcileCheckFunc,
) (extensions.PreReconcileCheckResult, error) {
	if !obj.Exists() && !storageName.MatchString(obj.ID.Name()) {
		return extensions.PreReconcileCheckResult{}, extensions.NewReadyConditionImpactingError(
			fmt.Errorf("%q is not a valid storage account name: use 3 to 24 lower-case letters and digits", obj.ID.Name()),
			resource.SeverityError, reasonAccountNameInvalid)
	}
	if !extensions.Forced(ctx) {
		if running, _ := obj.At("properties.failoverInProgress"); running == true {
			return extensions.BlockReconcile("Storage account is failing over to its secondary region"), nil
		}
		if running, _ := obj.At("properties.accountMigrationInProgress"); running == true {
			return extensions.BlockReconcile("Storage account is being migrated to another redundancy"), nil
		}
		// The states of an account that is not there yet; the default judges the others.
		if state, changing := unsettled(obj, provisioningState, "Succeeded", "Failed", "Canceled"); changing && equalFoldAny(state, "Creating", "ResolvingDNS") {
			return extensions.BlockReconcile(fmt.Sprintf("Storage account is in provisioning state %q", state)), nil
		}
	}
	return next(ctx, obj, owner, resolver, client, log)
}

// PostReconcileCheck fails while the primary region is unavailable.
func (StorageAccount) PostReconcileCheck(
	ctx context.Context,
	obj *resource.Object,
	owner *resource.Object,
	resolver extensions.Resolver,
	client extensions.ARMClient,
	log *slog.Logger,
	next extensions.PostReconcileCheckFunc,
) (extensions.PostReconcileCheckResult, error) {
	if status, _ := obj.StringAt("properties.statusOfPrimary"); equalFoldAny(status, "unavailable") {
		region, known := obj.StringAt("properties.primaryLocation")
		if !known {
			region = "its primary region"
		}
		message := fmt.Sprintf("Storage account is unavailable in %s", region)
		if secondary, known := obj.StringAt("properties.secondaryLocation"); known {
			message += fmt.Sprintf("; it can fail over to %s: az storage account failover --ids %s", secondary, obj.ID)
		}
		return extensions.PostReconcileCheckResultFailure(message), nil
	}
	return next(ctx, obj, owner, resolver, client, log)
}
