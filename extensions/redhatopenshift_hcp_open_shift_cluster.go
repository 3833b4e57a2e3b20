package extensions

import (
	"context"
	"log/slog"
	"strings"

	"github.com/armature-io/armature/resource"
)

var _ PreReconciliationChecker = HcpOpenShiftCluster{}

// HcpOpenShiftClusterType is the ARM type of an OpenShift cluster with a hosted control plane.
const HcpOpenShiftClusterType = "Microsoft.RedHatOpenShift/hcpOpenShiftClusters"

// HcpOpenShiftCluster leaves an OpenShift cluster with a hosted control plane alone that is being deleted: it answers
// reads for as long as that takes, and a PUT meanwhile fails or is lost.
type HcpOpenShiftCluster struct{}

// PreReconcileCheck blocks while it is being deleted.
func (HcpOpenShiftCluster) PreReconcileCheck(
	ctx context.Context,
	obj *resource.Object,
	owner *resource.Object,
	resolver Resolver,
	client ARMClient,
	log *slog.Logger,
	next PreReconcileCheckFunc,
) (PreReconcileCheckResult, error) {
	if strings.EqualFold(obj.ProvisioningState(), "Deleting") && !Forced(ctx) {
		return BlockReconcile("reconcile blocked while hcpOpenShiftCluster is at status deleting"), nil
	}
	return next(ctx, obj, owner, resolver, client, log)
}
