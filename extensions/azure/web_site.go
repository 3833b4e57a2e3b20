package azure

import (
	"context"
	"log/slog"
	"net/url"

	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/resource"
)

var _ extensions.Deleter = WebSite{}

// WebSiteType is the ARM type of a web app or function app.
const WebSiteType = "Microsoft.Web/sites"

// WebSite deletes a site and keeps its plan. The DELETE of the last site of a plan
// deletes the plan too unless the request says otherwise (learn.microsoft.com, Web Apps
// - Delete).
type WebSite struct{}

// Delete adds the parameter to the plain DELETE.
func (WebSite) Delete(
	ctx context.Context, obj *resource.Object, resolver extensions.Resolver, client extensions.ARMClient, log *slog.Logger, next extensions.DeleterFunc,
) error {
	ctx = arm.WithDeleteOptions(ctx, arm.DeleteOptions{Query: url.Values{"deleteEmptyServerFarm": {"false"}}})
	return next(ctx, obj, resolver, client, log)
}
