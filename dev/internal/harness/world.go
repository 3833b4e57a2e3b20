package harness

import (
	"context"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"

	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/dev/internal/distance"
	"github.com/armature-io/armature/dev/temporaldev"
	"github.com/armature-io/armature/internal/payload"
	"github.com/armature-io/armature/workflows"
)

// Identity of the worker at a simulator that requires tokens.
const (
	TenantID     = "aaaaaaaa-0000-0000-0000-000000000001"
	ClientID     = "aaaaaaaa-0000-0000-0000-000000000002"
	ClientSecret = "e2e-client-secret-4711"
)

// Options of a [World]. The zero value works: plain HTTP, no credential, sixty
// simulated seconds in one.
type Options struct {
	// Simulator configures armsim; its TimeScale 0 means 60 here.
	Simulator armsim.Options
	// TLS serves the simulator over HTTPS with its own CA and makes it require
	// tokens of [ClientID] and [ClientSecret].
	TLS bool
	// Vaults serves key vaults at NAME.[VaultSuffix], which workers reach through a proxy. It
	// needs TLS.
	Vaults bool
	// ARM are the variables with which workers reach an ARM endpoint that runs already. If
	// they are set, no simulator is started, and Sim must not be used.
	ARM []string
	// NoSearchAttributes registers no search attributes, for tests of setup.
	NoSearchAttributes bool
	// ContinueAsNewAfter configures temporaldev.
	ContinueAsNewAfter int
	// Actions counts the billed actions of the server that the world starts, unless it is nil.
	Actions *temporaldev.Actions
	// Temporal is host:port of a running server that has the search attributes; ""
	// starts one.
	Temporal string
	// Converters are those of the world's client; nil are those without keys.
	Converters *payload.Converters
	// RoundTrip is the time that a request of a worker or CLI to Temporal takes on the
	// network; 0 is the value of the variable DISTANCE, or none without it.
	RoundTrip time.Duration
}

// World is the environment of one scenario: servers, workers and CLI. Its methods
// fail the test on errors.
type World struct {
	T        testing.TB
	Binaries Binaries
	// Folder is the working directory of CLI and workers, and of files that the
	// scenario writes.
	Folder string
	// Temporal is the world's own server, nil for a world on another's.
	Temporal *temporaldev.Server
	// address is host:port at which workers and CLI find the Temporal server.
	address string
	// Client decodes payloads as the product does. It is always near the server.
	Client client.Client
	Sim    *Sim
	// Env is added to the environment of every worker and CLI call.
	Env []string
	// Started is called with the process ID of each CLI call, unless it is nil.
	Started func(pid int)
}

// New returns a world with a Temporal server and a simulator that stop with the
// test.
func New(t testing.TB, binaries Binaries, options Options) *World {
	t.Helper()
	w := &World{T: t, Binaries: binaries, Folder: t.TempDir(), address: options.Temporal}
	if w.address == "" {
		w.startTemporal(options)
	}
	var err error
	if options.Converters == nil {
		options.Converters = payload.Clear()
	}
	connection := client.Options{HostPort: w.address, Namespace: temporaldev.Namespace, Logger: discardLogger()}
	options.Converters.Apply(&connection)
	w.Client, err = client.Dial(connection)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Client.Close)
	w.address = remote(t, w.address, options.RoundTrip)
	w.Sim = startSim(t, w.Folder, options)
	return w
}

// startTemporal starts a Temporal server that stops with the test.
func (w *World) startTemporal(options Options) {
	w.T.Helper()
	set := temporaldev.Options{
		SearchAttributes: workflows.SearchAttributes(), ContinueAsNewAfter: options.ContinueAsNewAfter, Actions: options.Actions,
	}
	if options.NoSearchAttributes {
		set.SearchAttributes = nil
	}
	server, err := temporaldev.Start(w.T.Context(), filepath.Join(w.Folder, "temporal"), set)
	if err != nil {
		w.T.Fatal(err)
	}
	w.Temporal, w.address = server, server.Address()
	w.T.Cleanup(func() {
		if err := w.Temporal.Stop(); err != nil {
			w.T.Error(err)
		}
	})
}

