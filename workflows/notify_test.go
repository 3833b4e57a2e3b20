package workflows_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
	"github.com/google/go-cmp/cmp"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"
)

// seen is one pass: what the GETs show, what the pre-check decides and whether
// the resource is Ready.
type seen struct {
	state         string
	absent, leaf  bool
	put, notReady bool
	blocked       bool
	refused       bool
}

// passes makes the script show one pass after the other.
func (s *script) passes(all ...seen) {
	at := func() seen { return all[min(max(0, countOf(s.calls, "CheckOwner")-1), len(all)-1)] }
	s.get = func(in activities.GetResourceInput) activities.GetResourceResult {
		now := at()
		got := activities.GetResourceResult{Verdict: resource.Proceed(""), Leaf: now.leaf}
		switch {
		case now.refused:
			got.Verdict = resource.Fail("AuthorizationFailed", resource.RetryVerySlow, "403")
		case !now.absent || in.Expect == activities.ExpectPresent:
			got.Exists, got.State, got.Observed = true, now.state, present().Observed
		}
		return got
	}
	s.pre = func(activities.PreCheckInput) resource.Verdict {
		switch now := at(); {
		case now.blocked:
			return resource.Fail(resource.ReasonOperationInProgress, resource.RetryVerySlow, "not now")
		case now.put:
			return resource.Verdict{Action: resource.ActionProceed, Create: now.absent}
		}
		return resource.Verdict{Action: resource.ActionSkip, Reason: resource.ReasonInSync}
	}
	s.post = func(activities.PostCheckInput) activities.PostCheckResult {
		if at().notReady {
			return activities.PostCheckResult{Verdict: resource.Verdict{
				Action: resource.ActionFailure, Reason: resource.ReasonPostReconciliationFailure, Class: resource.RetryVerySlow, Severity: resource.SeverityWarning,
			}}
		}
		return activities.PostCheckResult{Verdict: resource.Verdict{Action: resource.ActionSuccess}}
	}
}

func countOf(calls []string, name string) int {
	n := 0
	for _, call := range calls {
		if call == name {
			n++
		}
	}
	return n
}

// told are the states of the wakes.
func (r *run) told() []string {
	states := []string{}
	for _, wake := range r.script.wakes {
		states = append(states, wake.State)
	}
	return states
}

// TestTell holds when the others are told, pass by pass: what they look at
// changed, and never because a pass ran.
func TestTell(t *testing.T) {
	const good = "Succeeded"
	cases := map[string]struct {
		reason string
		passes []seen
		want   []string
	}{
		"in sync":        {"nothing changed since the first pass", []seen{{state: good}, {state: good}, {state: good}}, []string{"Ready"}},
		"created":        {"Ready says it all", []seen{{absent: true, put: true, state: good}}, []string{"Ready"}},
		"drift repaired": {"a reading from before shows the drift", []seen{{state: good}, {state: good, put: true}}, []string{"Ready", "written"}},
		"operation": {
			"another state is seen by the owner check of the children", []seen{{state: good}, {state: "Updating", blocked: true}, {state: good}},
			[]string{"Ready", "Updating", "Ready"},
		},
		"resting state": {"also of a resource that stays Ready", []seen{{state: "Succeeded, Running"}, {state: "Succeeded, Stopped"}}, []string{"Ready", "Succeeded, Stopped"}},
		"vanished":      {"its children have no owner", []seen{{state: good}, {absent: true, blocked: true}}, []string{"Ready", "absent"}},
		"appeared": {
			"a reference to it is good now, although it is not Ready and shows no state",
			[]seen{{absent: true, blocked: true}, {notReady: true}}, []string{"changed"},
		},
		"state gone": {"no state is another state", []seen{{state: "Updating", blocked: true}, {blocked: true}}, []string{"Updating", "changed"}},
		"not ready":  {"written is news also where it led nowhere", []seen{{state: "Failed", put: true, notReady: true}, {state: "Failed", put: true, notReady: true}}, []string{"Failed", "written"}},
		"late":       {"the post-check decides when it is Ready", []seen{{state: good, notReady: true}, {state: good, notReady: true}, {state: good}}, []string{good, "Ready"}},
		"refused":    {"a read that was refused saw nothing", []seen{{state: good}, {refused: true}}, []string{"Ready"}},
		"again":      {"Ready again after a refusal", []seen{{state: good}, {refused: true}, {state: good}}, []string{"Ready", "Ready"}},
		"leaf":       {"nobody waits for a leaf", []seen{{state: good, leaf: true}, {state: good, put: true, leaf: true}, {state: "Updating", leaf: true}}, []string{}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			r := newRun(t)
			r.script.passes(c.passes...)
			spec := desired()
			spec.Interval = 1000 * time.Hour
			r.apply(spec)
			for i := range c.passes[1:] {
				r.at(time.Duration(i+1)*10*time.Second, workflows.ReconcileUpdate, workflows.ReconcileInput{By: "ada@host"})
			}
			r.start(time.Duration(len(c.passes)) * 10 * time.Second)
			if diff := cmp.Diff(c.want, r.told()); diff != "" {
				t.Errorf("%s: told (-want +got):\n%s", c.reason, diff)
			}
			for _, wake := range r.script.wakes {
				if !wake.ID.Equal(spec.ID) || wake.At.IsZero() || wake.Once || len(wake.Needed) > 0 {
					t.Errorf("wake %+v, want the resource, the time, and two sweeps", wake)
				}
			}
		})
	}
}

