package workflows_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
)

// TestBaselineShownAndDropped checks that the status contains the differences that Azure
// keeps, and that the pass after DropBaseline compares without them.
func TestBaselineShownAndDropped(t *testing.T) {
	r := newRun(t)
	var baselines []string
	r.script.pre = func(in activities.PreCheckInput) resource.Verdict {
		baselines = append(baselines, string(in.Memory))
		return resource.Verdict{Action: resource.ActionSkip, Reason: resource.ReasonInSync}
	}
	r.script.post = func(activities.PostCheckInput) activities.PostCheckResult {
		return activities.PostCheckResult{
			Verdict: resource.Verdict{Action: resource.ActionSuccess}, Memory: json.RawMessage(`{"m":1}`), Findings: activities.Findings{Kept: []string{"properties.size"}},
		}
	}
	r.apply(desired())
	r.at(time.Second, workflows.ReconcileUpdate, workflows.ReconcileInput{})
	shown := r.statusAt(2 * time.Second)
	r.at(3*time.Second, workflows.ReconcileUpdate, workflows.ReconcileInput{DropBaseline: true})
	r.start(4 * time.Second)
	if len(shown.Kept) != 1 || shown.Kept[0] != "properties.size" {
		t.Errorf("the status shows %v, want what Azure keeps", shown.Kept)
	}
	if len(baselines) != 3 || baselines[1] != `{"m":1}` || baselines[2] != "" {
		t.Errorf("the passes compared with the baselines %q, want none in the last", baselines)
	}
}

// TestChangeNotTakenReadTwice checks that a change that Azure accepted but does not show
// is read again soon, and not written again.
func TestChangeNotTakenReadTwice(t *testing.T) {
	for name, interval := range map[string]time.Duration{"resyncs": time.Hour, "no resyncs": 0} {
		t.Run(name, func(t *testing.T) { changeNotTaken(t, interval) })
	}
}

func changeNotTaken(t *testing.T, interval time.Duration) {
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
	spec := desired()
	spec.Interval = interval
	r.apply(spec)
	before, after := r.statusAt(59*time.Second), r.statusAt(61*time.Second)
	r.start(4 * time.Minute)
	if before.Pass != 1 || after.Pass != 2 || r.count("GetResource") > 4 || r.count("PutResource") != 1 {
		t.Errorf("pass %d after 59 s and %d after 61 s, %d reads, %d PUTs; want one more pass after 60 s",
			before.Pass, after.Pass, r.count("GetResource"), r.count("PutResource"))
	}
}
