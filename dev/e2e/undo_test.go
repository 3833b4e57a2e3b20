package e2e

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/dev/internal/harness"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
)

// TestUndo takes deletions back: of a group, with what its cascade requested and has not
// sent, and of one thing by an apply. Then it forgets a stuck deletion, and the group,
// whose things stay managed. A freeze keeps two things from being sent.
func TestUndo(t *testing.T) {
	t.Parallel()
	w := harness.New(t, binaries, harness.Options{})
	w.StartWorker(harness.WorkerOptions{})
	s := scenarios{w}
	owner := s.applyGroup("undo")
	sent := thing{group: "undo", name: "sent", interval: "1h"}
	kept := []thing{{group: "undo", name: "kept0", interval: "1h"}, {group: "undo", name: "kept1", interval: "1h"}}
	s.apply(sent, "small")
	for _, r := range kept {
		w.MustCLI("apply", "-f", w.Write(r.name+".yaml", r.manifest("small")+"labels: {stack: kept}\n"))
	}
	w.MustCLI("wait", "--all", "--timeout", "60s")
	w.MustCLI("freeze", "-l", "stack=kept", "--reason", "test")
	frozen := func(status workflows.Status) bool { return status.Condition.Reason == resource.ReasonFrozen }
	frozenDeletion := func(status workflows.Status) bool { return status.Phase == workflows.PhaseDeleting && frozen(status) }
	// The worker reads the freezes every two seconds.
	s.putGroup("probes")
	probes := 0
	w.Until(30*time.Second, "the worker to read the freeze", func() (bool, string) {
		probe := thing{group: "probes", name: fmt.Sprintf("probe%d", probes), interval: "1h"}
		probes++
		w.MustCLI("apply", "-f", w.Write("probe.yaml", probe.manifest("small")+"labels: {stack: kept}\n"))
		status := w.UntilStatus(30*time.Second, probe.id(), "is Ready or frozen", func(status workflows.Status) bool {
			return status.Condition.Ready || frozen(status)
		})
		return frozen(status), status.Condition.Message
	})

	w.MustCLI("delete", owner, "--cascade", "--yes")
	for _, r := range kept {
		w.UntilStatus(60*time.Second, r.id(), "is frozen while it is being deleted", frozenDeletion)
	}
	w.Until(60*time.Second, "the deletion of the thing that is not frozen", func() (bool, string) {
		status, err := w.Status(sent.id())
		return err == nil && status.Deleted, status.Condition.Message
	})
	if why := w.MustCLI("why", kept[0].id()).String(); !strings.Contains(why, "armature delete --abort kept0") && !strings.Contains(why, "armature unfreeze") {
		t.Errorf("why names no way out:\n%s", why)
	}

	w.MustCLI("delete", "--abort", owner)
	w.UntilPhase(60*time.Second, owner, workflows.PhaseReady)
	for _, r := range kept {
		w.UntilPhase(60*time.Second, r.id(), workflows.PhaseReady)
	}
	if status, err := w.Status(owner); err != nil || !strings.Contains(decisionsText(status), "took back the deletions of 2 resources in undo") {
		t.Errorf("the decisions of the group do not count what was taken back (%v):\n%s", err, decisionsText(status))
	}

	w.MustCLI("delete", kept[0].id(), "--yes")
	w.UntilStatus(60*time.Second, kept[0].id(), "is frozen again", frozenDeletion)
	applied := w.MustCLI("apply", "-f", w.Write("again.yaml", kept[0].manifest("small")+"labels: {stack: kept}\n"), "--wait", "--timeout", "60s")
	if !strings.Contains(applied.String(), "deletion taken back") {
		t.Errorf("the apply does not report what it did:\n%s", applied)
	}

	w.MustCLI("delete", kept[1].id(), "--yes")
	w.UntilStatus(60*time.Second, kept[1].id(), "is stuck", frozenDeletion)
	w.MustCLI("forget", kept[1].id(), "--reason", "test")
	w.MustCLI("forget", owner)
	for _, id := range []string{kept[1].id(), owner} {
		w.Until(30*time.Second, id+" is forgotten", func() (bool, string) {
			status, err := w.Status(id)
			return err == nil && status.Condition.Reason == resource.ReasonDetached, string(status.Condition.Reason)
		})
	}
	w.MustCLI("unfreeze", "-l", "stack=kept")
	w.MustCLI("reconcile", kept[0].id(), "--wait", "--timeout", "60s")
	for _, id := range []string{owner, kept[0].id(), kept[1].id()} {
		if deletes, left := w.Sim.Count(http.MethodDelete, id), len(stored(w, id)); deletes != 0 || left != 1 {
			t.Errorf("%s got %d DELETEs, %d left; want it untouched", id, deletes, left)
		}
	}
	if deletes := w.Sim.Count(http.MethodDelete, sent.id()); deletes != 1 {
		t.Errorf("the thing that is not frozen got %d DELETEs, want one", deletes)
	}
}