// TestTellWhenCutShort holds that a pass which a pause cut short tells what it
// saw: nobody else would.
func TestTellWhenCutShort(t *testing.T) {
	r := newRun(t)
	r.script.passes(seen{state: "Succeeded"}, seen{state: "Stopping"})
	get := r.script.get
	r.script.get = func(in activities.GetResourceInput) activities.GetResourceResult {
		if r.count("GetResource") == 2 {
			r.at(0, workflows.PauseUpdate, workflows.PauseInput{By: "ada@host"})
		}
		return get(in)
	}
	r.apply(desired())
	r.at(10*time.Second, workflows.ReconcileUpdate, workflows.ReconcileInput{})
	r.start(20 * time.Second)
	if diff := cmp.Diff([]string{"Ready", "Stopping"}, r.told()); diff != "" || r.count("PostCheck") != 1 {
		t.Errorf("%d post-checks, want 1; told (-want +got):\n%s", r.count("PostCheck"), diff)
	}
}

// slowly makes each wake take a minute of the run's time.
func slowly(s *script) {
	tried := map[string]bool{}
	s.wake = func(in activities.WakeDependentsInput) error {
		if known := tried[in.State]; !known {
			tried[in.State] = true
			return temporal.NewApplicationErrorWithOptions("away", "WakeFailed", temporal.ApplicationErrorOptions{NextRetryDelay: time.Minute})
		}
		return nil
	}
}

var startTime = time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)

// TestEndsWaitForTheWake holds that no end of a run takes a wake along.
func TestEndsWaitForTheWake(t *testing.T) {
	t.Run("once", func(t *testing.T) {
		r := newRun(t)
		slowly(r.script)
		r.at(0, workflows.ApplyUpdate, workflows.ApplyInput{Desired: desired(), Once: true})
		r.start(0)
		if err := r.GetWorkflowError(); err != nil || len(r.script.wakes) != 2 || r.Now().Sub(startTime) < time.Minute {
			t.Errorf("ended with %v after %s and %d attempts to wake, want it to wait for the second", err, r.Now().Sub(startTime), len(r.script.wakes))
		}
		if !r.script.wakes[0].Once {
			t.Error("a run that ends asks for a second sweep, which would keep it for seconds")
		}
	})
	t.Run("continue-as-new", func(t *testing.T) {
		r := newRun(t)
		slowly(r.script)
		wake := r.script.wake
		r.script.wake = func(in activities.WakeDependentsInput) error {
			r.SetContinueAsNewSuggested(true)
			return wake(in)
		}
		r.apply(desired())
		r.at(10*time.Second, workflows.ReconcileUpdate, workflows.ReconcileInput{})
		r.start(0)
		var next *workflow.ContinueAsNewError
		if err := r.GetWorkflowError(); !errors.As(err, &next) || len(r.script.wakes) != 2 {
			t.Errorf("ended with %v after %d attempts to wake, want the next run after the second", err, len(r.script.wakes))
		}
	})
	t.Run("deletion", func(t *testing.T) {
		r := newRun(t)
		slowly(r.script)
		r.script.get = goneAfter(0)
		spec := desired()
		spec.References = []resource.Reference{{ID: mustID(group + "/providers/Contoso.Things/nets/n1"), APIVersion: "1"}}
		spec.DependsOn = []resource.Reference{{ID: spec.Owner, APIVersion: "1"}}
		r.at(0, workflows.DeleteUpdate, workflows.DeleteInput{Desired: &spec})
		r.start(0)
		if err := r.GetWorkflowError(); err != nil || countOf(r.told(), "Deleted") != 2 {
			t.Errorf("ended with %v; told %v, want the end, at its second attempt", err, r.told())
		}
		last := r.script.wakes[0]
		if last.State != "Deleted" || !last.Once || len(last.Needed) != 2 || !last.Needed[0].Equal(spec.Owner) || last.Needed[1].Name() != "n1" {
			t.Errorf("the last wake is %+v; want one sweep, and what it needed told, each once", last)
		}
		if r.Now().Sub(startTime) < time.Minute {
			t.Error("the run ended before its wakes did")
		}
	})
}

