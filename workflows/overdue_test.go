package workflows_test

import (
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
)

// TestOverdue checks that an overdue verdict is an error whose retries continue,
// and what ends it.
func TestOverdue(t *testing.T) {
	late := func(s *script, class resource.RetryClass) {
		verdict := resource.Block(resource.ReasonReconciliationBlocked, "stopped")
		verdict.Class = class
		s.owner = func(activities.CheckOwnerInput) activities.CheckOwnerResult {
			return activities.CheckOwnerResult{Verdict: verdict, OverdueAfter: time.Hour}
		}
		s.dependents = func(activities.CheckDependentsInput) resource.Verdict { return verdict }
	}
	cases := map[string]struct {
		reason  string
		arrange func(*run)
		overdue bool
		since   time.Duration
		ready   bool
	}{
		"overdue": {"two hours are longer than one", func(*run) {}, true, 0, false},
		"applied": {"a new spec gets its time", func(r *run) {
			spec := desired()
			spec.Body = []byte(`{"location":"westus3"}`)
			r.at(90*time.Minute, workflows.ApplyUpdate, workflows.ApplyInput{Desired: spec})
		}, false, 90 * time.Minute, false},
		"same spec applied": {"the same spec does not", func(r *run) {
			r.at(90*time.Minute, workflows.ApplyUpdate, workflows.ApplyInput{Desired: desired()})
		}, true, 0, false},
		"resumed": {"a pause does not count as waiting", func(r *run) {
			r.at(time.Minute, workflows.PauseUpdate, workflows.PauseInput{})
			r.at(90*time.Minute, workflows.ResumeUpdate, workflows.PauseInput{})
		}, false, 90 * time.Minute, false},
		"deleted": {"a deletion gets its own time", func(r *run) {
			r.at(90*time.Minute, workflows.DeleteUpdate, workflows.DeleteInput{})
		}, false, 90 * time.Minute, false},
		"ready": {"Ready ends it", func(r *run) {
			r.RegisterDelayedCallback(func() {
				r.script.owner = newScript().owner
			}, 90*time.Minute)
		}, false, 0, true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			r := newRun(t)
			late(r.script, resource.RetrySlow)
			blocks, overdue := r.script.owner, int64(0)
			r.script.owner = func(in activities.CheckOwnerInput) activities.CheckOwnerResult {
				if since := r.Now().Sub(startTime); since > time.Hour && (c.overdue || since < 90*time.Minute) {
					overdue++
				}
				return blocks(in)
			}
			c.arrange(r)
			r.apply(desired())
			status := r.statusAt(2 * time.Hour)
			r.start(2*time.Hour + time.Second)
			want := resource.SeverityWarning
			switch {
			case c.overdue:
				want = resource.SeverityError
			case c.ready:
				want = resource.SeverityNone
			}
			if status.Overdue != c.overdue || status.Condition.Severity != want || status.Condition.Ready != c.ready {
				t.Errorf("overdue %t, severity %q, ready %t; want %t, %q: %s", status.Overdue, status.Condition.Severity, status.Condition.Ready, c.overdue, want, c.reason)
			}
			if since := status.NotReadySince.Sub(startTime); !c.ready && (since < c.since || since > c.since+time.Minute) || c.ready != status.NotReadySince.IsZero() {
				t.Errorf("not ready since %s after the start, want %s", since, c.since)
			}
			counted := r.counted[workflows.OverdueMetric+" "+string(resource.ReasonReconciliationBlocked)]
			if logged := strings.Count(r.errors.String(), "resource is overdue"); counted != overdue || int64(logged) != overdue {
				t.Errorf("counted %d and logged %d of %d overdue passes", counted, logged, overdue)
			}
			if !c.ready && (status.NextTry.IsZero() || status.Phase == workflows.PhaseFailed) {
				t.Errorf("phase %s, next try %s: an overdue resource is retried", status.Phase, status.NextTry)
			}
		})
	}
	t.Run("plain error", func(t *testing.T) {
		r := newRun(t)
		r.script.owner = func(activities.CheckOwnerInput) activities.CheckOwnerResult {
			verdict := resource.Block("X", "x")
			verdict.Severity = resource.SeverityError
			return activities.CheckOwnerResult{Verdict: verdict}
		}
		r.apply(desired())
		status := r.statusAt(time.Minute)
		r.start(2 * time.Minute)
		if status.Condition.Severity != resource.SeverityWarning {
			t.Errorf("severity %s of a verdict that is retried and not overdue, want a warning", status.Condition.Severity)
		}
	})
}

