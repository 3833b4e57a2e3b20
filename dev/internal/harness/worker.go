package harness

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/armature-io/armature/dev/internal/freeport"
)

const (
	workerReady = 60 * time.Second
	// workerStop is longer than the worker waits for running activities.
	workerStop = 45 * time.Second
)

// WorkerOptions are changes to the world's default worker.
type WorkerOptions struct {
	// Binary is the path of a worker other than the product's.
	Binary string
	// Args are the worker's flags.
	Args []string
	// Env overrides variables, as NAME=value; a value may be empty.
	Env []string
	// NotReady skips the wait for /readyz, for a worker that should fail or wait.
	NotReady bool
}

// Worker is a worker process.
type Worker struct {
	world   *World
	command *exec.Cmd
	health  string
	log     string
	exited  chan struct{}
}

// StartWorker starts a worker and waits until it is ready. The worker is killed at
// the end of the test if it still runs.
func (w *World) StartWorker(options WorkerOptions) *Worker {
	w.T.Helper()
	if options.Binary == "" {
		options.Binary = w.Binaries.Worker
	}
	file, err := os.CreateTemp(w.Folder, "worker-*.log")
	if err != nil {
		w.T.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	health := w.FreeAddress()
	env := append(w.environment(w.Sim.environment()...), "ARMATURE_HTTP_LISTEN="+health)
	env = append(env, w.Binaries.Settings...)
	worker := &Worker{world: w, health: health, log: file.Name(), exited: make(chan struct{})}
	worker.command = exec.Command(options.Binary, options.Args...)
	worker.command.Dir, worker.command.Env = w.Folder, append(env, options.Env...)
	worker.command.Stdout, worker.command.Stderr = file, file
	if err := worker.command.Start(); err != nil {
		w.T.Fatalf("start worker: %v", err)
	}
	go func() {
		_ = worker.command.Wait() // the process state has the exit code
		close(worker.exited)
	}()
	w.T.Cleanup(worker.end)
	if !options.NotReady {
		worker.WaitReady()
	}
	return worker
}

// WaitReady waits until /readyz returns 200.
func (k *Worker) WaitReady() {
	k.world.T.Helper()
	k.world.Until(workerReady, "worker is ready", func() (bool, string) {
		if !k.Running() {
			k.world.T.Fatalf("the worker ended with exit code %d\n%s", k.command.ProcessState.ExitCode(), k.Log())
		}
		code, body := k.Get("/readyz")
		return code == http.StatusOK, fmt.Sprintf("%d %s\n%s", code, body, k.Log())
	})
}

// Get requests the worker's /healthz, /readyz or /metrics. Code 0 means that there
// was no response; body has the error then.
func (k *Worker) Get(path string) (code int, body string) {
	client := http.Client{Timeout: 5 * time.Second}
	response, err := client.Get("http://" + k.health + path)
	if err != nil {
		return 0, err.Error()
	}
	defer func() { _ = response.Body.Close() }()
	var text strings.Builder
	if _, err := io.Copy(&text, response.Body); err != nil {
		return 0, err.Error()
	}
	return response.StatusCode, text.String()
}

// OpenMetrics returns /metrics as a scraper gets it that reads exemplars.
func (k *Worker) OpenMetrics() string {
	k.world.T.Helper()
	request, err := http.NewRequestWithContext(k.world.T.Context(), http.MethodGet, "http://"+k.health+"/metrics", http.NoBody)
	if err != nil {
		k.world.T.Fatal(err)
	}
	request.Header.Set("Accept", "application/openmetrics-text; version=1.0.0")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		k.world.T.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	content, err := io.ReadAll(response.Body)
	if err != nil {
		k.world.T.Fatal(err)
	}
	return string(content)
}

// PID returns the process ID.
func (k *Worker) PID() int { return k.command.Process.Pid }

// Running reports whether the process has not exited.
func (k *Worker) Running() bool {
	select {
	case <-k.exited:
		return false
	default:
		return true
	}
}

// Kill sends SIGKILL to the worker and waits until it has exited.
func (k *Worker) Kill() {
	k.world.T.Helper()
	if err := k.command.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		k.world.T.Fatalf("kill worker: %v", err)
	}
	<-k.exited
}

// Stop stops the worker as an orchestrator does (SIGTERM) and returns its exit
// code.
func (k *Worker) Stop() int {
	k.world.T.Helper()
	if err := k.command.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		k.world.T.Fatalf("stop worker: %v", err)
	}
	return k.WaitExit(workerStop)
}

// Terminate sends SIGTERM to the worker and does not wait.
func (k *Worker) Terminate() {
	k.world.T.Helper()
	if err := k.command.Process.Signal(syscall.SIGTERM); err != nil {
		k.world.T.Fatalf("stop worker: %v", err)
	}
}

// WaitExit waits until the worker exits by itself and returns its exit code.
func (k *Worker) WaitExit(timeout time.Duration) int {
	k.world.T.Helper()
	k.world.Until(timeout, "worker ends", func() (bool, string) { return !k.Running(), k.Log() })
	return k.command.ProcessState.ExitCode()
}

// Log returns what the worker has logged so far.
func (k *Worker) Log() string {
	data, err := os.ReadFile(k.log)
	if err != nil {
		return err.Error()
	}
	return string(data)
}

// end kills the worker if it still runs, and logs its output if the test failed.
func (k *Worker) end() {
	if k.Running() {
		_ = k.command.Process.Kill()
		<-k.exited
	}
	if k.world.T.Failed() {
		k.world.T.Logf("log of %s:\n%s", filepath.Base(k.log), k.Log())
	}
}

// FreeAddress returns a loopback address that stays reserved until the end of the
// test, because a worker may listen late.
func (w *World) FreeAddress() string {
	w.T.Helper()
	ports, err := freeport.Reserve(0)
	if err != nil {
		w.T.Fatal(err)
	}
	w.T.Cleanup(ports.Release)
	return freeport.Address(ports.Numbers[0])
}
