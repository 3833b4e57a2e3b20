package workflows_test

import (
	"testing"
	"time"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
)

// A pass that a user requested begins the backoff anew; a wake does not.
func TestBackoffRestartsAtARequest(t *testing.T) {
	const request = 30 * time.Minute
	cases := map[string]struct {
		reason  string
		arrange func(*run)
		maximum int // tries in the minute after the request
		minimum int
	}{
		"nothing": {"the waits have grown to minutes", func(*run) {}, 1, 0},
		"reconcile": {"the user changed something: the next tries follow soon", func(r *run) {
			r.at(request, workflows.ReconcileUpdate, workflows.ReconcileInput{By: "ada@host"})
		}, 8, 5},
		"resume": {"so does a resume", func(r *run) {
			r.at(request-time.Second, workflows.PauseUpdate, workflows.PauseInput{By: "ada@host"})
			r.at(request, workflows.ResumeUpdate, workflows.PauseInput{By: "ada@host"})
		}, 8, 5},
		"wake": {"nobody changed anything here", func(r *run) { wakeAt(r, request) }, 2, 0},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			r := newRun(t)
			var begin time.Time
			tries := 0
			r.script.owner = func(activities.CheckOwnerInput) activities.CheckOwnerResult {
				if since := r.Now().Sub(begin); since >= request && since < request+time.Minute {
					tries++
				}
				return activities.CheckOwnerResult{Verdict: resource.Block(resource.ReasonReconciliationBlocked, "the cluster is updating")}
			}
			begin = r.Now()
			r.apply(desired())
			c.arrange(r)
			before, after := r.statusAt(request-2*time.Second), r.statusAt(request+500*time.Millisecond)
			r.start(request + 5*time.Minute)
			if tries < c.minimum || tries > c.maximum {
				t.Errorf("%s: %d tries within a minute, want %d to %d", c.reason, tries, c.minimum, c.maximum)
			}
			if before.Attempts < 10 || c.minimum > 0 && after.Attempts != 1 {
				t.Errorf("%s: %d tries before and %d after the request", c.reason, before.Attempts, after.Attempts)
			}
		})
	}
}

// A block with severity Error ends the retries, not the waiting: a change of the resource
// that it names starts a pass, and the timer's summary names it.
func TestErrorBlockIsWoken(t *testing.T) {
	r := newRun(t)
	verdict := resource.Block(resource.ReasonReconciliationBlocked, "the group has the wrong tag")
	verdict.Severity, verdict.Class, verdict.WaitingFor = resource.SeverityError, resource.RetryNone, []resource.ID{mustID(group)}
	changed := false
	r.script.owner = func(activities.CheckOwnerInput) activities.CheckOwnerResult {
		if changed {
			return activities.CheckOwnerResult{Verdict: resource.Proceed("")}
		}
		return activities.CheckOwnerResult{Verdict: verdict}
	}
	spec := desired()
	spec.Interval = 0
	r.apply(spec)
	blocked := r.statusAt(99 * time.Hour)
	r.RegisterDelayedCallback(func() { changed = true }, 100*time.Hour)
	wakeAt(r, 100*time.Hour+time.Second)
	woken := r.statusAt(100*time.Hour + time.Minute)
	r.start(101 * time.Hour)
	if blocked.Phase != workflows.PhaseFailed || blocked.Pass != 1 || !blocked.NextTry.IsZero() {
		t.Errorf("before the change: %s, pass %d, next try %v; want one pass and no retry", blocked.Phase, blocked.Pass, blocked.NextTry)
	}
	if woken.Phase != workflows.PhaseReady {
		t.Errorf("after the change: %s, want Ready", woken.Phase)
	}
}
