package extensions_test

import (
	"testing"

	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/extensions/extensiontest"
)

const provisioning = "properties.provisioningState"

// aksWords are words of AKS for an operation.
func aksWords() []string {
	return []string{"Creating", "Updating", "Deleting", "Upgrading", "Scaling", "Starting", "Stopping", "Migrating", "RotatingClusterCertificates", "SomethingNew"}
}

func suites() map[string]extensiontest.Suite {
	aksRest := []string{"Succeeded", "Failed", "Canceled", "Running"}
	pgShut := []string{"Disabled", "Dropping", "Inaccessible", "Provisioning", "Restarting", "Starting", "Stopped", "Stopping", "Updating"}
	pgOpen := []string{"Succeeded", "Failed", "Canceled", "Ready"}
	kustoShut := []string{"Creating", "Deleting", "Moving", "Updating", "Stopped", "Stopping", "Starting"}
	kustoOpen := []string{"Succeeded", "Failed", "Canceled", "Running", "SomethingNew"}
	const cluster = groupID + "/providers/Microsoft.ContainerService/managedClusters/c1"
	const server = groupID + "/providers/Microsoft.DBforPostgreSQL/flexibleServers/s1"
	const rest = groupID + "/providers/"
	pgOwner := []extensiontest.States{{Path: "properties.state", Block: pgShut, Pass: pgOpen, Message: "Owning FlexibleServer is in state %q"}}
	return map[string]extensiontest.Suite{
		"AKS cluster": {
			Entry: extensions.Entry{Type: extensions.ContainerServiceManagedClusterType, Link: extensions.ContainerServiceManagedCluster{}}, ID: cluster,
			Self: []extensiontest.States{{Path: provisioning, Block: aksWords(), Pass: aksRest, Message: "Managed cluster is in provisioning state %q"}},
		},
		"AKS agent pool": {
			Entry: extensions.Entry{Type: extensions.ContainerServiceAgentPoolType, Link: extensions.ContainerServiceAgentPool{}}, ID: cluster + "/agentPools/p1",
			Owner: []extensiontest.States{{Path: provisioning, Block: aksWords(), Pass: aksRest, Message: "Managed cluster %q is in provisioning state %q", OfName: true}},
			Self:  []extensiontest.States{{Path: provisioning, Block: aksWords(), Pass: aksRest, Message: "Managed cluster agent pool is in provisioning state %q"}},
		},
		"Kusto cluster": {
			Entry: extensions.Entry{Type: extensions.KustoClusterType, Link: extensions.KustoCluster{}}, ID: clusterID,
			Self: []extensiontest.States{
				{Path: provisioning, Block: kustoShut, Pass: kustoOpen, Message: "Cluster is in provisioning state %q"},
				{Path: "properties.state", Block: kustoShut, Pass: kustoOpen, Message: "Cluster is in state %q"},
			},
		},
		"Kusto database": {
			Entry: extensions.Entry{Type: extensions.KustoDatabaseType, Link: extensions.KustoDatabase{}}, ID: databaseID,
			Owner: []extensiontest.States{
				{Path: provisioning, Block: kustoShut, Pass: kustoOpen, Message: "Owning cluster is in provisioning state %q"},
				{Path: "properties.state", Block: kustoShut, Pass: kustoOpen, Message: "Owning cluster is in state %q"},
			},
		},
		"PostgreSQL server": {
			Entry: extensions.Entry{Type: extensions.PostgreSQLFlexibleServerType, Link: extensions.PostgreSQLFlexibleServer{}}, ID: server,
			Self: []extensiontest.States{{Path: "properties.state", Block: pgShut, Pass: pgOpen, Message: "Flexible Server is in state %q"}},
		},
		"PostgreSQL database": {
			Entry: extensions.Entry{Type: extensions.PostgreSQLDatabaseType, Link: extensions.PostgreSQLDatabase{}}, ID: server + "/databases/d1", Owner: pgOwner,
		},
		"PostgreSQL firewall rule": {
			Entry: extensions.Entry{Type: extensions.PostgreSQLFirewallRuleType, Link: extensions.PostgreSQLFirewallRule{}}, ID: server + "/firewallRules/r1", Owner: pgOwner,
		},
		"Cassandra data center": {
			Entry: extensions.Entry{Type: extensions.CassandraDataCenterType, Link: extensions.CassandraDataCenter{}}, ID: rest + "Microsoft.DocumentDB/cassandraClusters/c1/dataCenters/d1",
			Owner: []extensiontest.States{{
				Path: provisioning, Block: []string{"Canceled", "Creating", "Deleting", "Failed", "Updating"}, Pass: []string{"Succeeded"},
				Message: "Owning CassandraCluster is in provisioning state %q",
			}},
		},
		"Cosmos account": {
			Entry: extensions.Entry{Type: extensions.CosmosDatabaseAccountType, Link: extensions.CosmosDatabaseAccount{}}, ID: rest + "Microsoft.DocumentDB/databaseAccounts/a1",
			Self: []extensiontest.States{{
				Path: provisioning, Block: []string{"Deleting"}, Pass: []string{"Succeeded", "Updating", "Creating", "Failed"},
				Message: "reconcile blocked while account is at status deleting",
			}},
		},
		"OpenShift cluster": {
			Entry: extensions.Entry{Type: extensions.HcpOpenShiftClusterType, Link: extensions.HcpOpenShiftCluster{}}, ID: rest + "Microsoft.RedHatOpenShift/hcpOpenShiftClusters/c1",
			Self: []extensiontest.States{{
				Path: provisioning, Block: []string{"Deleting"}, Pass: []string{"Succeeded", "Updating", "Accepted", "Failed"},
				Message: "reconcile blocked while hcpOpenShiftCluster is at status deleting",
			}},
		},
		"Scale set instance": {
			Entry: extensions.Entry{Type: extensions.ScaleSetInstanceType, Link: extensions.ScaleSetInstance{}}, ID: rest + "Microsoft.Compute/virtualMachineScaleSets/s1/virtualMachines/0",
			Owner: []extensiontest.States{{
				Path: provisioning, Block: []string{"Updating", "Deallocating", "Deleting"}, Pass: []string{"Running", "Succeeded"},
				Message: "Owning scale set is in provisioning state %q",
			}},
		},
		"Backup instance": {
			Entry: extensions.Entry{Type: extensions.BackupInstanceType, Link: extensions.BackupInstance{}}, ID: rest + "Microsoft.DataProtection/backupVaults/v1/backupInstances/b1",
			Post: []extensiontest.States{{
				Path: "properties.protectionStatus.status", Block: []string{"ConfiguringProtection", "UpdatingProtection", "ProtectionError"},
				Pass: []string{
					"ConfiguringProtectionFailed", "Invalid", "NotProtected", "ProtectionConfigured", "SoftDeleted", "ProtectionStopped",
					"BackupSchedulesSuspended", "RetentionSchedulesSuspended",
				},
				Message: "Backup Instance is in non terminal state %q",
			}},
		},
		"Private endpoint": {
			Entry: extensions.Entry{Type: extensions.PrivateEndpointType, Link: extensions.PrivateEndpoint{}}, ID: rest + "Microsoft.Network/privateEndpoints/p1",
			Around: `{"properties":{"manualPrivateLinkServiceConnections":[{"id":"/c1","properties":{"privateLinkServiceConnectionState":{}}}]}}`,
			Post: []extensiontest.States{{
				Path:  "properties.manualPrivateLinkServiceConnections[0].properties.privateLinkServiceConnectionState.status",
				Block: []string{"Pending"}, Pass: []string{"Approved"}, Message: "Private connection(s) '[\"/c1\"]' to the PrivateEndpoint requires approval",
			}},
		},
	}
}

func TestBuiltInChecks(t *testing.T) {
	for name, suite := range suites() {
		t.Run(name, func(t *testing.T) { extensiontest.Run(t, suite) })
	}
}

// Every checker that comes with Armature has a suite, or a test of its own that
// is named here.
func TestBuiltInChecksAreTried(t *testing.T) {
	tried := map[string]bool{"extensions.RoleAssignment": true, "extensions.fixture": true}
	for _, suite := range suites() {
		tried[typeName(suite.Entry.Link)] = true
	}
	for _, entry := range extensions.BuiltIn() {
		_, owner := entry.Link.(extensions.PreReconciliationOwnerChecker)
		_, pre := entry.Link.(extensions.PreReconciliationChecker)
		_, post := entry.Link.(extensions.PostReconciliationChecker)
		if name := typeName(entry.Link); (owner || pre || post) && !tried[name] {
			t.Errorf("%s for %s is tried by no suite", name, entry.Type)
		}
	}
}
