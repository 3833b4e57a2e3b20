package extensions

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/armature-io/armature/resource"
)

var _ PreReconciliationOwnerChecker = ScaleSetInstance{}

// Types of a virtual machine scale set and of its instances.
const (
	ScaleSetType         = "Microsoft.Compute/virtualMachineScaleSets"
	ScaleSetInstanceType = "Microsoft.Compute/virtualMachineScaleSets/virtualMachines"
)

// ScaleSetInstance leaves an instance alone while its scale set changes it.
type ScaleSetInstance struct{}

// PreReconcileOwnerCheck blocks while the scale set is updating, deallocating or
// deleting; other operations are the default's to judge.
func (ScaleSetInstance) PreReconcileOwnerCheck(
	ctx context.Context,
	owner *resource.Object,
	resolver Resolver,
	client ARMClient,
	log *slog.Logger,
	next PreReconcileOwnerCheckFunc,
) (PreReconcileCheckResult, error) {
	if isType(owner, ScaleSetType) {
		if state := owner.ProvisioningState(); among(state, "Updating", "Deallocating", "Deleting") {
			return BlockReconcile(fmt.Sprintf("Owning scale set is in provisioning state %q", state)), nil
		}
	}
	return next(ctx, owner, resolver, client, log)
}
