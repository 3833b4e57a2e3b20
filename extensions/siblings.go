package extensions

import (
	"strings"

	"github.com/armature-io/armature/resource"
)

// family is a parent type whose children, and itself, ARM refuses to change in
// parallel: a second write meets the code, and whoever sends it anyway pays for
// the request, the wait and the next try.
type family struct {
	parent string
	// children are type segments below the parent ("subnets", "a/b" for deeper
	// ones).
	children []string
	// code is what ARM answers; source is where that was seen.
	code, source string
}

// families is the table of what comes with Armature. Sources: "recorded" is an
// answer in recorded traffic; a repository and a number is a public report;
// "locks" is a serialisation in the azurerm provider, which learnt it likewise.
func families() []family {
	return []family{
		{"Microsoft.Network/virtualNetworks", []string{"subnets", "virtualNetworkPeerings"}, "AnotherOperationInProgress", "recorded (subnets, 409; also RetryableErrorDueToAnotherOperation, 429)"},
		{"Microsoft.Network/routeTables", []string{"routes"}, "RetryableErrorDueToAnotherOperation", "recorded (routes, 429, on PUT and DELETE)"},
		{"Microsoft.Network/networkSecurityGroups", []string{"securityRules"}, "RetryableErrorDueToAnotherOperation", "as recorded for routeTables/routes; locks"},
		{"Microsoft.Network/loadBalancers", []string{"inboundNatRules", "backendAddressPools"}, "RetryableErrorDueToAnotherOperation", "as recorded for routeTables/routes; locks"},
		{"Microsoft.Network/firewallPolicies", []string{"ruleCollectionGroups"}, "AnotherOperationInProgress", "hashicorp/terraform-provider-azurerm#15440: one rule collection group at a time"},
		{"Microsoft.Network/expressRouteCircuits", []string{"authorizations", "peerings"}, "AnotherOperationInProgress", "hashicorp/terraform-provider-azurerm#992"},
		{"Microsoft.Network/expressRouteGateways", []string{"expressRouteConnections"}, "AnotherOperationInProgress", "Azure/Azure-Landing-Zones#4134"},
		{"Microsoft.ContainerService/managedClusters", []string{"agentPools", "maintenanceConfigurations"}, "EtagMismatch", "recorded (the cluster is one document and cannot be saved while another operation is in progress)"},
		{"Microsoft.ManagedIdentity/userAssignedIdentities", []string{"federatedIdentityCredentials"}, "ConcurrentFederatedIdentityCredentialsWritesForSingleManagedIdentity", "hashicorp/terraform-provider-azurerm#19968"},
		{"Microsoft.CognitiveServices/accounts", []string{"deployments"}, "RequestConflict", "hashicorp/terraform-provider-azurerm#22607"},
		{"Microsoft.DocumentDB/databaseAccounts", []string{"sqlRoleAssignments", "sqlRoleDefinitions"}, "PreconditionFailed", "hashicorp/terraform-provider-azurerm#15842: an exclusive lock on the account"},
		{"Microsoft.DBforPostgreSQL/flexibleServers", []string{"databases", "firewallRules", "configurations", "administrators", "backups", "virtualEndpoints", "advancedThreatProtectionSettings"}, "ServerIsBusy", "recorded (firewallRules, configurations; ProvisioningServerBusy for the server)"},
		{"Microsoft.DBforMySQL/flexibleServers", []string{"databases", "firewallRules", "configurations", "administrators"}, "ServerIsBusy", "as recorded for PostgreSQL, whose service it shares; locks"},
		{"Microsoft.Cache/redis", []string{"firewallRules", "linkedServers", "accessPolicies", "accessPolicyAssignments", "patchSchedules"}, "Conflict", "hashicorp/terraform-provider-azurerm#26085: another job is in progress"},
	}
}

