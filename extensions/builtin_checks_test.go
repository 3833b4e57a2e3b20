package extensions_test

import (
	"maps"
	"testing"

	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/extensions/extensiontest"
)

const provisioning = "properties.provisioningState"

func suites() map[string]extensiontest.Suite {
	kustoShut := []string{"Creating", "Deleting", "Moving", "Updating", "Stopped", "Stopping", "Starting"}
	kustoOpen := []string{"Succeeded", "Failed", "Canceled", "Running", "SomethingNew"}
	const rest = groupID + "/providers/"
	all := map[string]extensiontest.Suite{
		"AKS cluster":    managedClusterSuite(),
		"AKS agent pool": agentPoolSuite(),
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
		"PostgreSQL server":        flexibleServerSuite(),
		"PostgreSQL database":      postgresDatabaseSuite(),
		"PostgreSQL firewall rule": firewallRuleSuite(),
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
		"Scale set instance": scaleSetInstanceSuite(),
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
		"Virtual network peering": peeringSuite(), "Storage account": storageAccountSuite(),
	}
	maps.Copy(all, privateEndpointSuites())
	return all
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
