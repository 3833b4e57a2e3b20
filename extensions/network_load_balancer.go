package extensions

import (
	"context"
	"log/slog"

	"github.com/armature-io/armature/resource"
)

var _ ARMResourceModifier = LoadBalancer{}

// LoadBalancerType is the ARM type of a load balancer.
const LoadBalancerType = "Microsoft.Network/loadBalancers"

// LoadBalancer keeps the inbound NAT rules that the manifest does not list: a PUT without
// them would delete them.
type LoadBalancer struct{}

// ModifyARMResource lists the inbound NAT rules that Azure shows.
func (LoadBalancer) ModifyARMResource(
	ctx context.Context,
	payload map[string]any,
	obj *resource.Object,
	owner *resource.Object,
	resolver Resolver,
	client ARMClient,
	log *slog.Logger,
	next ARMResourceModifierFunc,
) (map[string]any, error) {
	return keepChildren(ctx, "properties.inboundNatRules", payload, obj, owner, resolver, client, log, next)
}
