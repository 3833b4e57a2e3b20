package azure_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/armature-io/armature/extensions/azure"
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
			Entry: checkOf(azure.KustoClusterType), ID: clusterID,
			Self: []extensiontest.States{
				{Path: provisioning, Block: kustoShut, Pass: kustoOpen, Message: "Cluster is in provisioning state %q"},
				{Path: "properties.state", Block: kustoShut, Pass: kustoOpen, Message: "Cluster is in state %q"},
			},
		},
		"Kusto database": {
			Entry: checkOf(azure.KustoDatabaseType), ID: databaseID,
			Owner: []extensiontest.States{
				{Path: provisioning, Block: kustoShut, Pass: kustoOpen, Message: "Owning cluster is in provisioning state %q"},
				{Path: "properties.state", Block: kustoShut, Pass: kustoOpen, Message: "Owning cluster is in state %q"},
			},
		},
		"PostgreSQL server":        flexibleServerSuite(),
		"PostgreSQL database":      postgresDatabaseSuite(),
		"PostgreSQL firewall rule": firewallRuleSuite(),
		"Cassandra data center": {
			Entry: checkOf("Microsoft.DocumentDB/cassandraClusters/dataCenters"), ID: rest + "Microsoft.DocumentDB/cassandraClusters/c1/dataCenters/d1",
			Owner: []extensiontest.States{{
				Path: provisioning, Block: []string{"Canceled", "Creating", "Deleting", "Failed", "Updating"}, Pass: []string{"Succeeded"},
				Message: "Owning CassandraCluster is in provisioning state %q",
			}},
		},
		"Cosmos account": {
			Entry: checkOf("Microsoft.DocumentDB/databaseAccounts"), ID: rest + "Microsoft.DocumentDB/databaseAccounts/a1",
			Self: []extensiontest.States{{
				Path: provisioning, Block: []string{"Deleting"}, Pass: []string{"Succeeded", "Updating", "Creating", "Failed"},
				Message: "reconcile blocked while account is at status deleting",
			}},
		},
		"OpenShift cluster": {
			Entry: checkOf("Microsoft.RedHatOpenShift/hcpOpenShiftClusters"), ID: rest + "Microsoft.RedHatOpenShift/hcpOpenShiftClusters/c1",
			Self: []extensiontest.States{{
				Path: provisioning, Block: []string{"Deleting"}, Pass: []string{"Succeeded", "Updating", "Accepted", "Failed"},
				Message: "reconcile blocked while hcpOpenShiftCluster is at status deleting",
			}},
		},
		"Scale set instance": scaleSetInstanceSuite(),
		"Backup instance": {
			Entry: checkOf(azure.BackupInstanceType), ID: rest + "Microsoft.DataProtection/backupVaults/v1/backupInstances/b1",
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

// TestBuiltInChecksHaveTests: every check that ships with Armature has a suite, or a
// test of its own that is listed here.
func TestBuiltInChecksHaveTests(t *testing.T) {
	type check struct{ armType, link string }
	ownTests := []string{"azure.RoleAssignment"}
	tried := map[check]bool{}
	for _, suite := range suites() {
		tried[check{suite.Entry.Type, fmt.Sprintf("%T", suite.Entry.Link)}] = true
	}
	for _, entry := range azure.BuiltIn() {
		link := fmt.Sprintf("%T", entry.Link)
		if (isCheck(entry.Link) || entry.Facts.Checks != nil) && !slices.Contains(ownTests, link) && !tried[check{entry.Type, link}] {
			t.Errorf("no suite tests %s for %s", link, entry.Type)
		}
	}
}

// TestBuiltInEntriesAreKnown: the types of the entries are published, and no method of a
// link looks like a point that is never called.
func TestBuiltInEntriesAreKnown(t *testing.T) {
	for _, text := range builtIn(t).Warnings() {
		t.Error(text)
	}
}
