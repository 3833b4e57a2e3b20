package azure

import (
	"context"
	"log/slog"
	"strconv"
	"strings"

	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/resource"
)

var (
	_ extensions.PreReconciliationOwnerChecker = ownerStateCheck{}
	_ extensions.PreReconciliationChecker      = stateCheck{}
)

// ARM types with no more than a row in stateChecks.
const (
	// ContainerServiceManagedClusterType is the ARM type of an AKS cluster.
	ContainerServiceManagedClusterType = "Microsoft.ContainerService/managedClusters"
	// ScaleSetType is the ARM type of a virtual machine scale set.
	ScaleSetType = "Microsoft.Compute/virtualMachineScaleSets"
	// ScaleSetInstanceType is the ARM type of an instance of a scale set.
	ScaleSetInstanceType = "Microsoft.Compute/virtualMachineScaleSets/virtualMachines"
	// PostgreSQLDatabaseType is the ARM type of a database of a flexible server.
	PostgreSQLDatabaseType = "Microsoft.DBforPostgreSQL/flexibleServers/databases"
	// PostgreSQLFirewallRuleType is the ARM type of a firewall rule of a flexible server.
	PostgreSQLFirewallRuleType = "Microsoft.DBforPostgreSQL/flexibleServers/firewallRules"
	// CassandraClusterType is the ARM type of a managed Cassandra cluster.
	CassandraClusterType = "Microsoft.DocumentDB/cassandraClusters"
	// CassandraDataCenterType is the ARM type of a data center of a Cassandra cluster.
	CassandraDataCenterType = "Microsoft.DocumentDB/cassandraClusters/dataCenters"
	// CosmosDatabaseAccountType is the ARM type of a Cosmos DB account.
	CosmosDatabaseAccountType = "Microsoft.DocumentDB/databaseAccounts"
	// HcpOpenShiftClusterType is the ARM type of an OpenShift cluster with a hosted
	// control plane.
	HcpOpenShiftClusterType = "Microsoft.RedHatOpenShift/hcpOpenShiftClusters"
)

// stateChecks returns the checks that compare one state with a list.
func stateChecks() []extensions.Entry {
	// A server that is changing, stopped or closed refuses changes below it.
	belowPostgreSQL := ownerStateCheck{PostgreSQLFlexibleServerType, states{
		path: postgreSQLState, settled: postgreSQLSettled(), message: "Owning FlexibleServer is in state %q",
	}}
	// A deleting account or cluster still returns from a GET for as long as the
	// deletion takes, and a PUT meanwhile fails or is lost.
	deleting := func(message string) stateCheck {
		return stateCheck{states{path: provisioningState, busy: []string{"Deleting"}, message: message}}
	}
	return []extensions.Entry{
		{Type: ContainerServiceManagedClusterType, Link: stateCheck{states{
			path: provisioningState, settled: aksSettled(), message: "Managed cluster is in provisioning state %q",
		}}},
		{Type: PostgreSQLDatabaseType, Link: belowPostgreSQL},
		{Type: PostgreSQLFirewallRuleType, Link: belowPostgreSQL},
		// A cluster that failed takes no data center either.
		{Type: CassandraDataCenterType, Link: ownerStateCheck{CassandraClusterType, states{
			path: provisioningState, settled: []string{"Succeeded"}, message: "Owning CassandraCluster is in provisioning state %q",
		}}},
		// Other operations of a scale set are for the default to judge. Deallocating comes from
		// the specification: Azure's enum of this provisioning state does not have it, so it
		// blocks nothing today.
		{Type: ScaleSetInstanceType, Link: ownerStateCheck{ScaleSetType, states{
			path: provisioningState, busy: []string{"Updating", "Deallocating", "Deleting"}, message: "Owning scale set is in provisioning state %q",
		}}},
		{Type: CosmosDatabaseAccountType, Link: deleting("reconcile blocked while account is at status deleting")},
		{Type: HcpOpenShiftClusterType, Link: deleting("reconcile blocked while hcpOpenShiftCluster is at status deleting"),
			Evidence: "a preview type that Azure Service Operator has (redhatopenshift)"},
	}
}

// states are the values of one property that block. Either busy or settled is set.
type states struct {
	path string
	// busy are the states that block; settled are the only ones that do not.
	busy, settled []string
	// message is the text of the block, with %q for the state.
	message string
}

// blockedBy returns the text of the block if the object is in a blocking state.
func (s states) blockedBy(object *resource.Object) (message string, blocked bool) {
	state, blocked := unsettled(object, s.path, s.settled...)
	if s.busy != nil {
		blocked = equalFoldAny(state, s.busy...)
	}
	return strings.Replace(s.message, "%q", strconv.Quote(state), 1), blocked
}

// ownerStateCheck leaves a resource alone, GET included, while its owner is in
// a state that refuses changes below it.
type ownerStateCheck struct {
	ownerType string
	states    states
}

// PreReconcileOwnerCheck blocks while the owner is in a blocking state.
func (c ownerStateCheck) PreReconcileOwnerCheck(
	ctx context.Context,
	owner *resource.Object,
	resolver extensions.Resolver,
	client extensions.ARMClient,
	log *slog.Logger,
	next extensions.PreReconcileOwnerCheckFunc,
) (extensions.PreReconcileCheckResult, error) {
	if isType(owner, c.ownerType) {
		if message, blocked := c.states.blockedBy(owner); blocked {
			return extensions.BlockReconcile(message), nil
		}
	}
	return next(ctx, owner, resolver, client, log)
}

// stateCheck leaves a resource alone while it is in a state that refuses changes.
type stateCheck struct{ states states }

// PreReconcileCheck blocks while the resource is in a blocking state, unless the
// pass is forced.
func (c stateCheck) PreReconcileCheck(
	ctx context.Context,
	obj *resource.Object,
	owner *resource.Object,
	resolver extensions.Resolver,
	client extensions.ARMClient,
	log *slog.Logger,
	next extensions.PreReconcileCheckFunc,
) (extensions.PreReconcileCheckResult, error) {
	if message, blocked := c.states.blockedBy(obj); blocked && !extensions.Forced(ctx) {
		return extensions.BlockReconcile(message), nil
	}
	return next(ctx, obj, owner, resolver, client, log)
}
