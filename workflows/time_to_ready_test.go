package workflows_test

import (
	"testing"
	"time"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
)

// TestTimeToReady checks that a generation is recorded once, from its apply to Ready.
func TestTimeToReady(t *testing.T) {
	r := newRun(t)
	passes := 0
	r.script.owner = func(activities.CheckOwnerInput) activities.CheckOwnerResult {
		if passes++; passes == 1 {
			verdict := resource.Block(resource.ReasonWaitingForOwner, "not there yet")
			verdict.RetryAfter = 10 * time.Minute
			return activities.CheckOwnerResult{Verdict: verdict}
		}
		return activities.CheckOwnerResult{Verdict: resource.Proceed("")}
	}
	r.apply(desired())
	r.at(20*time.Minute, workflows.ReconcileUpdate, workflows.ReconcileInput{By: "tester"})
	changed := desired()
	changed.Body = []byte(`{"properties":{"size":2}}`)
	r.at(30*time.Minute, workflows.ApplyUpdate, workflows.ApplyInput{Desired: changed, By: "tester"})
	r.at(40*time.Minute, workflows.ApplyUpdate, workflows.ApplyInput{Desired: changed, By: "tester"})
	r.start(50 * time.Minute)
	got := r.recorded[workflows.TimeToReadyMetric]
	if len(got) != 2 {
		t.Fatalf("recorded %v, want the first generation and the second, each once", got)
	}
	if got[0] <= 0 || got[0] > 20*time.Minute || got[1] >= 10*time.Minute {
		t.Errorf("recorded %v, want the wait for the owner, then less than the time until the next apply", got)
	}
	if passes < 4 {
		t.Errorf("only %d passes: the others were to record nothing", passes)
	}
}
