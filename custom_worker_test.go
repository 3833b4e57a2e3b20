package armature_test

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

// customWorker is the example of a worker with an extension of its own.
const customWorker = "examples/custom-worker"

// maxMain is how long its main may be: adding a check must stay that easy.
const maxMain = 25

func TestCustomWorkerIsShort(t *testing.T) {
	main, err := os.ReadFile(filepath.Join(customWorker, "main.go"))
	if err != nil {
		t.Fatal(err)
	}
	if lines := bytes.Count(main, []byte("\n")); lines > maxMain {
		t.Errorf("main.go has %d lines, want at most %d", lines, maxMain)
	}
}

// copied is the example as an author has it: a module of its own that replaces
// this one by where it is. The sums are those of both modules, so that a newer
// dependency of this one needs no change there.
func copied(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	entries, err := os.ReadDir(customWorker)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		data, err := os.ReadFile(filepath.Join(customWorker, entry.Name()))
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
	goIn(t, folder, "mod", "edit", "-replace", module+"="+root)
	return folder
}

// goIn runs the go command in a folder.
func goIn(t *testing.T, folder string, args ...string) {
	t.Helper()
	command := exec.Command("go", args...)
	command.Dir = folder
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// output is what a process writes, safe to read while it runs.
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

// TestCustomWorker builds the example, runs its test, starts it without a
// Temporal: it lives, says what it misses, and ends when told.
func TestCustomWorker(t *testing.T) {
	folder := copied(t)
	goIn(t, folder, "test", "-mod=mod", "./...")
	goIn(t, folder, "build", "-mod=mod", "-o", "worker", ".")
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
	said := &output{}
	worker := exec.CommandContext(ctx, filepath.Join(folder, "worker"), "--http-listen", address, "--azure-cloud", "custom", "--azure-endpoint", "http://127.0.0.1:1", "--azure-credential", "none")
	worker.Env = append(os.Environ(), "TEMPORAL_ADDRESS=127.0.0.1:1")
	worker.Stdout, worker.Stderr = said, said
	if err := worker.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = worker.Process.Kill() }()
	answers(ctx, t, "http://"+address+"/healthz", http.StatusOK, said)
	answers(ctx, t, "http://"+address+"/readyz", http.StatusServiceUnavailable, said)
	if !strings.Contains(said.String(), "worker starts") {
		t.Errorf("log: %s", said)
	}
	if err := worker.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := worker.Wait(); err != nil {
		t.Errorf("a stop by signal is no error: %v\n%s", err, said)
	}
}

// answers waits until a URL gives a status.
func answers(ctx context.Context, t *testing.T, url string, want int, said *output) {
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
			t.Fatalf("%s never answered %d: %v\n%s", url, want, err, said)
		}
	}
}
