package azure

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/resource"
)

var _ extensions.PostReconciliationChecker = PrivateEndpoint{}

// PrivateEndpointType is the ARM type of a private endpoint.
const PrivateEndpointType = "Microsoft.Network/privateEndpoints"

// PrivateEndpoint is Ready when the owners of its targets have approved its
// connections.
type PrivateEndpoint struct{}

// PostReconcileCheck fails while a connection is Pending, and names the target,
// which its owner must approve. It fails permanently (severity Error, until a user acts)
// when a connection is rejected or removed, because Azure does not request it again
// by itself. A connection without a status is ignored.
func (PrivateEndpoint) PostReconcileCheck(
	ctx context.Context,
	obj *resource.Object,
	owner *resource.Object,
	resolver extensions.Resolver,
	client extensions.ARMClient,
	log *slog.Logger,
	next extensions.PostReconcileCheckFunc,
) (extensions.PostReconcileCheckResult, error) {
	var open []connection
	refused := false
	var approver []extensions.Option
	for _, c := range connections(obj) {
		// Every other state blocks: until the owner of the target approves, no traffic passes.
		if c.status == "" || equalFoldAny(c.status, "Approved") {
			continue
		}
		open, refused = append(open, c), refused || c.refused()
		// Azure approves an automatic connection by itself.
		if c.manual || c.refused() {
			approver = []extensions.Option{extensions.WithActor("the owner of the target of the connection")}
		}
	}
	switch {
	case len(open) == 0:
		return next(ctx, obj, owner, resolver, client, log)
	case refused:
		return extensions.PostReconcileCheckResultFailure(approvalMessage(open), append(approver, extensions.WithSeverity(resource.SeverityError))...), nil
	}
	return extensions.PostReconcileCheckResultFailure(approvalMessage(open), approver...), nil
}

// manualConnections is the list of the connections that a person has to approve.
const manualConnections = "manualPrivateLinkServiceConnections"

// connection is one of a private endpoint's.
type connection struct {
	name   string // its ID where Azure gives one
	status string // Pending, Approved, Rejected or Disconnected
	reason string // what the approver wrote
	target string // ID of what it connects to
	manual bool   // requested from the owner of the target
}

// connections returns the connections of an endpoint, the manual ones first.
func connections(obj *resource.Object) []connection {
	var out []connection
	for _, list := range []string{manualConnections, "privateLinkServiceConnections"} {
		value, _ := obj.At("properties." + list)
		items, _ := value.([]any)
		for i := range items {
			at := fmt.Sprintf("properties.%s[%d].", list, i)
			c := connection{manual: list == manualConnections}
			if c.name, _ = obj.StringAt(at + "id"); c.name == "" {
				c.name, _ = obj.StringAt(at + "name")
			}
			c.status, _ = obj.StringAt(at + "properties.privateLinkServiceConnectionState.status")
			c.reason, _ = obj.StringAt(at + "properties.privateLinkServiceConnectionState.description")
			c.target, _ = obj.StringAt(at + "properties.privateLinkServiceId")
			out = append(out, c)
		}
	}
	return out
}

// refused reports whether the target's owner refused; any other status is open.
func (c connection) refused() bool { return equalFoldAny(c.status, "Rejected", "Disconnected") }

// approvalMessage returns which connections are not approved, why, and what the
// owners of their targets must do.
func approvalMessage(open []connection) string {
	var names, refusals, owners []string
	for _, c := range open {
		names = append(names, c.name)
		if c.refused() {
			refusal := fmt.Sprintf("%q is %s", c.name, c.status)
			if c.reason != "" {
				refusal += fmt.Sprintf(" (%q)", c.reason)
			}
			refusals = append(refusals, refusal)
		}
		if id, err := resource.ParseID(c.target); err == nil {
			owners = append(owners, fmt.Sprintf("%q (%s)", id.Short(), id.Type()))
		}
	}
	message := fmt.Sprintf("Private connection(s) '%q' to the PrivateEndpoint requires approval", names)
	if len(refusals) > 0 {
		message += ": " + strings.Join(refusals, ", ")
	}
	if len(owners) == 0 {
		return message
	}
	slices.Sort(owners)
	message += "; the owner of " + strings.Join(slices.Compact(owners), " and ")
	if len(refusals) > 0 {
		return message + " must agree; then reconcile, or delete this endpoint"
	}
	return message + " must approve it in the Azure portal under Networking > Private access, or with az network private-endpoint-connection approve"
}
