package service

import (
	"cmp"
	"fmt"
	"log/slog"
	"slices"

	"github.com/armature-io/armature/payload"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/contrib/envconfig"
	sdklog "go.temporal.io/sdk/log"
)

// temporalOptions returns the given client options, or those of the environment and
// profiles, with the service's data converter, logger and metrics.
func temporalOptions(from Options, log *slog.Logger, metrics client.MetricsHandler, converters *payload.Converters) (client.Options, error) {
	var options client.Options
	if from.Temporal != nil {
		options = *from.Temporal
	} else {
		var err error
		if options, err = envconfig.LoadDefaultClientOptions(); err != nil {
			return options, fmt.Errorf("read Temporal's configuration (TEMPORAL_*, profile): %w", err)
		}
	}
	options.HostPort = cmp.Or(options.HostPort, client.DefaultHostPort)
	options.Namespace = cmp.Or(options.Namespace, client.DefaultNamespace)
	options.Identity = cmp.Or(options.Identity, workerIdentity())
	options.Interceptors = slices.Concat(options.Interceptors, from.Interceptors)
	converters.Apply(&options)
	if options.ConnectionOptions.GrpcCompression == nil {
		// Large payloads are compressed already.
		options.ConnectionOptions.GrpcCompression = &client.GrpcCompressionNone{}
	}
	options.Logger = sdklog.NewStructuredLogger(slog.New(quietPolls{log.Handler()}))
	options.MetricsHandler = metrics
	return options, nil
}
