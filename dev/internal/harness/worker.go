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
	// workerStop is longer than the worker waits for activities in flight.
	workerStop = 45 * time.Second
)

// WorkerOptions say what differs from a worker of the world.
type WorkerOptions struct {
	// Binary is another worker than the product's.
	Binary string
	// Args are the worker's flags.
	Args []string
	// Env overrides, as NAME=value; a value may be empty.
	Env []string
	// NotReady does not wait for /readyz: the worker is meant to fail or wait.
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

// StartWorker starts a worker and waits until it is ready. What still runs at
// the end of the test is killed.
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
	health := freeAddress(w)
	env := append(w.environment(w.Sim.environment()...), "ARMATURE_HTTP_LISTEN="+health, "ARMATURE_REREAD_WINDOW=3s")
	worker := &Worker{world: w, health: health, log: file.Name(), exited: make(chan struct{})}
	worker.command = exec.Command(options.Binary, options.Args...)
	worker.command.Dir, worker.command.Env = w.Folder, append(env, options.Env...)
	worker.command.Stdout, worker.command.Stderr = file, file
	if err := worker.command.Start(); err != nil {
		w.T.Fatalf("start worker: %v", err)
	}
	go func() {
		_ = worker.command.Wait() // the state tells what a test asks for
		close(worker.exited)
	}()
	w.T.Cleanup(worker.end)
	if !options.NotReady {
		worker.WaitReady()
	}
	return worker
}

// WaitReady waits until /readyz answers 200.
func (k *Worker) WaitReady() {
	k.world.T.Helper()
	k.world.Until(workerReady, "worker is ready", func() (bool, string) {
		if !k.Running() {
			k.world.T.Fatalf("the worker ended with exit code %d\n%s", k.command.ProcessState.ExitCode(), k.Log())
		}
		code, answer := k.Get("/readyz")
		return code == http.StatusOK, fmt.Sprintf("%d %s\n%s", code, answer, k.Log())
	})
}

// Get asks the worker's /healthz, /readyz or /metrics; code 0 is no answer.
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

// PID is the process ID.
func (k *Worker) PID() int { return k.command.Process.Pid }

// Running tells whether the process lives.
func (k *Worker) Running() bool {
	select {
	case <-k.exited:
		return false
	default:
		return true
	}
}

// Kill ends the worker as kill -9 does and returns when it is gone.
func (k *Worker) Kill() {
	k.world.T.Helper()
	if err := k.command.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		k.world.T.Fatalf("kill worker: %v", err)
	}
	<-k.exited
}

// Stop ends the worker as an orchestrator does (SIGTERM) and answers the exit
// code.
func (k *Worker) Stop() int {
	k.world.T.Helper()
	if err := k.command.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		k.world.T.Fatalf("stop worker: %v", err)
	}
	return k.WaitExit(workerStop)
}

// WaitExit waits until the worker ends by itself and answers the exit code.
func (k *Worker) WaitExit(timeout time.Duration) int {
	k.world.T.Helper()
	k.world.Until(timeout, "worker ends", func() (bool, string) { return !k.Running(), k.Log() })
	return k.command.ProcessState.ExitCode()
}

// Log is what the worker wrote so far.
func (k *Worker) Log() string {
	data, err := os.ReadFile(k.log)
	if err != nil {
		return err.Error()
	}
	return string(data)
}

// end cleans up, and shows the log where the test failed.
func (k *Worker) end() {
	if k.Running() {
		_ = k.command.Process.Kill()
		<-k.exited
	}
	if k.world.T.Failed() {
		k.world.T.Logf("log of %s:\n%s", filepath.Base(k.log), k.Log())
	}
}

// freeAddress is held until the end of the test: a worker may be told to listen
// late.
func freeAddress(w *World) string {
	w.T.Helper()
	taken, err := freeport.Take(0)
	if err != nil {
		w.T.Fatal(err)
	}
	w.T.Cleanup(taken.Release)
	return freeport.Address(taken.Ports[0])
}
