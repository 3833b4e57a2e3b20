package main

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/resource"
)

// The compiler checks the signature; with a wrong one the link would never run.
var _ extensions.PostReconciliationChecker = StorageAccount{}

// StorageAccountType is the ARM type that the check is for.
const StorageAccountType = "Microsoft.Storage/storageAccounts"

// StorageAccount is Ready when its secondary location is available: the copy of a
// geo-redundant account. Armature itself checks the primary location.
type StorageAccount struct{}

// PostReconcileCheck fails while statusOfSecondary is unavailable. An account without
// that property passes.
func (StorageAccount) PostReconcileCheck(
	ctx context.Context,
	obj *resource.Object,
	owner *resource.Object,
	resolver extensions.Resolver,
	client extensions.ARMClient,
	log *slog.Logger,
	next extensions.PostReconcileCheckFunc,
) (extensions.PostReconcileCheckResult, error) {
	if status, _ := obj.StringAt("properties.statusOfSecondary"); status == "unavailable" {
		return extensions.PostReconcileCheckResultFailure(fmt.Sprintf("The secondary location of the storage account is %s", status)), nil
	}
	return next(ctx, obj, owner, resolver, client, log)
}