// TestReleaseIsTold holds that a resource which is left to its owner says so to
// the owner, which waits for it.
func TestReleaseIsTold(t *testing.T) {
	r := newRun(t)
	r.script.delete = func(activities.DeleteResourceInput) activities.DeleteResourceResult {
		return activities.DeleteResourceResult{Verdict: resource.Block(resource.ReasonWaitingForOwnerDelete, "it goes with rg1")}
	}
	r.apply(desired())
	r.at(5*time.Second, workflows.DeleteUpdate, workflows.DeleteInput{})
	r.start(time.Minute)
	if diff := cmp.Diff([]string{"Ready", "left to the deletion of its owner"}, r.told()); diff != "" {
		t.Errorf("told (-want +got), want the release once, not at each of %d tries:\n%s", r.count("DeleteResource"), diff)
	}
	if last := r.script.wakes[1]; len(last.Needed) != 1 || !last.Needed[0].Equal(desired().Owner) {
		t.Errorf("the release is told to %v, want the owner", last.Needed)
	}
}

// TestWakeOfARun holds what a wake does to a run in each phase.
func TestWakeOfARun(t *testing.T) {
	wake := func(r *run, delay time.Duration, at time.Time) {
		r.RegisterDelayedCallback(func() {
			r.SignalWorkflow(workflows.WakeSignal, workflows.WakeInput{ID: mustID(group), State: "Ready", At: at})
		}, delay)
	}
	cases := map[string]struct {
		reason  string
		arrange func(*run)
		passes  int
	}{
		"blocked": {"it tries again at once", func(r *run) { blocked(r.script, resource.RetryVerySlow, 0) }, 2},
		"repeated": {"the second sweep brings a known change", func(r *run) {
			blocked(r.script, resource.RetryVerySlow, 0)
			wake(r, 5*time.Second+time.Second, startTime)
		}, 2},
		"older": {"what is older than known is no news", func(r *run) {
			blocked(r.script, resource.RetryVerySlow, 0)
			wake(r, 5*time.Second+time.Second, startTime.Add(-time.Second))
		}, 2},
		"newer": {"another change of the same resource is", func(r *run) {
			blocked(r.script, resource.RetryVerySlow, 0)
			wake(r, 5*time.Second+time.Second, startTime.Add(time.Second))
		}, 3},
		"ready":  {"it waits for nobody", func(*run) {}, 1},
		"failed": {"also where no retry is planned", func(r *run) { blocked(r.script, resource.RetryNone, 0) }, 2},
		"paused": {"a pause holds", func(r *run) {
			blocked(r.script, resource.RetryVerySlow, 0)
			r.at(time.Second, workflows.PauseUpdate, workflows.PauseInput{})
		}, 1},
		"resumed": {"what came during a pause is not lost", func(r *run) {
			blocked(r.script, resource.RetryVerySlow, 0)
			r.at(time.Second, workflows.PauseUpdate, workflows.PauseInput{})
			r.at(20*time.Second, workflows.ResumeUpdate, workflows.PauseInput{})
		}, 2},
		"deleting": {"who waits for dependents hears of them", func(r *run) {
			r.script.dependents = func(activities.CheckDependentsInput) resource.Verdict {
				r.called("CheckOwner")
				return resource.Fail(resource.ReasonWaitingForDependents, resource.RetryVerySlow, "a database")
			}
			r.at(time.Second, workflows.DeleteUpdate, workflows.DeleteInput{})
		}, 3},
		"passing while ready": {"a resync read before the change, too", func(r *run) {
			get := r.script.get
			r.script.get = func(in activities.GetResourceInput) activities.GetResourceResult {
				if r.count("GetResource") == 2 {
					r.SignalWorkflow(workflows.WakeSignal, workflows.WakeInput{ID: mustID(group), State: "Ready", At: startTime})
				}
				return get(in)
			}
			r.at(time.Second, workflows.ReconcileUpdate, workflows.ReconcileInput{})
		}, 3},
		"passing": {"the pass read before the change: another one follows", func(r *run) {
			polls := 0
			r.script.poll = func(activities.PollOperationInput) (activities.PollOperationResult, error) {
				if polls++; polls == 1 {
					return activities.PollOperationResult{}, temporal.NewApplicationErrorWithOptions("goes on", activities.ErrorNotYet,
						temporal.ApplicationErrorOptions{NextRetryDelay: 10 * time.Second})
				}
				return activities.PollOperationResult{Verdict: resource.Verdict{Action: resource.ActionSuccess}}, nil
			}
			first := true
			r.script.pre = func(in activities.PreCheckInput) resource.Verdict {
				if first {
					first = false
					return create(in)
				}
				return resource.Verdict{Action: resource.ActionSkip}
			}
			r.script.put = func(activities.PutResourceInput) (activities.PutResourceResult, error) {
				return activities.PutResourceResult{Verdict: resource.Proceed(""), Token: "t", Sent: true}, nil
			}
		}, 2},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			r := newRun(t)
			c.arrange(r)
			wake(r, 5*time.Second, startTime)
			r.apply(desired())
			r.start(30 * time.Second)
			if got := r.count("CheckOwner"); got != c.passes {
				t.Errorf("%d passes, want %d: %s", got, c.passes, c.reason)
			}
		})
	}
}

