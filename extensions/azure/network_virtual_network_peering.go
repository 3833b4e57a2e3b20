package azure

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/resource"
)

var (
	_ extensions.PreReconciliationChecker  = VirtualNetworkPeering{}
	_ extensions.PostReconciliationChecker = VirtualNetworkPeering{}
)

// VirtualNetworkPeeringType is the ARM type of one side of a peering.
const VirtualNetworkPeeringType = "Microsoft.Network/virtualNetworks/virtualNetworkPeerings"

// VirtualNetworkPeering is Ready when both sides exist. One side alone passes no
// traffic, although its PUT succeeded.
type VirtualNetworkPeering struct{}

// peeringState is the path of Initiated, Connected or Disconnected.
const peeringState = "properties.peeringState"

// PreReconcileCheck requests a PUT of a side that is Disconnected: the other side
// was deleted, and Azure accepts it again only after a PUT of this one.
func (VirtualNetworkPeering) PreReconcileCheck(
	ctx context.Context,
	obj *resource.Object,
	owner *resource.Object,
	resolver extensions.Resolver,
	client extensions.ARMClient,
	log *slog.Logger,
	next extensions.PreReconcileCheckFunc,
) (extensions.PreReconcileCheckResult, error) {
	result, err := next(ctx, obj, owner, resolver, client, log)
	if err != nil || result.Action() != resource.ActionSkip {
		return result, err
	}
	if state, _ := obj.StringAt(peeringState); equalFoldAny(state, "Disconnected") {
		return extensions.ProceedWithReconcile(), nil
	}
	return result, nil
}

// PostReconcileCheck fails while the other side is missing.
func (VirtualNetworkPeering) PostReconcileCheck(
	ctx context.Context,
	obj *resource.Object,
	owner *resource.Object,
	resolver extensions.Resolver,
	client extensions.ARMClient,
	log *slog.Logger,
	next extensions.PostReconcileCheckFunc,
) (extensions.PostReconcileCheckResult, error) {
	remote := "the other network"
	if text, known := obj.StringAt("properties.remoteVirtualNetwork.id"); known {
		if id, err := resource.ParseID(text); err == nil {
			remote = fmt.Sprintf("%q", id.Short())
		}
	}
	switch state, _ := obj.StringAt(peeringState); {
	// The peering of the other side does not exist.
	case equalFoldAny(state, "Initiated"):
		return extensions.PostReconcileCheckResultFailure(fmt.Sprintf("The peering is Initiated: %s has no peering back yet; create it there", remote)), nil
	// The other side existed and was deleted: no PUT of this side reconnects them.
	case equalFoldAny(state, "Disconnected"):
		return extensions.PostReconcileCheckResultFailure(fmt.Sprintf("The peering is Disconnected: %s or its peering back was deleted; recreate it there", remote)), nil
	}
	return next(ctx, obj, owner, resolver, client, log)
}
