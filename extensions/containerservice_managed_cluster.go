package extensions

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/armature-io/armature/resource"
)

var _ PreReconciliationChecker = ContainerServiceManagedCluster{}

// ContainerServiceManagedClusterType is the ARM type of an AKS cluster.
const ContainerServiceManagedClusterType = "Microsoft.ContainerService/managedClusters"

// ContainerServiceManagedCluster waits for an AKS cluster that is changing.
type ContainerServiceManagedCluster struct{}

// aksResting are the provisioning states in which AKS takes changes. AKS has
// dozens of words for an operation, and makes new ones (Upgrading,
// RotatingClusterCertificates, ReconcilingClusterETCDCertificates), so the ones
// at rest are listed. Running is at rest: it is a power state in some answers.
func aksResting() []string { return []string{"Succeeded", "Failed", "Canceled", "Running"} }

// PreReconcileCheck blocks while an operation goes on: a PUT would be refused.
func (ContainerServiceManagedCluster) PreReconcileCheck(
	ctx context.Context,
	obj *resource.Object,
	owner *resource.Object,
	resolver Resolver,
	client ARMClient,
	log *slog.Logger,
	next PreReconcileCheckFunc,
) (PreReconcileCheckResult, error) {
	if state, busy := unsettled(obj, provisioningState, aksResting()...); busy && !Forced(ctx) {
		return BlockReconcile(fmt.Sprintf("Managed cluster is in provisioning state %q", state)), nil
	}
	return next(ctx, obj, owner, resolver, client, log)
}
