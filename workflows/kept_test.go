package workflows_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
)

// What Azure keeps can be seen and dropped: the next pass compares without it.
func TestBaselineIsShownAndDropped(t *testing.T) {
	r := newRun(t)
	var memories []string
	r.script.pre = func(in activities.PreCheckInput) resource.Verdict {
		memories = append(memories, string(in.Memory))
		return resource.Verdict{Action: resource.ActionSkip, Reason: resource.ReasonInSync}
	}
	r.script.post = func(activities.PostCheckInput) activities.PostCheckResult {
		return activities.PostCheckResult{
			Verdict: resource.Verdict{Action: resource.ActionSuccess}, Memory: json.RawMessage(`{"m":1}`), Kept: []string{"properties.size"},
		}
	}
	r.apply(desired())
	r.at(time.Second, workflows.ReconcileUpdate, workflows.ReconcileInput{})
	shown := r.look(2 * time.Second)
	r.at(3*time.Second, workflows.ReconcileUpdate, workflows.ReconcileInput{DropBaseline: true})
	r.start(4 * time.Second)
	if len(shown.Kept) != 1 || shown.Kept[0] != "properties.size" {
		t.Errorf("the status shows %v, want what Azure keeps", shown.Kept)
	}
	if len(memories) != 3 || memories[1] != `{"m":1}` || memories[2] != "" {
		t.Errorf("the passes compared with the memories %q, want none in the last", memories)
	}
}

// A change that Azure accepted and does not show is read once more soon, and not
// written again.
func TestChangeNotTakenIsReadOnceMore(t *testing.T) {
	r := newRun(t)
	r.script.pre = func(activities.PreCheckInput) resource.Verdict {
		if r.count("PutResource") > 0 {
			return resource.Verdict{Action: resource.ActionSkip, Reason: resource.ReasonChangeNotTaken}
		}
		return resource.Verdict{Action: resource.ActionProceed, Differences: []resource.Difference{{Path: "properties.size"}}}
	}
	r.script.post = func(activities.PostCheckInput) activities.PostCheckResult {
		return activities.PostCheckResult{Verdict: resource.Verdict{Action: resource.ActionSuccess, Reason: resource.ReasonChangeNotTaken}}
	}
	r.apply(desired())
	before, after := r.look(29*time.Second), r.look(31*time.Second)
	r.start(4 * time.Minute)
	if before.Pass != 1 || after.Pass != 2 || r.count("GetResource") > 4 || r.count("PutResource") != 1 {
		t.Errorf("pass %d after 29 s and %d after 31 s, %d reads, %d PUTs; want one look more after 30 s",
			before.Pass, after.Pass, r.count("GetResource"), r.count("PutResource"))
	}
}
