package backend

import (
	"context"

	"github.com/armature-io/armature/internal/payload"
	"github.com/armature-io/armature/starter/internal/cli"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/contrib/envconfig"
	"go.temporal.io/sdk/interceptor"
)

// Embed returns the options of a connection with the plugins and interceptors of an
// embedder, nil where it has none. The converters that a plugin sets are added to base.
func Embed(
	ctx context.Context, environment cli.Environment, plugins []client.Plugin, interceptors []interceptor.ClientInterceptor, base *payload.Options,
) (*client.Options, error) {
	if len(plugins) == 0 && len(interceptors) == 0 {
		return nil, nil //nolint:nilnil // no embedder, no options
	}
	options, err := loadOptions(Options{Environment: environment})
	if err != nil {
		return nil, err
	}
	if err := payload.Configure(ctx, &options, plugins, base); err != nil {
		return nil, cli.BadInput("%w", err)
	}
	options.Interceptors = append(options.Interceptors, interceptors...)
	return &options, nil
}

// loadOptions returns the options of an embedder, or those of the environment.
func loadOptions(o Options) (client.Options, error) {
	if o.Embedded != nil {
		return *o.Embedded, nil
	}
	options, err := envconfig.LoadClientOptions(envconfig.LoadClientOptionsRequest{EnvLookup: o.Environment})
	if err != nil {
		return options, cli.BadInput("read the Temporal configuration: %w; check the TEMPORAL_* variables and temporal.toml", err)
	}
	return options, nil
}
