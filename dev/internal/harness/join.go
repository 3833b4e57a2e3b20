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
	"github.com/armature-io/armature/payload"
)

// Place is where servers run that a world joins.
type Place struct {
	// Temporal is host:port of the server.
	Temporal string
	// Simulator is the simulator's root, and CA its authority in PEM.
	Simulator string
	CA        []byte
	// SimulatorAddress is host:port to dial for Simulator; "" looks its name up.
	SimulatorAddress string
}

// Join is a world whose servers and workers run already, and go on after the
// test: it has neither [World.StartWorker] nor [World.RestartTemporal].
func Join(t testing.TB, binaries Binaries, place Place) *World {
	t.Helper()
	w := &World{T: t, Binaries: binaries, Folder: t.TempDir(), address: place.Temporal}
	var err error
	w.Client, err = client.NewLazyClient(client.Options{
		HostPort: place.Temporal, Namespace: temporaldev.Namespace,
		DataConverter: payload.DataConverter(), Logger: silent{},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Client.Close)
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(place.CA) {
		t.Fatalf("the simulator's CA is no PEM: %q", place.CA)
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}}
	if place.SimulatorAddress != "" {
		transport.DialContext = func(ctx context.Context, network, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, network, place.SimulatorAddress)
		}
	}
	t.Cleanup(transport.CloseIdleConnections)
	w.Sim = &Sim{t: t, url: place.Simulator, tls: true, client: &http.Client{Timeout: 10 * time.Second, Transport: transport}}
	return w
}
