package extensions

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/armature-io/armature/resource"
)

var (
	_ PreReconciliationOwnerChecker = ContainerServiceAgentPool{}
	_ PreReconciliationChecker      = ContainerServiceAgentPool{}
)

// ContainerServiceAgentPoolType is the ARM type of an AKS agent pool.
const ContainerServiceAgentPoolType = "Microsoft.ContainerService/managedClusters/agentPools"

// ContainerServiceAgentPool waits for its cluster and for itself: AKS changes a
// cluster and its pools one at a time.
type ContainerServiceAgentPool struct{}

// PreReconcileOwnerCheck blocks while the cluster is changing, for example
// Upgrading.
func (ContainerServiceAgentPool) PreReconcileOwnerCheck(
	ctx context.Context,
	owner *resource.Object,
	resolver Resolver,
	client ARMClient,
	log *slog.Logger,
	next PreReconcileOwnerCheckFunc,
) (PreReconcileCheckResult, error) {
	if isType(owner, ContainerServiceManagedClusterType) {
		if state, busy := unsettled(owner, provisioningState, aksResting()...); busy {
			return BlockReconcile(fmt.Sprintf("Managed cluster %q is in provisioning state %q", owner.ID.Name(), state)), nil
		}
	}
	return next(ctx, owner, resolver, client, log)
}

// PreReconcileCheck blocks while the pool itself is changing.
func (ContainerServiceAgentPool) PreReconcileCheck(
	ctx context.Context,
	obj *resource.Object,
	owner *resource.Object,
	resolver Resolver,
	client ARMClient,
	log *slog.Logger,
	next PreReconcileCheckFunc,
) (PreReconcileCheckResult, error) {
	if state, busy := unsettled(obj, provisioningState, aksResting()...); busy && !Forced(ctx) {
		return BlockReconcile(fmt.Sprintf("Managed cluster agent pool is in provisioning state %q", state)), nil
	}
	return next(ctx, obj, owner, resolver, client, log)
}
