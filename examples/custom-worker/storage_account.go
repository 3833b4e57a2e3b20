package main

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/resource"
)

// The compiler says which point is meant; a wrong signature would be no link.
var _ extensions.PostReconciliationChecker = StorageAccount{}

// StorageAccountType is the ARM type that the check is for.
const StorageAccountType = "Microsoft.Storage/storageAccounts"

// StorageAccount is Ready when its primary place is there: Azure calls an account
// done while its names still spread.
type StorageAccount struct{}

// PostReconcileCheck fails until statusOfPrimary is available. An account that
// does not say is not waited for.
func (StorageAccount) PostReconcileCheck(
	ctx context.Context,
	obj *resource.Object,
	owner *resource.Object,
	resolver extensions.Resolver,
	client extensions.ARMClient,
	log *slog.Logger,
	next extensions.PostReconcileCheckFunc,
) (extensions.PostReconcileCheckResult, error) {
	if status, _ := obj.StringAt("properties.statusOfPrimary"); status == "unavailable" {
		return extensions.PostReconcileCheckResultFailure(fmt.Sprintf("The primary place of the storage account is %s", status)), nil
	}
	return next(ctx, obj, owner, resolver, client, log)
}