// TestUndoDuringADelete takes the deletion of a group back while the DELETE of what is in it
// runs. Azure refuses that one a moment later, so that everything stays.
func TestUndoDuringADelete(t *testing.T) {
	t.Parallel()
	w := harness.New(t, binaries, harness.Options{})
	w.StartWorker(harness.WorkerOptions{})
	s := scenarios{w}
	owner := s.applyGroup("during")
	kept := thing{group: "during", name: "kept", interval: "1h"}
	s.apply(kept, "small")
	w.MustCLI("wait", "--all", "--timeout", "60s")

	fault := armsim.Fault{ID: "refused", Method: http.MethodDelete, Path: kept.id(), Gate: true, Status: http.StatusConflict, Code: "ScopeLocked", Message: "locked"}
	w.Sim.Call(http.MethodPost, "/faults", fault, nil)
	w.MustCLI("delete", owner, "--cascade", "--yes")
	s.untilHeld(fault.ID)
	w.MustCLI("delete", "--abort", owner) // it asks again until the gate opens
	if refused := w.CLI("delete", "--abort", kept.id()); refused.Code != 1 || !strings.Contains(refused.Err, "while a DELETE runs: repeat the command") {
		t.Errorf("a deletion whose DELETE runs was taken back, or without a way out:\n%s", refused)
	}
	w.Sim.Call(http.MethodPost, "/faults/refused/release", nil, nil)

	for _, id := range []string{owner, kept.id()} {
		w.UntilPhase(60*time.Second, id, workflows.PhaseReady)
	}
	if status, err := w.Status(owner); err != nil || !strings.Contains(decisionsText(status), "took back the deletions of 1 resources in during") {
		t.Errorf("the decisions of the group do not count what was taken back (%v):\n%s", err, decisionsText(status))
	}
	if deletes, left := w.Sim.Count(http.MethodDelete, kept.id()), len(stored(w, kept.id())); deletes != 1 || left != 1 {
		t.Errorf("%d DELETEs, %d left; want one that was refused", deletes, left)
	}
}

// untilHeld waits until the gate of a fault holds a request.
func (s scenarios) untilHeld(fault string) {
	s.T.Helper()
	s.Until(60*time.Second, "the request that "+fault+" holds", func() (bool, string) {
		var faults []armsim.Fault
		s.Sim.Call(http.MethodGet, "/faults", nil, &faults)
		held := slices.ContainsFunc(faults, func(f armsim.Fault) bool { return f.ID == fault && f.Waiting > 0 })
		return held, fmt.Sprintf("%+v", faults)
	})
}

// decisionsText returns the messages of the last decisions.
func decisionsText(status workflows.Status) string {
	var text strings.Builder
	for _, d := range status.Decisions {
		text.WriteString(d.Step + " " + d.Message + "\n")
	}
	return text.String()
}
