package service

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"

	"github.com/armature-io/armature/internal/payload"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/contrib/envconfig"
	sdklog "go.temporal.io/sdk/log"
)

// temporalOptions returns the given client options, or those of the environment and
// profiles, as the plugins of the embedder configure them, with the service's logger and
// metrics; and what the embedder adds to its converters, which are not set yet.
func temporalOptions(ctx context.Context, from Options, log *slog.Logger, metrics client.MetricsHandler) (client.Options, payload.Options, error) {
	var options client.Options
	embedded := payload.Options{Base: from.DataConverter, Codecs: from.PayloadCodecs}
	if from.Temporal != nil {
		options = *from.Temporal
	} else {
		var err error
		if options, err = envconfig.LoadDefaultClientOptions(); err != nil {
			return options, embedded, fmt.Errorf("read Temporal's configuration (TEMPORAL_*, profile): %w", err)
		}
	}
	options.HostPort = cmp.Or(options.HostPort, client.DefaultHostPort)
	options.Namespace = cmp.Or(options.Namespace, client.DefaultNamespace)
	options.Identity = cmp.Or(options.Identity, workerIdentity())
	if err := payload.Configure(ctx, &options, from.Plugins, &embedded); err != nil {
		return options, embedded, err //nolint:wrapcheck // it names the plugin
	}
	options.Interceptors = slices.Concat(options.Interceptors, from.Interceptors)
	if options.ConnectionOptions.GrpcCompression == nil {
		// Large payloads are compressed already.
		options.ConnectionOptions.GrpcCompression = &client.GrpcCompressionNone{}
	}
	options.Logger = sdklog.NewStructuredLogger(slog.New(quietPolls{log.Handler()}))
	options.MetricsHandler = metrics
	return options, embedded, nil
}
