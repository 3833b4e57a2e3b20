package extensions

import (
	"context"
	"fmt"
	"log/slog"
	"strings"

	"github.com/armature-io/armature/resource"
)

var _ PostReconciliationChecker = PrivateEndpoint{}

// PrivateEndpointType is the ARM type of a private endpoint.
const PrivateEndpointType = "Microsoft.Network/privateEndpoints"

// PrivateEndpoint is Ready when the other side has approved its connections.
type PrivateEndpoint struct{}

// PostReconcileCheck fails while a connection is not approved: pending, rejected
// or cut by the other side. A connection that does not say how it stands is not
// waited for.
func (PrivateEndpoint) PostReconcileCheck(
	ctx context.Context,
	obj *resource.Object,
	owner *resource.Object,
	resolver Resolver,
	client ARMClient,
	log *slog.Logger,
	next PostReconcileCheckFunc,
) (PostReconcileCheckResult, error) {
	var waiting, refused []string
	for _, list := range []string{"manualPrivateLinkServiceConnections", "privateLinkServiceConnections"} {
		connections, _ := obj.At("properties." + list)
		items, _ := connections.([]any)
		for i := range items {
			at := fmt.Sprintf("properties.%s[%d].", list, i)
			status, _ := obj.StringAt(at + "properties.privateLinkServiceConnectionState.status")
			if status == "" || strings.EqualFold(status, "Approved") {
				continue
			}
			name, _ := obj.StringAt(at + "id")
			if name == "" {
				name, _ = obj.StringAt(at + "name")
			}
			waiting = append(waiting, name)
			if !strings.EqualFold(status, "Pending") {
				refused = append(refused, fmt.Sprintf("%q is %s", name, status))
			}
		}
	}
	if len(waiting) == 0 {
		return next(ctx, obj, owner, resolver, client, log)
	}
	message := fmt.Sprintf("Private connection(s) '%q' to the PrivateEndpoint requires approval", waiting)
	if len(refused) > 0 {
		message += ": " + strings.Join(refused, ", ")
	}
	return PostReconcileCheckResultFailure(message), nil
}
