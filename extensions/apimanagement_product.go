package extensions

import (
	"context"
	"log/slog"
	"net/url"

	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/resource"
)

var _ Deleter = APIManagementProduct{}

// APIManagementProductType is the ARM type of a product of an API service.
const APIManagementProductType = "Microsoft.ApiManagement/service/products"

// APIManagementProduct deletes a product together with its subscriptions:
// without that ARM refuses while there are any, and each service makes some by
// itself. ARM wants an If-Match too.
type APIManagementProduct struct{}

// Delete adds what ARM wants to the plain DELETE.
func (APIManagementProduct) Delete(
	ctx context.Context, obj *resource.Object, resolver Resolver, client ARMClient, log *slog.Logger, next DeleterFunc,
) error {
	ctx = arm.WithDeleteOptions(ctx, arm.DeleteOptions{IfMatch: "*", Query: url.Values{"deleteSubscriptions": {"true"}}})
	return next(ctx, obj, resolver, client, log)
}
