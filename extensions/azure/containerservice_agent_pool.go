package azure

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/resource"
)

var (
	_ extensions.PreReconciliationOwnerChecker = ContainerServiceAgentPool{}
	_ extensions.PreReconciliationChecker      = ContainerServiceAgentPool{}
)

// ContainerServiceAgentPoolType is the ARM type of an AKS agent pool.
const ContainerServiceAgentPoolType = "Microsoft.ContainerService/managedClusters/agentPools"

// ContainerServiceAgentPool waits for its cluster and for itself: AKS changes a
// cluster and its pools one at a time.
type ContainerServiceAgentPool struct{}

// managedClusterType is the ARM type of an AKS cluster.
const managedClusterType = "Microsoft.ContainerService/managedClusters"

// aksSettled returns the provisioning states in which AKS accepts changes. AKS has
// dozens of states for an operation and adds new ones (Upgrading,
// RotatingClusterCertificates, ReconcilingClusterETCDCertificates), so the settled
// ones are listed. Running is one of them: some responses show a power state here.
func aksSettled() []string { return []string{"Succeeded", "Failed", "Canceled", "Running"} }

// PreReconcileOwnerCheck blocks while the cluster is changing, for example
// Upgrading.
func (ContainerServiceAgentPool) PreReconcileOwnerCheck(
	ctx context.Context,
	owner *resource.Object,
	resolver extensions.Resolver,
	client extensions.ARMClient,
	log *slog.Logger,
	next extensions.PreReconcileOwnerCheckFunc,
) (extensions.PreReconcileCheckResult, error) {
	if isType(owner, managedClusterType) {
		if state, busy := unsettled(owner, provisioningState, aksSettled()...); busy {
			return extensions.BlockReconcile(fmt.Sprintf("Managed cluster %q is in provisioning state %q", owner.ID.Name(), state)), nil
		}
	}
	return next(ctx, owner, resolver, client, log)
}

// PreReconcileCheck blocks while the pool itself is changing.
func (ContainerServiceAgentPool) PreReconcileCheck(
	ctx context.Context,
	obj *resource.Object,
	owner *resource.Object,
	resolver extensions.Resolver,
	client extensions.ARMClient,
	log *slog.Logger,
	next extensions.PreReconcileCheckFunc,
) (extensions.PreReconcileCheckResult, error) {
	if state, busy := unsettled(obj, provisioningState, aksSettled()...); busy && !extensions.Forced(ctx) {
		return extensions.BlockReconcile(fmt.Sprintf("Managed cluster agent pool is in provisioning state %q", state)), nil
	}
	return next(ctx, obj, owner, resolver, client, log)
}
