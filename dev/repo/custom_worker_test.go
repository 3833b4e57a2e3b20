package repo

import (
	"bytes"
	"context"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// customWorker is the example of a worker with a custom extension.
const customWorker = "examples/custom-worker"

// maxMainLines bounds its main.go: adding a check must stay that easy.
const maxMainLines = 25

func TestCustomWorkerIsShort(t *testing.T) {
	main, err := os.ReadFile(filepath.Join(customWorker, "main.go"))
	if err != nil {
		t.Fatal(err)
	}
	if lines := bytes.Count(main, []byte("\n")); lines > maxMainLines {
		t.Errorf("main.go has %d lines, want at most %d", lines, maxMainLines)
	}
}

// copyExample copies an example to a temporary folder as a module that replaces
// this one by its path, and returns the folder. Its go.sum is that of both
// modules, so that a newer dependency here needs no change in the example.
func copyExample(t *testing.T, example string) string {
	t.Helper()
	folder := t.TempDir()
	entries, err := os.ReadDir(example)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		data, err := os.ReadFile(filepath.Join(example, entry.Name()))
		if err != nil {
			t.Fatal(err)
		}
		if entry.Name() == "go.sum" {
			more, err := os.ReadFile("go.sum")
			if err != nil {
				t.Fatal(err)
			}
			data = append(data, more...)
		}
		if err := os.WriteFile(filepath.Join(folder, entry.Name()), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	root, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	runGo(t, folder, "mod", "edit", "-replace", module+"="+root)
	return folder
}

// runGo runs the go command in a folder.
func runGo(t *testing.T, folder string, args ...string) {
	t.Helper()
	command := exec.Command("go", args...)
	command.Dir = folder
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// output collects what a process writes; it is safe to read while the process runs.
type output struct {
	mu  sync.Mutex
	all bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.all.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.all.String()
}

// waitFor waits until a process has written a text.
func (o *output) waitFor(ctx context.Context, t *testing.T, text string) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !strings.Contains(o.String(), text) {
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("%q was never written: %s", text, o)
		}
	}
}

// TestCustomWorker builds the example, runs its test, and starts it without a
// Temporal server: it is alive, reports that it is not ready, and stops on SIGTERM.
func TestCustomWorker(t *testing.T) {
	folder := copyExample(t, customWorker)
	runGo(t, folder, "test", "-mod=mod", "./...")
	runGo(t, folder, "build", "-mod=mod", "-o", "worker", ".")
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := free.Addr().String()
	if err := free.Close(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	log := &output{}
	worker := exec.CommandContext(ctx, filepath.Join(folder, "worker"), "--http-listen", address, "--azure-cloud", "custom", "--azure-endpoint", "http://127.0.0.1:1", "--azure-credential", "none")
	worker.Env = append(os.Environ(), "TEMPORAL_ADDRESS=127.0.0.1:1")
	worker.Stdout, worker.Stderr = log, log
	if err := worker.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = worker.Process.Kill() }()
	waitForStatus(ctx, t, "http://"+address+"/healthz", http.StatusOK, log)
	waitForStatus(ctx, t, "http://"+address+"/readyz", http.StatusServiceUnavailable, log)
	log.waitFor(ctx, t, "worker starts")
	if err := worker.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := worker.Wait(); err != nil {
		t.Errorf("a stop by signal is no error: %v\n%s", err, log)
	}
}

// TestReadinessWorker runs the tests of the example with checks that need Go.
func TestReadinessWorker(t *testing.T) {
	runGo(t, copyExample(t, "examples/readiness-worker"), "test", "-mod=mod", "./...")
}

// waitForStatus waits until a URL returns a status.
func waitForStatus(ctx context.Context, t *testing.T, url string, want int, log *output) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			t.Fatal(err)
		}
		response, err := http.DefaultClient.Do(request)
		if err == nil {
			_ = response.Body.Close()
			if response.StatusCode == want {
				return
			}
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("%s never returned %d: %v\n%s", url, want, err, log)
		}
	}
}
