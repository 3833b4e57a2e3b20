package service_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/armature-io/armature/service"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"
)

// counting is an interceptor that counts the clients that use it.
type counting struct {
	interceptor.InterceptorBase
	clients atomic.Int64
}

func (c *counting) InterceptClient(next interceptor.ClientOutboundInterceptor) interceptor.ClientOutboundInterceptor {
	c.clients.Add(1)
	return next
}

// TestInterceptors checks that a worker uses the interceptors of its options beside
// those of the Temporal client.
func TestInterceptors(t *testing.T) {
	own, added := &counting{}, &counting{}
	address := listenTemporal(t, &fakeTemporal{mayRegister: true}, "127.0.0.1:0")
	r := startWith(t, settings(newEndpoint(t)), service.Options{
		Temporal:     &client.Options{HostPort: address, Interceptors: []interceptor.ClientInterceptor{own}},
		Interceptors: []interceptor.ClientInterceptor{added},
	})
	eventually(t, "the worker is ready", func() bool { status, _ := r.get(t, "/readyz"); return status == http.StatusOK })
	const clients = 2 // one polls, one sends the requests of activities
	if own.clients.Load() != clients || added.clients.Load() != clients {
		t.Errorf("%d clients use the interceptor of the client and %d the added one, want both all of them", own.clients.Load(), added.clients.Load())
	}
}

// TestPlugins checks that a plugin of an embedder configures the client once and the worker,
// and that one that fails ends the worker with its name.
func TestPlugins(t *testing.T) {
	var clients, workers atomic.Int64
	plugin, err := temporal.NewSimplePlugin(temporal.SimplePluginOptions{
		Name:            "example.com/both",
		ConfigureClient: func(context.Context, client.PluginConfigureClientOptions) error { clients.Add(1); return nil },
		ConfigureWorker: func(context.Context, worker.PluginConfigureWorkerOptions) error { workers.Add(1); return nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	address := listenTemporal(t, &fakeTemporal{mayRegister: true}, "127.0.0.1:0")
	r := startWith(t, settings(newEndpoint(t)), service.Options{
		Temporal: &client.Options{HostPort: address}, Plugins: []client.Plugin{plugin},
	})
	eventually(t, "the worker is ready", func() bool { status, _ := r.get(t, "/readyz"); return status == http.StatusOK })
	if clients.Load() != 1 || workers.Load() == 0 {
		t.Errorf("the plugin configured the client %d times and the worker %d times", clients.Load(), workers.Load())
	}
	broken, err := temporal.NewSimplePlugin(temporal.SimplePluginOptions{
		Name:            "example.com/broken",
		ConfigureWorker: func(context.Context, worker.PluginConfigureWorkerOptions) error { return errors.New("no license") },
	})
	if err != nil {
		t.Fatal(err)
	}
	err = service.Run(t.Context(), settings(newEndpoint(t)), service.Options{
		Temporal: &client.Options{HostPort: address}, WorkerPlugins: []worker.Plugin{broken}, Stderr: io.Discard,
	})
	if err == nil || !strings.Contains(err.Error(), "no license") {
		t.Errorf("a plugin that fails: %v", err)
	}
}
