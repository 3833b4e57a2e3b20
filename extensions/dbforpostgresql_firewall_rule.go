package extensions

import (
	"context"
	"log/slog"

	"github.com/armature-io/armature/resource"
)

var _ PreReconciliationOwnerChecker = PostgreSQLFirewallRule{}

// PostgreSQLFirewallRuleType is the ARM type of a firewall rule of a flexible server.
const PostgreSQLFirewallRuleType = "Microsoft.DBforPostgreSQL/flexibleServers/firewallRules"

// PostgreSQLFirewallRule leaves a firewall rule alone while its server takes no change.
type PostgreSQLFirewallRule struct{}

// PreReconcileOwnerCheck blocks while the server is changing, stopped or closed.
func (PostgreSQLFirewallRule) PreReconcileOwnerCheck(
	ctx context.Context,
	owner *resource.Object,
	resolver Resolver,
	client ARMClient,
	log *slog.Logger,
	next PreReconcileOwnerCheckFunc,
) (PreReconcileCheckResult, error) {
	return postgreSQLOwnerCheck(ctx, owner, resolver, client, log, next)
}
