package payload

import (
	"context"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
)

// asConfigured returns a plugin that configures no client any more. One that is a plugin of
// workers too stays one.
func asConfigured(plugin client.Plugin) client.Plugin {
	if both, ok := plugin.(worker.Plugin); ok {
		return &configuredBoth{Plugin: plugin, workers: workers{both}}
	}
	return &configuredClient{plugin}
}

var _ worker.Plugin = (*configuredBoth)(nil)

type configuredClient struct{ client.Plugin }

// ConfigureClient does nothing.
func (*configuredClient) ConfigureClient(context.Context, client.PluginConfigureClientOptions) error {
	return nil
}

// workers is one level deeper than the plugin of clients, so that Name is not ambiguous.
type workers struct{ worker.Plugin }

type configuredBoth struct {
	client.Plugin
	workers
}

// ConfigureClient does nothing.
func (*configuredBoth) ConfigureClient(context.Context, client.PluginConfigureClientOptions) error {
	return nil
}
