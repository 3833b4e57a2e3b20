package extensions

import (
	"context"
	"log/slog"

	"github.com/armature-io/armature/resource"
)

var _ ARMResourceModifier = RouteTable{}

// RouteTableType is the ARM type of a route table.
const RouteTableType = "Microsoft.Network/routeTables"

// RouteTable keeps the routes that the manifest does not list: a PUT without
// them would delete them.
type RouteTable struct{}

// ModifyARMResource lists the routes that Azure shows.
func (RouteTable) ModifyARMResource(
	ctx context.Context,
	payload map[string]any,
	obj *resource.Object,
	owner *resource.Object,
	resolver Resolver,
	client ARMClient,
	log *slog.Logger,
	next ARMResourceModifierFunc,
) (map[string]any, error) {
	return keepChildren(ctx, "properties.routes", payload, obj, owner, resolver, client, log, next)
}
