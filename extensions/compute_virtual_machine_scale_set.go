package extensions

import (
	"context"
	"log/slog"

	"github.com/armature-io/armature/resource"
)

var _ ARMResourceModifier = VirtualMachineScaleSet{}

// VirtualMachineScaleSet keeps the extensions that the manifest does not list: a PUT without
// them would delete them.
type VirtualMachineScaleSet struct{}

// ModifyARMResource lists the extensions that Azure shows.
func (VirtualMachineScaleSet) ModifyARMResource(
	ctx context.Context,
	payload map[string]any,
	obj *resource.Object,
	owner *resource.Object,
	resolver Resolver,
	client ARMClient,
	log *slog.Logger,
	next ARMResourceModifierFunc,
) (map[string]any, error) {
	return keepChildren(ctx, "properties.virtualMachineProfile.extensionProfile.extensions", payload, obj, owner, resolver, client, log, next)
}