// distanceVariable is the round trip to Temporal of worlds that set none, as 30ms.
const distanceVariable = "DISTANCE"

// remote returns the address at which a server is reached over a network with this
// round trip.
func remote(t testing.TB, address string, roundTrip time.Duration) string {
	t.Helper()
	if value := os.Getenv(distanceVariable); value != "" && roundTrip == 0 {
		var err error
		if roundTrip, err = time.ParseDuration(value); err != nil {
			t.Fatalf("read %s: %v", distanceVariable, err)
		}
	}
	if roundTrip <= 0 {
		return address
	}
	proxy, err := distance.Start(address, roundTrip)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(proxy.Stop)
	return proxy.Address()
}

// Branch returns a world that shares the Temporal server and has its own task
// queue, simulator, folder and test, so that scenarios run in parallel. Resource
// IDs must differ between branches, because they are the workflow IDs.
func (w *World) Branch(t testing.TB, taskQueue string, options Options) *World {
	t.Helper()
	b := *w
	b.T, b.Folder = t, t.TempDir()
	b.Env = append(slices.Clone(w.Env), "ARMATURE_TASK_QUEUE="+taskQueue)
	b.Sim = startSim(t, b.Folder, options)
	return &b
}

// RestartTemporal stops the server and starts another on the same port and
// database. It calls down, unless nil, in between. The world must have its own
// server.
func (w *World) RestartTemporal(down func()) {
	w.T.Helper()
	_, text, err := net.SplitHostPort(w.Temporal.Address())
	if err != nil {
		w.T.Fatal(err)
	}
	port, err := strconv.Atoi(text)
	if err != nil {
		w.T.Fatal(err)
	}
	if err := w.Temporal.Stop(); err != nil {
		w.T.Fatal(err)
	}
	if down != nil {
		down()
	}
	server, err := temporaldev.Start(w.T.Context(), filepath.Join(w.Folder, "temporal"), temporaldev.Options{Port: port})
	if err != nil {
		w.T.Fatalf("restart: %v", err)
	}
	w.Temporal = server
}

// On returns the world for a subtest, so that failures are reported there.
func (w *World) On(t testing.TB) *World {
	other := *w
	other.T = t
	return &other
}

// Write writes a file into the world's folder and returns its path.
func (w *World) Write(name, content string) string {
	w.T.Helper()
	path := filepath.Join(w.Folder, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		w.T.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		w.T.Fatal(err)
	}
	return path
}

// Exists reports whether a file exists in the world's folder.
func (w *World) Exists(name string) bool {
	_, err := os.Stat(filepath.Join(w.Folder, name))
	return err == nil
}

// environment returns the environment of CLI and workers, without the user's own
// settings.
func (w *World) environment(more ...string) []string {
	env := []string{
		"PATH=" + os.Getenv("PATH"),
		"HOME=" + w.Folder,
		"TZ=UTC",
		"TEMPORAL_ADDRESS=" + w.address,
		"TEMPORAL_NAMESPACE=" + temporaldev.Namespace,
	}
	return append(append(env, w.Env...), more...)
}

// WorkerEnvironment returns the environment of a worker: Temporal and the
// simulator. It works for the CLI too.
func (w *World) WorkerEnvironment() []string { return w.environment(w.Sim.environment()...) }

// Until checks the condition every 100 ms until it is true. After the timeout, [Patience]
// times, it fails the test with the last state that the condition returned.
func (w *World) Until(timeout time.Duration, what string, condition func() (done bool, state string)) {
	w.T.Helper()
	timeout *= Patience
	ctx, cancel := context.WithTimeout(w.T.Context(), timeout)
	defer cancel()
	ticker := time.NewTicker(100 * time.Millisecond)
	defer ticker.Stop()
	for {
		done, state := condition()
		if done {
			return
		}
		select {
		case <-ctx.Done():
			w.T.Fatalf("waited %s for: %s\nlast state: %s", timeout, what, state)
		case <-ticker.C:
		}
	}
}

// discardLogger returns a logger for clients of a server that tests stop.
func discardLogger() log.Logger { return log.NewStructuredLogger(slog.New(slog.DiscardHandler)) }
