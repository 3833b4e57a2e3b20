package e2e

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/dev/internal/harness"
	"github.com/armature-io/armature/dev/internal/testworker/gate"
	"github.com/armature-io/armature/workflows"
)

// TestRecordSuperseded applies a new spec while the worker is about to send the PUT of the
// last one: only the new one is sent.
//
//guard:fence
func TestRecordSuperseded(t *testing.T) {
	t.Parallel()
	w := harness.New(t, binaries, harness.Options{})
	s := scenarios{w}
	s.putGroup("superseded")
	r := thing{group: "superseded", name: "superseded", interval: "1h"}
	w.StartWorker(harness.WorkerOptions{
		Binary: buildTestWorker(t), Env: []string{gate.StepVariable + "=" + gate.Write, gate.FolderVariable + "=" + filepath.Join(w.Folder, "gate")},
	})
	s.apply(r, "small")
	s.UntilPhase(30*time.Second, r.id(), workflows.PhaseReady)
	hold := w.Write(filepath.Join("gate", gate.HoldFile), "")
	s.apply(r, "medium")
	w.Until(30*time.Second, "the worker is about to send the PUT", func() (bool, string) {
		return w.Exists(filepath.Join("gate", gate.ReachedWrite(http.MethodPut))), ""
	})
	s.apply(r, "large")
	if err := os.Remove(filepath.Join(w.Folder, "gate", filepath.Base(hold))); err != nil {
		t.Fatal(err)
	}
	s.UntilStatus(30*time.Second, r.id(), "the newest spec is Ready", func(status workflows.Status) bool {
		return status.Condition.Ready && status.Condition.ObservedGeneration == 3
	})
	var writes []armsim.Write
	s.Sim.Call(http.MethodGet, "/writes", nil, &writes)
	var sizes []any
	for _, write := range writes {
		properties, _ := write.Body["properties"].(map[string]any)
		sizes = append(sizes, properties["size"])
	}
	if got := fmt.Sprint(sizes); got != "[small large]" {
		t.Errorf("sizes %s were written, want no generation that was out of date:\n%s", got, s.HistoryLines(r.id()))
	}
	w.Record(r.id(), "superseded")
}
