package azure

import (
	"context"
	"fmt"
	"log/slog"
	"strings"

	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/resource"
)

var (
	_ extensions.Deleter                  = fixedChild{}
	_ extensions.PreReconciliationChecker = fixedChild{}
)

// fixedChild is a type of resource that exists exactly as long as its parent: ARM
// has no DELETE for it, only one name, or both.
type fixedChild struct {
	resourceType string
	// names are the only ones that ARM accepts; empty means any.
	names []string
	// deletable is set where ARM has a DELETE.
	deletable bool
}

// fixedChildren returns the singletons and the types without DELETE. The source
// of each row is the service's REST specification.
func fixedChildren() []extensions.Entry {
	defaultName := []string{"default"}
	var entries []extensions.Entry
	for _, row := range []fixedChild{
		{resourceType: "Microsoft.DBforPostgreSQL/flexibleServers/configurations"},
		{resourceType: "Microsoft.DBforPostgreSQL/flexibleServers/advancedThreatProtectionSettings", names: defaultName},
		{resourceType: "Microsoft.DBforMySQL/flexibleServers/configurations"},
		{resourceType: "Microsoft.DBforMariaDB/servers/configurations"},
		{resourceType: "Microsoft.DocumentDB/databaseAccounts/sqlDatabases/throughputSettings", names: defaultName},
		{resourceType: "Microsoft.DocumentDB/databaseAccounts/sqlDatabases/containers/throughputSettings", names: defaultName},
		{resourceType: "Microsoft.DocumentDB/databaseAccounts/mongodbDatabases/throughputSettings", names: defaultName},
		{resourceType: "Microsoft.DocumentDB/databaseAccounts/mongodbDatabases/collections/throughputSettings", names: defaultName},
		{resourceType: "Microsoft.Sql/servers/auditingSettings", names: defaultName},
		{resourceType: "Microsoft.Sql/servers/connectionPolicies", names: defaultName},
		{resourceType: "Microsoft.Sql/servers/securityAlertPolicies"},
		{resourceType: "Microsoft.Sql/servers/advancedThreatProtectionSettings"},
		{resourceType: "Microsoft.Sql/servers/databases/auditingSettings", names: defaultName},
		{resourceType: "Microsoft.Sql/servers/databases/securityAlertPolicies"},
		{resourceType: "Microsoft.Sql/servers/databases/advancedThreatProtectionSettings"},
		{resourceType: "Microsoft.Sql/servers/databases/transparentDataEncryption", names: []string{"current"}},
		{resourceType: "Microsoft.Sql/servers/databases/backupShortTermRetentionPolicies", names: defaultName},
		{resourceType: "Microsoft.Sql/servers/databases/backupLongTermRetentionPolicies", names: defaultName},
		{resourceType: "Microsoft.Storage/storageAccounts/blobServices", names: defaultName},
		{resourceType: "Microsoft.Storage/storageAccounts/fileServices", names: defaultName},
		{resourceType: "Microsoft.Storage/storageAccounts/queueServices", names: defaultName},
		{resourceType: "Microsoft.Storage/storageAccounts/tableServices", names: defaultName},
		{resourceType: "Microsoft.Storage/storageAccounts/managementPolicies", names: defaultName, deletable: true},
		{resourceType: "Microsoft.EventHub/namespaces/networkRuleSets", names: defaultName},
		{resourceType: "Microsoft.ServiceBus/namespaces/networkRuleSets", names: defaultName},
		{resourceType: "Microsoft.Quota/quotas"},
	} {
		entries = append(entries, extensions.Entry{Type: row.resourceType, Link: row})
	}
	return entries
}

// PreReconcileCheck refuses a name that ARM does not accept for the type.
func (f fixedChild) PreReconcileCheck(
	ctx context.Context,
	obj *resource.Object,
	owner *resource.Object,
	resolver extensions.Resolver,
	client extensions.ARMClient,
	log *slog.Logger,
	next extensions.PreReconcileCheckFunc,
) (extensions.PreReconcileCheckResult, error) {
	if len(f.names) > 0 && !equalFoldAny(obj.ID.Name(), f.names...) {
		return extensions.BlockReconcile(fmt.Sprintf("Each parent has one %s, and its name is %s, not %q", f.resourceType, strings.Join(f.names, " or "), obj.ID.Name()),
			extensions.WithReason("InvalidResourceName"), extensions.WithSeverity(resource.SeverityError)), nil
	}
	return next(ctx, obj, owner, resolver, client, log)
}

// Delete sends no request where ARM has no DELETE: the resource is deleted with its
// parent.
func (f fixedChild) Delete(
	ctx context.Context, obj *resource.Object, resolver extensions.Resolver, client extensions.ARMClient, log *slog.Logger, next extensions.DeleterFunc,
) error {
	if !f.deletable {
		return extensions.NotYet(fmt.Sprintf("ARM has no DELETE for %s: %s is deleted with %s. To stop managing it and leave it in Azure, run armature forget",
			f.resourceType, obj.ID.Short(), obj.ID.Owner().Short()), extensions.WithReason(resource.ReasonDeletionNotSupported))
	}
	return next(ctx, obj, resolver, client, log)
}
