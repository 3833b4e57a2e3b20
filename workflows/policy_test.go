package workflows_test

import (
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
)

// TestProtect checks that a protected resource refuses every delete until another policy
// is applied.
func TestProtect(t *testing.T) {
	r := newRun(t)
	spec := desired()
	spec.Policy = resource.PolicyProtect
	r.apply(spec)
	byName := r.at(10*time.Millisecond, workflows.DeleteUpdate, workflows.DeleteInput{})
	cascade := r.at(20*time.Millisecond, workflows.DeleteUpdate, workflows.DeleteInput{Cascade: true})
	other := desired()
	byManifest := r.at(30*time.Millisecond, workflows.DeleteUpdate, workflows.DeleteInput{Desired: &other})
	r.at(time.Second, workflows.ApplyUpdate, workflows.ApplyInput{Desired: desired(), By: "ada@host"})
	later := r.at(2*time.Second, workflows.DeleteUpdate, workflows.DeleteInput{})
	r.start(time.Minute)
	for name, got := range map[string]*updateResult{"by name": byName, "cascade": cascade, "by manifest": byManifest} {
		if refusal(got) != workflows.RefusedProtected || !strings.Contains(got.rejected.Error(), "policy protect") {
			t.Errorf("%s: returned %v, want %s", name, got.rejected, workflows.RefusedProtected)
		}
	}
	if later.rejected != nil || r.count("DeleteResource") == 0 {
		t.Errorf("with policy manage the delete returned %v after %d DELETEs", later.rejected, r.count("DeleteResource"))
	}
}

func TestProtectByManifest(t *testing.T) {
	r := newRun(t)
	spec := desired()
	spec.Policy = resource.PolicyProtect
	got := r.at(0, workflows.DeleteUpdate, workflows.DeleteInput{Desired: &spec})
	r.start(0)
	if refusal(got) != workflows.RefusedProtected {
		t.Errorf("returned %v, want %s", got.rejected, workflows.RefusedProtected)
	}
	r.wantCalls()
}

// TestObserve checks that drift with policy observe has its own condition, and that the
// next try follows after the interval, even a short one.
func TestObserve(t *testing.T) {
	for name, c := range map[string]struct {
		policy   resource.Policy
		interval time.Duration
	}{
		"Short":   {resource.PolicyObserve, 5 * time.Minute},
		"Long":    {resource.PolicyObserve, 2 * time.Hour},
		"Setting": {resource.PolicyManage, 5 * time.Minute}, // the worker observes, and the workflow does not know
	} {
		t.Run(name, func(t *testing.T) {
			r := newRun(t)
			interval := c.interval
			spec := desired()
			spec.Policy, spec.Interval = c.policy, interval
			difference := resource.Difference{Path: "sku.name", Desired: `"S1"`, Observed: `"S2"`, Rule: "value"}
			r.script.pre = func(activities.PreCheckInput) resource.Verdict {
				return resource.Verdict{
					Action: resource.ActionFailure, Reason: resource.ReasonDriftDetected, Severity: resource.SeverityWarning,
					Class: resource.ReasonDriftDetected.Class(), Message: "sku.name is other", Differences: []resource.Difference{difference},
				}
			}
			r.apply(spec)
			status := r.statusAt(time.Second)
			r.start(10 * time.Second)
			c := status.Condition
			if c.Ready || c.Reason != resource.ReasonDriftDetected || c.Severity != resource.SeverityWarning || status.Phase != workflows.PhaseNotReady {
				t.Errorf("status %+v", status)
			}
			if len(status.Differences) != 1 || status.Differences[0].Path != difference.Path || status.Differences[0].Desired != difference.Desired {
				t.Errorf("differences %+v", status.Differences)
			}
			wait := status.NextTry.Sub(c.LastTransitionTime)
			if wait < interval*3/4 || wait > interval*5/4 {
				t.Errorf("the next try is after %s, want about %s", wait, interval)
			}
			r.wantCalls("CheckOwner", "GetResource", "PreCheck")
		})
	}
}
