package temporaldev_test

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"testing"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"

	"github.com/armature-io/armature/dev/temporaldev"
	"github.com/armature-io/armature/internal/payload"
)

func start(ctx context.Context, t *testing.T, folder string, options temporaldev.Options) *temporaldev.Server {
	t.Helper()
	server, err := temporaldev.Start(ctx, folder, options)
	if err != nil {
		t.Fatal(err)
	}
	// A second Stop has no effect.
	t.Cleanup(func() { _ = server.Stop() })
	return server
}

func dial(t *testing.T, server *temporaldev.Server) client.Client {
	t.Helper()
	c, err := client.Dial(client.Options{
		HostPort:      server.Address(),
		Namespace:     temporaldev.Namespace,
		DataConverter: payload.DataConverter(),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func work(t *testing.T, c client.Client) {
	t.Helper()
	w := worker.New(c, taskQueue, worker.Options{})
	w.RegisterWorkflow(echo)
	if err := w.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Stop)
}

func get(ctx context.Context, t *testing.T, address string) string {
	t.Helper()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

func portOf(t *testing.T, address *url.URL) int {
	t.Helper()
	port, err := strconv.Atoi(address.Port())
	if err != nil {
		t.Fatal(err)
	}
	return port
}