// TestOverdueSteps checks the steps with verdicts that become overdue, and the sources
// of the limit and the exemption.
func TestOverdueSteps(t *testing.T) {
	const after = time.Hour
	failed := resource.Fail(resource.ReasonFailed, resource.RetrySlow, "x")
	limit := func(s *script) {
		s.owner = func(activities.CheckOwnerInput) activities.CheckOwnerResult {
			return activities.CheckOwnerResult{Verdict: resource.Proceed(""), OverdueAfter: after}
		}
	}
	exempt := func(s *script) {
		s.get = func(activities.GetResourceInput) activities.GetResourceResult {
			got := present()
			got.OverdueExempt = true
			return got
		}
	}
	cases := map[string]struct {
		reason  string
		arrange func(*script)
		overdue bool
	}{
		"GET": {"every step counts", func(s *script) {
			s.get = func(activities.GetResourceInput) activities.GetResourceResult {
				return activities.GetResourceResult{Verdict: failed}
			}
		}, true},
		"pre-check": {"every step counts", func(s *script) {
			s.pre = func(activities.PreCheckInput) resource.Verdict { return failed }
		}, true},
		"PUT": {"every step counts", func(s *script) {
			s.pre = create
			s.put = func(activities.PutResourceInput) (activities.PutResourceResult, error) {
				return activities.PutResourceResult{Verdict: failed}, nil
			}
		}, true},
		"turn": {"a resource in a queue too", func(s *script) {
			s.pre = create
			s.inTurn()
			s.turn = func(activities.TakeTurnInput) resource.Verdict { return failed }
		}, true},
		"operation": {"an operation that fails repeatedly too", func(s *script) {
			s.pre = create
			s.put = func(activities.PutResourceInput) (activities.PutResourceResult, error) {
				return activities.PutResourceResult{Verdict: resource.Proceed(""), Token: "t", Sent: true}, nil
			}
			s.poll = func(activities.PollOperationInput) (activities.PollOperationResult, error) {
				return activities.PollOperationResult{Verdict: failed}, nil
			}
		}, true},
		"post-check": {"every step counts", func(s *script) {
			s.post = func(activities.PostCheckInput) activities.PostCheckResult {
				return activities.PostCheckResult{Verdict: failed}
			}
		}, true},
		"exempt state": {"a stopped resource is never overdue", func(s *script) {
			exempt(s)
			s.pre = func(activities.PreCheckInput) resource.Verdict { return failed }
		}, false},
		"exempt owner": {"the activity returns a negative limit, as for overdue-after 0", func(s *script) {
			s.owner = func(activities.CheckOwnerInput) activities.CheckOwnerResult {
				return activities.CheckOwnerResult{Verdict: failed, OverdueAfter: -1}
			}
		}, false},
		"drift": {"with a policy that writes nothing, no write can be late", func(s *script) {
			s.pre = func(activities.PreCheckInput) resource.Verdict {
				return resource.Fail(resource.ReasonDriftDetected, resource.RetrySlow, "drift")
			}
		}, false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			r := newRun(t)
			limit(r.script)
			c.arrange(r.script)
			r.apply(desired())
			status := r.statusAt(2 * time.Hour)
			r.start(2*time.Hour + time.Second)
			if status.Overdue != c.overdue {
				t.Errorf("overdue %t, want %t: %s", status.Overdue, c.overdue, c.reason)
			}
		})
	}
}

// TestOverdueDelete checks that the first step of a delete pass brings the limit.
func TestOverdueDelete(t *testing.T) {
	r := newRun(t)
	r.script.overdueAfter = time.Hour
	r.script.dependents = func(activities.CheckDependentsInput) resource.Verdict {
		return resource.Block(resource.ReasonWaitingForDependents, "x")
	}
	r.apply(desired())
	r.at(time.Minute, workflows.DeleteUpdate, workflows.DeleteInput{})
	early, late := r.statusAt(30*time.Minute), r.statusAt(3*time.Hour)
	r.start(3*time.Hour + time.Second)
	if early.Overdue || !late.Overdue {
		t.Errorf("overdue %t after half an hour and %t after three, want it after one", early.Overdue, late.Overdue)
	}
}
