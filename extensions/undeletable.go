package extensions

import (
	"context"
	"fmt"
	"log/slog"
	"strings"

	"github.com/armature-io/armature/resource"
)

var (
	_ Deleter                  = fixture{}
	_ PreReconciliationChecker = fixture{}
)

// fixture is a type whose resources come and go with their parent: ARM has no
// DELETE for it, or only one name for it.
type fixture struct {
	resourceType string
	// names are the only ones that ARM takes, none means any.
	names []string
	// stays is set where ARM has no DELETE.
	stays bool
	// source says where that is written.
	source string
}

// fixtures is the table of singletons and of types without DELETE.
func fixtures() []fixture {
	const spec = "the service's REST specification"
	deflt := []string{"default"}
	return []fixture{
		{"Microsoft.DBforPostgreSQL/flexibleServers/configurations", nil, true, spec},
		{"Microsoft.DBforPostgreSQL/flexibleServers/advancedThreatProtectionSettings", deflt, true, spec},
		{"Microsoft.DBforMySQL/flexibleServers/configurations", nil, true, spec},
		{"Microsoft.DBforMariaDB/servers/configurations", nil, true, spec},
		{"Microsoft.DocumentDB/databaseAccounts/sqlDatabases/throughputSettings", deflt, true, spec},
		{"Microsoft.DocumentDB/databaseAccounts/sqlDatabases/containers/throughputSettings", deflt, true, spec},
		{"Microsoft.DocumentDB/databaseAccounts/mongodbDatabases/throughputSettings", deflt, true, spec},
		{"Microsoft.DocumentDB/databaseAccounts/mongodbDatabases/collections/throughputSettings", deflt, true, spec},
		{"Microsoft.Sql/servers/auditingSettings", deflt, true, spec},
		{"Microsoft.Sql/servers/connectionPolicies", deflt, true, spec},
		{"Microsoft.Sql/servers/securityAlertPolicies", nil, true, spec},
		{"Microsoft.Sql/servers/advancedThreatProtectionSettings", nil, true, spec},
		{"Microsoft.Sql/servers/databases/auditingSettings", deflt, true, spec},
		{"Microsoft.Sql/servers/databases/securityAlertPolicies", nil, true, spec},
		{"Microsoft.Sql/servers/databases/advancedThreatProtectionSettings", nil, true, spec},
		{"Microsoft.Sql/servers/databases/transparentDataEncryption", []string{"current"}, true, spec},
		{"Microsoft.Sql/servers/databases/backupShortTermRetentionPolicies", deflt, true, spec},
		{"Microsoft.Sql/servers/databases/backupLongTermRetentionPolicies", deflt, true, spec},
		{"Microsoft.Storage/storageAccounts/blobServices", deflt, true, spec},
		{"Microsoft.Storage/storageAccounts/fileServices", deflt, true, spec},
		{"Microsoft.Storage/storageAccounts/queueServices", deflt, true, spec},
		{"Microsoft.Storage/storageAccounts/tableServices", deflt, true, spec},
		{"Microsoft.Storage/storageAccounts/managementPolicies", deflt, false, spec},
		{"Microsoft.EventHub/namespaces/networkRuleSets", deflt, true, spec},
		{"Microsoft.ServiceBus/namespaces/networkRuleSets", deflt, true, spec},
		{"Microsoft.Quota/quotas", nil, true, spec},
	}
}

// fixtureEntries are the links of the table.
func fixtureEntries() []Entry {
	var entries []Entry
	for _, row := range fixtures() {
		entries = append(entries, Entry{Type: row.resourceType, Link: row})
	}
	return entries
}

// PreReconcileCheck refuses a name that ARM does not know for the type.
func (f fixture) PreReconcileCheck(
	ctx context.Context,
	obj *resource.Object,
	owner *resource.Object,
	resolver Resolver,
	client ARMClient,
	log *slog.Logger,
	next PreReconcileCheckFunc,
) (PreReconcileCheckResult, error) {
	if len(f.names) > 0 && !among(obj.ID.Name(), f.names...) {
		return BlockReconcile(fmt.Sprintf("There is one %s for each parent, and its name is %s, not %q", f.resourceType, strings.Join(f.names, " or "), obj.ID.Name()),
			WithReason("InvalidResourceName"), WithSeverity(resource.SeverityError)), nil
	}
	return next(ctx, obj, owner, resolver, client, log)
}

// Delete makes no request where ARM has none: the resource goes with its parent.
func (f fixture) Delete(
	ctx context.Context, obj *resource.Object, resolver Resolver, client ARMClient, log *slog.Logger, next DeleterFunc,
) error {
	if f.stays {
		return NotYet(fmt.Sprintf("ARM has no DELETE for %s: %s goes when %s goes. To let go of it and leave it in Azure, cancel its workflow in Temporal",
			f.resourceType, obj.ID.Short(), obj.ID.Owner().Short()), WithReason(resource.ReasonDeletionNotSupported))
	}
	return next(ctx, obj, resolver, client, log)
}
