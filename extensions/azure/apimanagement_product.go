package azure

import (
	"context"
	"log/slog"
	"net/url"

	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/resource"
)

var _ extensions.Deleter = APIManagementProduct{}

// APIManagementProductType is the ARM type of a product of an API service.
const APIManagementProductType = "Microsoft.ApiManagement/service/products"

// APIManagementProduct deletes a product together with its subscriptions. ARM
// refuses otherwise while there are any, and each service creates some by itself.
// ARM requires an If-Match header too.
type APIManagementProduct struct{}

// Delete adds both to the plain DELETE.
func (APIManagementProduct) Delete(
	ctx context.Context, obj *resource.Object, resolver extensions.Resolver, client extensions.ARMClient, log *slog.Logger, next extensions.DeleterFunc,
) error {
	ctx = arm.WithDeleteOptions(ctx, arm.DeleteOptions{IfMatch: "*", Query: url.Values{"deleteSubscriptions": {"true"}}})
	return next(ctx, obj, resolver, client, log)
}
