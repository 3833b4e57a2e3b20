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

// TestMove moves a resource to another group outside Armature: it is not created again at
// its old place, and armature move continues it at the new one without a PUT.
//
//guard:moves
func TestMove(t *testing.T) {
	t.Parallel()
	w := harness.New(t, binaries, harness.Options{})
	w.StartWorker(harness.WorkerOptions{})
	s := scenarios{w}
	s.putGroup("before")
	s.putGroup("after")
	const name = "/providers/Microsoft.Network/networkSecurityGroups/nsg1"
	from, to := subscription+"/resourceGroups/before"+name, subscription+"/resourceGroups/after"+name
	manifest := func(group string) string {
		return w.Write("nsg.yaml", fmt.Sprintf("type: Microsoft.Network/networkSecurityGroups@2023-11-01\nname: nsg1\nowner: %s/resourceGroups/%s\nbody: {location: westus2, tags: {team: a}}\nlabels: {stack: moves}\n", subscription, group))
	}
	w.MustCLI("apply", "-f", manifest("before"), "--wait", "--timeout", "60s")
	if refused := w.CLI("move", from, to); refused.Code != 1 || !strings.Contains(refused.Err, "still exists") {
		t.Errorf("a move of what is still there: %s", refused)
	}
	w.Sim.Patch(from, map[string]any{"tags": map[string]any{"cost-center": "7"}})
	w.Sim.Call(http.MethodPost, "/moves", map[string]any{"id": from, "group": subscription + "/resourceGroups/after"}, nil)
	w.MustCLI("reconcile", from)
	status := w.UntilStatus(30*time.Second, from, "is Moved", func(s workflows.Status) bool { return s.Condition.Reason == resource.ReasonMoved })
	if !strings.Contains(status.Condition.Message, "armature move "+from+" "+to) {
		t.Errorf("the message has no command: %s", status.Condition.Message)
	}
	if why := w.MustCLI("why", from).Out; !strings.Contains(why, "armature move") {
		t.Errorf("why prints\n%s", why)
	}
	w.MustCLI("reconcile", from, "--recreate")
	w.UntilStatus(30*time.Second, from, "was looked at again", func(s workflows.Status) bool { return s.Pass > status.Pass })
	moved := w.MustCLI("move", from, to)
	if !strings.Contains(moved.Out, "properties.resourceGuid") {
		t.Errorf("the proof is not named: %s", moved)
	}
	w.UntilPhase(30*time.Second, to, workflows.PhaseReady)
	if text := w.MustCLI("get", "-l", "stack=moves").Out; strings.Contains(text, "Moved") {
		t.Errorf("the old place is still managed:\n%s", text)
	}
	w.MustCLI("apply", "-f", manifest("after"), "--wait", "--timeout", "60s")
	if puts, again := w.Sim.Count(http.MethodPut, from), w.Sim.Count(http.MethodPut, to); puts != 1 || again != 0 {
		t.Errorf("%d PUTs at the old place and %d at the new one, want 1 and 0", puts, again)
	}
	if found := stored(w, from); len(found) != 0 {
		t.Errorf("it exists at its old place: %v", found)
	}
	// A repeated command succeeds until the old workflow has ended.
	w.Until(60*time.Second, "the old place is not managed", func() (bool, string) {
		again := w.CLI("move", from, to)
		return again.Code == 1 && strings.Contains(again.Err, "not managed any more"), again.String()
	})
}