// Serialised is the resource in whose family ARM takes one change at a time, and
// whether there is one: a virtual network for its subnets, its peerings and
// itself. Whoever changes a member holds the answer; the outermost family counts.
func (r *Registry) Serialised(id resource.ID) (parent resource.ID, ok bool) {
	below := ""
	for at := id; !at.IsZero(); {
		if r.serialises(at.Type(), below) {
			parent, ok = at, true
		}
		if !at.IsChild() {
			break
		}
		below = strings.TrimSuffix(lastSegment(at.Type())+"/"+below, "/")
		at = at.Owner()
	}
	return parent, ok
}

// serialises reports whether the type heads a family to which what is below it
// belongs; "" is the head itself.
func (r *Registry) serialises(parentType, below string) bool {
	return below == "" && r.families[strings.ToLower(parentType)] != nil ||
		r.families[strings.ToLower(parentType)][strings.ToLower(below)]
}

// familiesOf joins the table with the rows of the authors and with the parents
// whose PUT lists their children: one that reads before a child is made and is
// sent after it would delete the child, and not every type has an ETag.
func familiesOf(entries []Entry) map[string]map[string]bool {
	joined := map[string]map[string]bool{}
	add := func(parent string, children []string) {
		parent = strings.ToLower(parent)
		if joined[parent] == nil {
			joined[parent] = map[string]bool{}
		}
		for _, child := range children {
			joined[parent][strings.ToLower(child)] = true
		}
	}
	for _, row := range families() {
		add(row.parent, row.children)
	}
	for parent, lists := range inlineChildren() {
		for _, list := range lists {
			add(parent, list.types)
		}
	}
	for _, entry := range entries {
		if len(entry.Serialises) > 0 {
			add(entry.Type, entry.Serialises)
		}
	}
	return joined
}

// leaf is a type of which nothing in ARM depends.
type leaf struct{ resourceType, reason string }

// leaves is small on purpose: a resource waits in vain for the wake of one that
// is called a leaf by mistake, until its timer. Role assignments are none:
// people let resources wait for them with dependsOn.
func leaves() []leaf {
	const rule = "a rule of its parent, without an identity that another body could name"
	return []leaf{
		{"Microsoft.DBforPostgreSQL/flexibleServers/firewallRules", rule},
		{"Microsoft.DBforMySQL/flexibleServers/firewallRules", rule},
		{"Microsoft.DBforMariaDB/servers/firewallRules", rule},
		{"Microsoft.Sql/servers/firewallRules", rule},
		{"Microsoft.Sql/servers/ipv6FirewallRules", rule},
		{"Microsoft.Synapse/workspaces/firewallRules", rule},
		{"Microsoft.Cache/redis/firewallRules", rule},
		{"Microsoft.DataLakeStore/accounts/firewallRules", rule},
		{"Microsoft.Network/networkSecurityGroups/securityRules", rule},
		{"Microsoft.Network/routeTables/routes", rule},
		{"Microsoft.DBforPostgreSQL/flexibleServers/configurations", "a setting of the server"},
		{"Microsoft.DBforMySQL/flexibleServers/configurations", "a setting of the server"},
		{"Microsoft.Authorization/locks", "it guards its scope, and nothing names it"},
		{"Microsoft.Insights/diagnosticSettings", "it reads its scope, and nothing names it"},
		{"Microsoft.Insights/autoscaleSettings", "it acts on its target, and nothing names it"},
	}
}

// Leaf reports whether a type can have no children in ARM and is nothing that
// other resources wait for: when one of its resources becomes Ready, nobody has
// to be woken.
func (r *Registry) Leaf(armType string) bool { return r.leaves[strings.ToLower(armType)] }

// leavesOf joins the table with the rows of the authors.
func leavesOf(entries []Entry) map[string]bool {
	joined := map[string]bool{}
	for _, row := range leaves() {
		joined[strings.ToLower(row.resourceType)] = true
	}
	for _, entry := range entries {
		if entry.Leaf {
			joined[strings.ToLower(entry.Type)] = true
		}
	}
	return joined
}

// lastSegment is "databases" of Microsoft.Kusto/clusters/databases.
func lastSegment(resourceType string) string {
	return resourceType[strings.LastIndex(resourceType, "/")+1:]
}
