package harness

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"github.com/armature-io/armature/dev/temporaldev"
)

// Branch is a world for a scenario beside others: it shares the Temporal server,
// and has a task queue, a simulator, a folder and a test of its own. Resource IDs
// must differ between branches, for they are the workflow IDs.
func (w *World) Branch(t testing.TB, taskQueue string, options Options) *World {
	t.Helper()
	b := *w
	b.T, b.Folder = t, t.TempDir()
	b.Env = append(append([]string(nil), w.Env...), "ARMATURE_TASK_QUEUE="+taskQueue)
	b.Sim = startSim(t, b.Folder, options)
	return &b
}

// RestartTemporal stops the server and starts another on the same port and
// database; down, when given, runs in between. Only a world with a server of its
// own may do so.
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
		w.T.Fatal(fmt.Errorf("restart: %w", err))
	}
	w.Temporal = server
}

// Terminate asks the worker to end (SIGTERM) and does not wait.
func (k *Worker) Terminate() {
	k.world.T.Helper()
	if err := k.command.Process.Signal(syscall.SIGTERM); err != nil {
		k.world.T.Fatalf("stop worker: %v", err)
	}
}

// Exists tells whether a file of the scenario is there.
func (w *World) Exists(name string) bool {
	_, err := os.Stat(filepath.Join(w.Folder, name))
	return err == nil
}
