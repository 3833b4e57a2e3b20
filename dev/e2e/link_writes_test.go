package e2e

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/dev/internal/harness"
	"github.com/armature-io/armature/dev/internal/testworker/peer"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
)

// TestLinksWriteOtherResources runs a worker whose pre-check, modifier and success handler each
// change another resource. The server confirms the workflow task of the checks. In a freeze
// nothing is written.
//
//guard:links-write-fenced
func TestLinksWriteOtherResources(t *testing.T) {
	t.Parallel()
	w := harness.New(t, binaries, harness.Options{})
	s := scenarios{w}
	s.putGroup("links")
	r := thing{group: "links", name: "linked", interval: "1h"}
	other := subscription + "/resourceGroups/links/providers/Microsoft.Example/others/peer"
	w.Sim.Call(http.MethodPut, "/resources", map[string]any{"id": other, "body": map[string]any{"location": "westus2"}}, nil)
	w.StartWorker(harness.WorkerOptions{Binary: buildTestWorker(t), Env: []string{peer.Variable + "=" + other}})
	s.apply(r, "small")
	s.UntilPhase(60*time.Second, r.id(), workflows.PhaseReady)
	history := s.HistoryLines(r.id())
	if patches := s.Sim.Count(http.MethodPatch, other); patches != 3 || !strings.Contains(history, "an extension sent PATCH of peer: 200") {
		t.Errorf("%d PATCHes, want one of each point:\n%s", patches, history)
	}
	var writes []armsim.Write
	s.Sim.Call(http.MethodGet, "/writes", nil, &writes)
	tags, _ := writes[len(writes)-1].Body["tags"].(map[string]any)
	if len(tags) != 3 || tags["pre"] == nil || tags["modify"] == nil || tags["success"] == nil {
		t.Errorf("the peer has %v, want the tag of each point", tags)
	}
	s.MustCLI("freeze", "--reason", "INC-42")
	w.Sim.Call(http.MethodPut, "/resources", map[string]any{"id": other, "body": map[string]any{"location": "westus2"}}, nil)
	s.MustCLI("reconcile", r.id())
	status := s.UntilStatus(30*time.Second, r.id(), "is frozen", func(status workflows.Status) bool {
		return status.Condition.Reason == resource.ReasonFrozen
	})
	if patches := s.Sim.Count(http.MethodPatch, other); patches != 3 || !strings.Contains(status.Condition.Message, "INC-42") {
		t.Errorf("%d PATCHes after a freeze: %+v", patches, status.Condition)
	}
}