// TestOldChangesAreForgotten holds that a change is told to the checks as long as
// a worker may keep a reading from before it, and no longer: each check would
// read everything anew on a worker that does not know it.
func TestOldChangesAreForgotten(t *testing.T) {
	r := newRun(t)
	blocked(r.script, resource.RetrySlow, 0)
	heard := map[time.Duration]int{}
	owner := r.script.owner
	r.script.owner = func(in activities.CheckOwnerInput) activities.CheckOwnerResult {
		heard[r.Now().Sub(startTime).Truncate(time.Minute)] = len(in.Changes)
		return owner(in)
	}
	r.RegisterDelayedCallback(func() {
		r.SignalWorkflow(workflows.WakeSignal, workflows.WakeInput{ID: mustID(group), State: "Ready", At: startTime})
	}, time.Minute)
	r.apply(desired())
	r.start(30 * time.Minute)
	early, late := 0, 0
	for at, changes := range heard {
		switch {
		case at >= 2*time.Minute && at < 9*time.Minute:
			early = max(early, changes)
		case at > 11*time.Minute:
			late = max(late, changes)
		}
	}
	if early != 1 || late != 0 {
		t.Errorf("%d changes told within 9 min, %d after 11, want 1 and 0", early, late)
	}
}

// TestFirstTimer holds that the first wait for somebody is short, once: what it
// became while the search attribute was on its way woke nobody here.
func TestFirstTimer(t *testing.T) {
	lists := map[string]struct {
		reason     string
		verdict    resource.Reason
		retryAfter time.Duration
		short      bool
		least      time.Duration
	}{
		"new list":    {"", resource.ReasonReferenceNotReady, 0, true, 0},
		"retry after": {"ARM asked for more", resource.ReasonReferenceNotReady, 50 * time.Second, false, 50 * time.Second},
		"sibling":     {"the turn comes by a message", resource.ReasonWaitingForSibling, 0, false, 30 * time.Second},
	}
	for name, c := range lists {
		t.Run(name, func(t *testing.T) {
			r := newRun(t)
			tries := 0
			r.script.owner = func(activities.CheckOwnerInput) activities.CheckOwnerResult {
				verdict := resource.Block(c.verdict, "waits")
				verdict.Class, verdict.RetryAfter = resource.RetrySlow, c.retryAfter
				verdict.WaitingFor = []resource.ID{mustID(group)}
				if tries++; tries > 9 {
					verdict.WaitingFor = append(verdict.WaitingFor, mustID(group+"/providers/Contoso.Things/nets/n1"))
				}
				return activities.CheckOwnerResult{Verdict: verdict}
			}
			r.apply(desired())
			r.start(30 * time.Minute)
			// Wait i follows pass i+1; the list of pass 10 is new.
			got := r.timers
			if len(got) < 12 {
				t.Fatalf("%d waits", len(got))
			}
			if (got[9] <= 2*time.Second) != c.short || got[9] < c.least {
				t.Errorf("the wait after the new list is %s (short %t wanted): %s", got[9], c.short, c.reason)
			}
			for _, at := range []int{8, 10, 11} {
				if got[at] < 30*time.Second {
					t.Errorf("wait %d is %s: only the one after a new list is short", at, got[at])
				}
			}
		})
	}
}

func ExampleWaitingKey() {
	fmt.Println(workflows.WaitingKey(mustID(group)) == workflows.WaitingKey(mustID("/SUBSCRIPTIONS/11111111-2222-3333-4444-555555555555/resourcegroups/RG1")))
	// Output: true
}
