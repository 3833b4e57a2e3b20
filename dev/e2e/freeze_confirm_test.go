package e2e

import (
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/armature-io/armature/dev/internal/harness"
)

// TestFreezeConfirmed checks that freeze asks every worker, that it names one that is
// stopped in place of waiting for it, and that the worker confirms once it runs again.
//
//guard:freeze
func TestFreezeConfirmed(t *testing.T) {
	t.Parallel()
	w := harness.New(t, binaries, harness.Options{})
	w.StartWorker(harness.WorkerOptions{})
	stopped := w.StartWorker(harness.WorkerOptions{})
	frozen := w.MustCLI("freeze")
	if !strings.Contains(frozen.Out, "confirmed by 2 workers") || frozen.Err != "" {
		t.Errorf("two workers run: %s", frozen)
	}
	w.MustCLI("unfreeze")
	if err := syscall.Kill(stopped.PID(), syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	begun := time.Now()
	frozen = w.MustCLI("freeze")
	took := time.Since(begun)
	name := strconv.Itoa(stopped.PID()) + "@"
	if !strings.Contains(frozen.Err, "not confirmed by 1 of 2 workers: "+name) || strings.Contains(frozen.Out, "confirmed by") {
		t.Errorf("worker %s is stopped: %s", name, frozen)
	}
	if took > 30*time.Second {
		t.Errorf("freeze took %s", took)
	}
	t.Logf("with a stopped worker freeze took %s", took.Round(time.Millisecond))
	if err := syscall.Kill(stopped.PID(), syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	w.Until(time.Minute, "both workers confirm", func() (bool, string) {
		again := w.CLI("freeze")
		return strings.Contains(again.Out, "already frozen") && strings.Contains(again.Out, "confirmed by 2 workers"), again.String()
	})
}
