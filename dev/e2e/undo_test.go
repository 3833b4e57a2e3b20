package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

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
	const owner = subscription + "/resourceGroups/undo"
	w.MustCLI("apply", "-f", w.Write("group.yaml", strings.Replace(groupIn, "name: first", "name: undo", 1)), "--wait", "--timeout", "30s")
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
	// A try of a deletion that runs just then may have sent a DELETE: the group's abort leaves
	// it, and names the thing. It ends at the freeze, and the thing's own abort takes it back.
	takenBack := 2
	for _, r := range kept {
		abandoned := false
		w.UntilStatus(2*time.Minute, r.id(), "is Ready", func(status workflows.Status) bool {
			if named := "Azure may have accepted the DELETE of"; !abandoned && status.Abortable {
				group, err := w.Status(owner)
				if abandoned = err == nil && strings.Contains(decisionsText(group), named); abandoned {
					takenBack--
				}
			}
			if abandoned && status.Abortable {
				w.CLI("delete", "--abort", r.id()) // refused during the next try
			}
			return status.Phase == workflows.PhaseReady
		})
	}
	if status, err := w.Status(owner); err != nil || !strings.Contains(decisionsText(status), fmt.Sprintf("took back the deletions of %d resources in undo", takenBack)) {
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

// decisionsText returns the messages of the last decisions.
func decisionsText(status workflows.Status) string {
	var text strings.Builder
	for _, d := range status.Decisions {
		text.WriteString(d.Step + " " + d.Message + "\n")
	}
	return text.String()
}
