package extensions

import (
	"context"
	"log/slog"

	"github.com/armature-io/armature/resource"
)

var _ ARMResourceModifier = VirtualNetwork{}

// VirtualNetworkType is the ARM type of a virtual network.
const VirtualNetworkType = "Microsoft.Network/virtualNetworks"

// VirtualNetwork keeps the subnets that the manifest does not list: a PUT without
// them would delete them.
type VirtualNetwork struct{}

// ModifyARMResource lists the subnets that Azure shows.
func (VirtualNetwork) ModifyARMResource(
	ctx context.Context,
	payload map[string]any,
	obj *resource.Object,
	owner *resource.Object,
	resolver Resolver,
	client ARMClient,
	log *slog.Logger,
	next ARMResourceModifierFunc,
) (map[string]any, error) {
	return keepChildren(ctx, "properties.subnets", payload, obj, owner, resolver, client, log, next)
}
