package extensions

import (
	"context"
	"log/slog"

	"github.com/armature-io/armature/resource"
)

var _ ARMResourceModifier = NetworkSecurityGroup{}

// NetworkSecurityGroupType is the ARM type of a network security group.
const NetworkSecurityGroupType = "Microsoft.Network/networkSecurityGroups"

// NetworkSecurityGroup keeps the rules that the manifest does not list: a PUT without
// them would delete them.
type NetworkSecurityGroup struct{}

// ModifyARMResource lists the rules that Azure shows.
func (NetworkSecurityGroup) ModifyARMResource(
	ctx context.Context,
	payload map[string]any,
	obj *resource.Object,
	owner *resource.Object,
	resolver Resolver,
	client ARMClient,
	log *slog.Logger,
	next ARMResourceModifierFunc,
) (map[string]any, error) {
	return keepChildren(ctx, "properties.securityRules", payload, obj, owner, resolver, client, log, next)
}
