package service

import (
	"cmp"
	"fmt"
	"log/slog"
	"os"
	"slices"

	"github.com/armature-io/armature/payload"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/contrib/envconfig"
	sdklog "go.temporal.io/sdk/log"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
)

// Variables in which the Temporal worker controller passes a worker its version.
const (
	deploymentVariable = "TEMPORAL_DEPLOYMENT_NAME"
	buildVariable      = "TEMPORAL_WORKER_BUILD_ID"
)

// temporalOptions returns the given client options, or those of the environment and
// profiles, with the service's data converter, logger and metrics.
func temporalOptions(from Options, log *slog.Logger, metrics client.MetricsHandler) (client.Options, error) {
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
	options.DataConverter = payload.DataConverter()
	if options.ConnectionOptions.GrpcCompression == nil {
		// Large payloads are compressed already.
		options.ConnectionOptions.GrpcCompression = &client.GrpcCompressionNone{}
	}
	options.Logger = sdklog.NewStructuredLogger(slog.New(quietPolls{log.Handler()}))
	options.MetricsHandler = metrics
	return options, nil
}

// deploymentOptions returns the options with worker versioning enabled when both
// variables are set. One without the other is an error.
func deploymentOptions() (worker.DeploymentOptions, error) {
	name, build := os.Getenv(deploymentVariable), os.Getenv(buildVariable)
	if name == "" && build == "" {
		return worker.DeploymentOptions{}, nil
	}
	if name == "" || build == "" {
		return worker.DeploymentOptions{}, fmt.Errorf("read worker version: set both %s and %s, or neither", deploymentVariable, buildVariable)
	}
	return worker.DeploymentOptions{
		UseVersioning:             true,
		Version:                   worker.WorkerDeploymentVersion{DeploymentName: name, BuildID: build},
		DefaultVersioningBehavior: workflow.VersioningBehaviorPinned,
	}, nil
}
