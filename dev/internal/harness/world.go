package harness

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"go.temporal.io/sdk/client"

	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/dev/temporaldev"
	"github.com/armature-io/armature/payload"
	"github.com/armature-io/armature/workflows"
)

// Identity of the worker at a simulator that wants tokens.
const (
	TenantID     = "aaaaaaaa-0000-0000-0000-000000000001"
	ClientID     = "aaaaaaaa-0000-0000-0000-000000000002"
	ClientSecret = "e2e-client-secret-4711"
)

// Options of a [World]. The zero value works: plain HTTP, no credential, sixty
// simulated seconds in one.
type Options struct {
	// Simulator is handed to armsim; its TimeScale 0 means 60 here.
	Simulator armsim.Options
	// TLS serves the simulator over HTTPS with its own CA and makes it want the
	// tokens of [ClientID] and [ClientSecret].
	TLS bool
	// NoSearchAttributes leaves the namespace as it comes, for tests of setup.
	NoSearchAttributes bool
	// ContinueAsNewAfter is handed to temporaldev.
	ContinueAsNewAfter int
	// Temporal is host:port of a server that runs elsewhere and has the search
	// attributes; "" starts one.
	Temporal string
}

// World is everything a scenario has. Its methods fail the test.
type World struct {
	T        testing.TB
	Binaries Binaries
	// Folder is where CLI and workers run; files that a scenario writes go here.
	Folder string
	// Temporal is the world's own server; a world on a server that runs elsewhere
	// has none.
	Temporal *temporaldev.Server
	// address is the Temporal server's, host:port.
	address string
	// Client decodes payloads as the product does.
	Client client.Client
	Sim    *Sim
	// Env is added to the environment of every worker and CLI call.
	Env []string
	// Started, where it is set, is told the process ID of each call of the CLI.
	Started func(pid int)
}

// New starts a server and a simulator that end with the test.
func New(t testing.TB, binaries Binaries, options Options) *World {
	t.Helper()
	w := &World{T: t, Binaries: binaries, Folder: t.TempDir(), address: options.Temporal}
	if w.address == "" {
		w.startTemporal(options)
	}
	var err error
	w.Client, err = client.Dial(client.Options{
		HostPort: w.address, Namespace: temporaldev.Namespace,
		DataConverter: payload.DataConverter(), Logger: silent{},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Client.Close)
	w.Sim = startSim(t, w.Folder, options)
	return w
}

// startTemporal starts a server that ends with the test.
func (w *World) startTemporal(options Options) {
	w.T.Helper()
	set := temporaldev.Options{SearchAttributes: workflows.SearchAttributes(), ContinueAsNewAfter: options.ContinueAsNewAfter}
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

// On is the world for a subtest: what fails there fails there.
func (w *World) On(t testing.TB) *World {
	other := *w
	other.T = t
	return &other
}

// Write writes a file of the scenario and returns its path.
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

// environment is that of CLI and workers: nothing of the user's own settings.
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

// WorkerEnvironment is what a worker of the world finds: Temporal and the
// simulator. It is enough for the CLI too.
func (w *World) WorkerEnvironment() []string { return w.environment(w.Sim.environment()...) }

// Until asks every 100 ms until the condition holds; after the timeout the test
// fails and says what was waited for and what the last answer was.
func (w *World) Until(timeout time.Duration, what string, condition func() (done bool, answer string)) {
	w.T.Helper()
	ctx, cancel := context.WithTimeout(w.T.Context(), timeout)
	defer cancel()
	ticker := time.NewTicker(100 * time.Millisecond)
	defer ticker.Stop()
	for {
		done, answer := condition()
		if done {
			return
		}
		select {
		case <-ctx.Done():
			w.T.Fatalf("waited %s for: %s\nlast answer: %s", timeout, what, answer)
		case <-ticker.C:
		}
	}
}

// silent drops the client's log: a server that stops is no news in a test.
type silent struct{}

func (silent) Debug(string, ...any) {}
func (silent) Info(string, ...any)  {}
func (silent) Warn(string, ...any)  {}
func (silent) Error(string, ...any) {}
