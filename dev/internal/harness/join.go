package harness

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http"
	"testing"
	"time"

	"go.temporal.io/sdk/client"

	"github.com/armature-io/armature/dev/temporaldev"
	"github.com/armature-io/armature/internal/payload"
)

// Servers are the addresses of running servers that a world joins.
type Servers struct {
	// Temporal is host:port of the Temporal server.
	Temporal string
	// Simulator is the simulator's URL, CA its certificate authority in PEM.
	Simulator string
	CA        []byte
	// SimulatorAddress is host:port to dial for Simulator; "" resolves its name.
	SimulatorAddress string
}

// Join returns a world of servers and workers that run already and continue after
// the test. Its [World.StartWorker] and [World.RestartTemporal] must not be used.
func Join(t testing.TB, binaries Binaries, servers Servers) *World {
	t.Helper()
	w := &World{T: t, Binaries: binaries, Folder: t.TempDir(), address: servers.Temporal}
	var err error
	w.Client, err = client.NewLazyClient(client.Options{
		HostPort: servers.Temporal, Namespace: temporaldev.Namespace,
		DataConverter: payload.DataConverter(), Logger: discardLogger(),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Client.Close)
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(servers.CA) {
		t.Fatalf("the simulator's CA is not PEM: %q", servers.CA)
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}}
	if servers.SimulatorAddress != "" {
		transport.DialContext = func(ctx context.Context, network, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, network, servers.SimulatorAddress)
		}
	}
	t.Cleanup(transport.CloseIdleConnections)
	w.Sim = &Sim{t: t, url: servers.Simulator, tls: true, client: &http.Client{Timeout: 10 * time.Second, Transport: transport}}
	return w
}
