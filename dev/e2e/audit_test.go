package e2e

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/dev/internal/harness"
	"github.com/armature-io/armature/internal/audit"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
)

// TestRecordAudited plays the requests of users and writes with an audit trail, and compares
// the lines. It records the histories of the resource and of the freezes where HISTORIES
// names a folder.
func TestRecordAudited(t *testing.T) {
	t.Parallel()
	w := harness.New(t, binaries, harness.Options{})
	folder := t.TempDir()
	w.StartWorker(auditedOptions(t, folder))
	s := scenarios{w}
	s.putGroup("audited")
	r := thing{group: "audited", name: "audited", interval: "1h"}
	s.applyMore(r, "small", "timeout: 1h", "--wait", "--timeout", "2m")
	s.MustCLI("freeze", "--reason", "INC-7")
	s.Sim.Patch(r.id(), map[string]any{"properties": map[string]any{"size": "large"}})
	s.MustCLI("reconcile", r.id())
	s.UntilStatus(2*time.Minute, r.id(), "is frozen", func(status workflows.Status) bool {
		return status.Condition.Reason == resource.ReasonFrozen
	})
	s.MustCLI("unfreeze")
	s.Until(2*time.Minute, "the drift is corrected", func() (bool, string) {
		s.MustCLI("reconcile", r.id(), "--force", "--reason", "INC-8")
		return s.Sim.Count(http.MethodPut, r.id()) == 2, "no PUT yet"
	})
	s.UntilPhase(2*time.Minute, r.id(), workflows.PhaseReady)
	s.MustCLI("pause", r.id(), "--reason", "lunch")
	s.Until(2*time.Minute, "the pause is in the trail at once", func() (bool, string) {
		return len(eventsOf(t, folder)[audit.EventPause]) > 0, "no line yet"
	})
	s.MustCLI("resume", r.id())
	s.MustCLI("delete", r.id(), "--yes", "--wait", "--timeout", "2m")
	s.Until(2*time.Minute, "the end of the freeze is in the trail", func() (bool, string) {
		return len(eventsOf(t, folder)[audit.EventUnfreeze]) > 0, "no line yet"
	})
	s.Record(r.id(), "audited")
	s.RecordWorkflow(workflows.FreezeWorkflowID, "", "audited-freezes")
	if open := checkAudit(t, s, folder, "audited"); open > 0 {
		t.Errorf("%d requests have no outcome, although no worker was lost", open)
	}
	events := eventsOf(t, folder)
	for event, want := range map[audit.Event]int{
		audit.EventApply: 1, audit.EventFreeze: 1, audit.EventUnfreeze: 1, audit.EventPause: 1, audit.EventResume: 1, audit.EventDelete: 1, audit.EventRefusal: 1,
	} {
		if got := events[event]; len(got) != want || got[0].By == nil || got[0].By.Name == "" || got[0].By.Verified {
			t.Errorf("%d events %s in the trail: %+v, want %d by an unverified user", len(got), event, got, want)
		}
	}
	if forced := events[audit.EventForce]; len(forced) == 0 || forced[0].Reason != "INC-8" {
		t.Errorf("the forced reconciles are %+v, want their reason", forced)
	}
	if refusal := events[audit.EventRefusal]; len(refusal) > 0 && (refusal[0].Reason != "Frozen" || !strings.Contains(refusal[0].Message, "INC-7")) {
		t.Errorf("the refusal is %+v, want the freeze", refusal[0])
	}
	if writes := events[audit.EventWrite]; len(writes) != 3 || len(writes[1].Differences) == 0 || writes[1].Differences[0].Path != "properties.size" {
		t.Errorf("the writes are %+v, want two PUTs and a DELETE, the second with its difference", writes)
	}
	printed := s.MustCLI("history", r.id(), "--since", "1h")
	for _, want := range []string{"apply", "force", "pause", "DELETE", `properties.size: "large" -> "small"`, "INC-8"} {
		if !strings.Contains(printed.Out, want) {
			t.Errorf("history does not print %q:\n%s", want, printed.Out)
		}
	}
	if !strings.Contains(printed.Err, "the histories in Temporal begin at") {
		t.Errorf("history does not print where it begins: %s", printed.Err)
	}
}

// eventsOf returns the records of a trail by their event, in order.
func eventsOf(t *testing.T, folder string) map[audit.Event][]audit.Record {
	t.Helper()
	records, _ := auditTrail(t, folder)
	events := map[audit.Event][]audit.Record{}
	for _, record := range audit.Deduplicate(records) {
		events[record.Event] = append(events[record.Event], record)
	}
	return events
}
