package extensionhost

import (
	"context"
	"log/slog"

	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/resource"
)

func (c *call) bindSuccess(link extensions.SuccessHandler, next extensions.SuccessHandlerFunc) extensions.SuccessHandlerFunc {
	return func(ctx context.Context, obj, owner *resource.Object, resolver extensions.Resolver, client extensions.ARMClient, log *slog.Logger) (err error) {
		l := c.enter(link, obj, owner)
		defer l.finish(&err)
		return link.HandleSuccess(ctx, obj, owner, resolver, client, log, func(
			ctx context.Context, passed, passedOwner *resource.Object, resolver extensions.Resolver, client extensions.ARMClient, log *slog.Logger,
		) error {
			if err := l.passOn(ctx, log, []*resource.Object{obj, owner}, []*resource.Object{passed, passedOwner}); err != nil {
				return err
			}
			return next(ctx, passed, passedOwner, resolver, client, log)
		})
	}
}
