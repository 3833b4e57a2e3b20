package workflows_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
	"github.com/google/go-cmp/cmp"
	"go.temporal.io/sdk/temporal"
)

// passScript is one pass: the result of the GETs, the decision of the pre-check, and
// whether the resource is Ready.
type passScript struct {
	state         string
	absent, leaf  bool
	put, notReady bool
	blocked       bool
	// refused refuses every GET, lost the one after the PUT.
	refused, lost bool
}

// passes makes the script use one passScript after the other.
func (s *script) passes(all ...passScript) {
	at := func() passScript {
		s.mu.Lock()
		defer s.mu.Unlock()
		return all[min(max(0, countOf(s.calls, "CheckOwner")-1), len(all)-1)]
	}
	s.get = func(in activities.GetResourceInput) activities.GetResourceResult {
		now := at()
		got := activities.GetResourceResult{Verdict: resource.Proceed(""), Leaf: now.leaf}
		switch {
		case now.refused, now.lost && in.Expect == activities.ExpectPresent:
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

// announced returns the states of the wakes.
func (r *run) announced() []string {
	states := []string{}
	for _, wake := range r.script.wakes {
		states = append(states, wake.State)
	}
	return states
}

// TestNotify checks that a pass notifies dependents only if something changed that they
// depend on.
func TestNotify(t *testing.T) {
	const good = "Succeeded"
	cases := map[string]struct {
		reason string
		passes []passScript
		want   []string
	}{
		"in sync":        {"nothing changed since the first pass", []passScript{{state: good}, {state: good}, {state: good}}, []string{"Ready"}},
		"created":        {"Ready includes written", []passScript{{absent: true, put: true, state: good}}, []string{"Ready"}},
		"drift repaired": {"readings from before show the drift", []passScript{{state: good}, {state: good, put: true}}, []string{"Ready", "written"}},
		"operation": {
			"the owner check of the children depends on the state", []passScript{{state: good}, {state: "Updating", blocked: true}, {state: good}},
			[]string{"Ready", "Updating", "Ready"},
		},
		"stopped state": {"also for a resource that stays Ready", []passScript{{state: "Succeeded, Running"}, {state: "Succeeded, Stopped"}}, []string{"Ready", "Succeeded, Stopped"}},
		"vanished":      {"its children have no owner anymore", []passScript{{state: good}, {absent: true, blocked: true}}, []string{"Ready", "absent"}},
		"appeared": {
			"a reference to it is valid now, although it is not Ready and has no state",
			[]passScript{{absent: true, blocked: true}, {notReady: true}}, []string{"changed"},
		},
		"no state":  {"a missing state is a change", []passScript{{state: "Updating", blocked: true}, {blocked: true}}, []string{"Updating", "changed"}},
		"not ready": {"a write is a change even if the resource is not Ready afterwards", []passScript{{state: "Failed", put: true, notReady: true}, {state: "Failed", put: true, notReady: true}}, []string{"Failed", "written"}},
		"late":      {"the post-check decides when it is Ready", []passScript{{state: good, notReady: true}, {state: good, notReady: true}, {state: good}}, []string{good, "Ready"}},
		"refused":   {"a refused read shows no change", []passScript{{state: good}, {refused: true}}, []string{"Ready"}},
		"lost":      {"a refused read after a PUT shows no absence", []passScript{{state: good}, {state: good, put: true, lost: true}}, []string{"Ready", "written"}},
		"again":     {"Ready again after a refusal", []passScript{{state: good}, {refused: true}, {state: good}}, []string{"Ready", "Ready"}},
		"leaf":      {"no resource waits for a leaf", []passScript{{state: good, leaf: true}, {state: good, put: true, leaf: true}, {state: "Updating", leaf: true}}, []string{}},
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
			if diff := cmp.Diff(c.want, r.announced()); diff != "" {
				t.Errorf("%s: announced states (-want +got):\n%s", c.reason, diff)
			}
			for _, wake := range r.script.wakes {
				if !wake.ID.Equal(spec.ID) || wake.At.IsZero() || wake.Once || len(wake.Needed) > 0 {
					t.Errorf("wake %+v, want the resource, the time and two list requests", wake)
				}
			}
		})
	}
}

// TestNotifyAfterInterruptedPass checks that a pass that a pause interrupts announces the
// change that it observed, because no later pass would.
func TestNotifyAfterInterruptedPass(t *testing.T) {
	r := newRun(t)
	r.script.passes(passScript{state: "Succeeded"}, passScript{state: "Stopping", put: true})
	r.script.put = func(activities.PutResourceInput) (activities.PutResourceResult, error) {
		r.at(0, workflows.PauseUpdate, workflows.PauseInput{By: "ada@host"}) // it cancels reads, not writes
		return activities.PutResourceResult{Verdict: resource.Proceed(""), Sent: true, Done: true}, nil
	}
	r.apply(desired())
	r.at(10*time.Second, workflows.ReconcileUpdate, workflows.ReconcileInput{})
	r.start(20 * time.Second)
	if diff := cmp.Diff([]string{"Ready", "Stopping"}, r.announced()); diff != "" || r.count("PostCheck") != 1 {
		t.Errorf("%d post-checks, want 1; announced states (-want +got):\n%s", r.count("PostCheck"), diff)
	}
}

// delayWakes makes each wake take a minute of the run's time.
func delayWakes(s *script) {
	tried := map[string]bool{}
	s.wake = func(in activities.WakeDependentsInput) error {
		if known := tried[in.State]; !known {
			tried[in.State] = true
			return temporal.NewApplicationErrorWithOptions("unavailable", "WakeFailed", temporal.ApplicationErrorOptions{NextRetryDelay: time.Minute})
		}
		return nil
	}
}

var startTime = time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)

// TestRunEndsAfterWake checks that the end of a run does not cancel a wake.
func TestRunEndsAfterWake(t *testing.T) {
	t.Run("once", func(t *testing.T) {
		r := newRun(t)
		delayWakes(r.script)
		r.at(0, workflows.ApplyUpdate, workflows.ApplyInput{Desired: desired(), Once: true})
		r.start(0)
		if err := r.GetWorkflowError(); err != nil || len(r.script.wakes) != 2 || r.Now().Sub(startTime) < time.Minute {
			t.Errorf("ended with %v after %s and %d attempts to wake, want it to wait for the second", err, r.Now().Sub(startTime), len(r.script.wakes))
		}
		if !r.script.wakes[0].Once {
			t.Error("a run that ends requests a second list, which would delay it by seconds")
		}
	})
	t.Run("deletion", func(t *testing.T) {
		r := newRun(t)
		delayWakes(r.script)
		r.script.get = absentAfter(0)
		spec := desired()
		spec.References = []resource.Reference{{ID: mustID(group + "/providers/Contoso.Things/nets/n1"), APIVersion: "1"}}
		spec.DependsOn = []resource.Reference{{ID: spec.Owner, APIVersion: "1"}}
		r.at(0, workflows.DeleteUpdate, workflows.DeleteInput{Desired: &spec})
		r.start(0)
		if err := r.GetWorkflowError(); err != nil || countOf(r.announced(), "Deleted") != 2 {
			t.Errorf("ended with %v, announced %v; want the deletion at the second attempt", err, r.announced())
		}
		last := r.script.wakes[0]
		if last.State != "Deleted" || !last.Once || len(last.Needed) != 2 || !last.Needed[0].Equal(spec.Owner) || last.Needed[1].Name() != "n1" {
			t.Errorf("the last wake is %+v; want one list, and every resource that it needed once", last)
		}
		if r.Now().Sub(startTime) < time.Minute {
			t.Error("the run ended before its wakes did")
		}
	})
}

// TestNotifyOwnerOfRelease checks that a resource that leaves its deletion to its owner
// notifies the owner, which waits for it.
func TestNotifyOwnerOfRelease(t *testing.T) {
	r := newRun(t)
	r.script.delete = func(activities.DeleteResourceInput) activities.DeleteResourceResult {
		return activities.DeleteResourceResult{Verdict: resource.Block(resource.ReasonWaitingForOwnerDelete, "it goes with rg1")}
	}
	r.apply(desired())
	r.at(5*time.Second, workflows.DeleteUpdate, workflows.DeleteInput{})
	r.start(time.Minute)
	if diff := cmp.Diff([]string{"Ready", "left to the deletion of its owner"}, r.announced()); diff != "" {
		t.Errorf("announced states (-want +got), want the release once, not at each of %d tries:\n%s", r.count("DeleteResource"), diff)
	}
	if last := r.script.wakes[1]; len(last.Needed) != 1 || !last.Needed[0].Equal(desired().Owner) {
		t.Errorf("the release is announced to %v, want the owner", last.Needed)
	}
}

// TestWakeByPhase checks the effect of a wake in each phase.
func TestWakeByPhase(t *testing.T) {
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
		"blocked": {"it retries immediately", func(r *run) { blocked(r.script, resource.RetryVerySlow, 0) }, 2},
		"repeated": {"the second list repeats a known change", func(r *run) {
			blocked(r.script, resource.RetryVerySlow, 0)
			wake(r, 5*time.Second+time.Second, startTime)
		}, 2},
		"older": {"a change older than the known one has no effect", func(r *run) {
			blocked(r.script, resource.RetryVerySlow, 0)
			wake(r, 5*time.Second+time.Second, startTime.Add(-time.Second))
		}, 2},
		"newer": {"another change of the same resource starts a pass", func(r *run) {
			blocked(r.script, resource.RetryVerySlow, 0)
			wake(r, 5*time.Second+time.Second, startTime.Add(time.Second))
		}, 3},
		"ready":  {"it waits for no resource", func(*run) {}, 1},
		"failed": {"a wake also works without a planned retry", func(r *run) { blocked(r.script, resource.RetryNone, 0) }, 2},
		"paused": {"a wake starts no pass during a pause", func(r *run) {
			blocked(r.script, resource.RetryVerySlow, 0)
			r.at(time.Second, workflows.PauseUpdate, workflows.PauseInput{})
		}, 1},
		"resumed": {"a change during a pause is not lost", func(r *run) {
			blocked(r.script, resource.RetryVerySlow, 0)
			r.at(time.Second, workflows.PauseUpdate, workflows.PauseInput{})
			r.at(20*time.Second, workflows.ResumeUpdate, workflows.PauseInput{})
		}, 2},
		"deleting": {"a deletion that waits for dependents receives their changes", func(r *run) {
			r.script.dependents = func(activities.CheckDependentsInput) resource.Verdict {
				r.recordCall("CheckOwner")
				return resource.Fail(resource.ReasonWaitingForDependents, resource.RetryVerySlow, "a database")
			}
			r.at(time.Second, workflows.DeleteUpdate, workflows.DeleteInput{})
		}, 3},
		"resync": {"a resync that finds the resource Ready needs nothing of the owner", func(r *run) {
			get := r.script.get
			r.script.get = func(in activities.GetResourceInput) activities.GetResourceResult {
				if r.count("GetResource") == 2 {
					r.SignalWorkflow(workflows.WakeSignal, workflows.WakeInput{ID: mustID(group), State: "Ready", At: startTime})
				}
				return get(in)
			}
			r.at(time.Second, workflows.ReconcileUpdate, workflows.ReconcileInput{})
		}, 2},
		"pass": {"the pass had found the owner Ready, and its resource is Ready, too", func(r *run) {
			polls := 0
			r.script.poll = func(activities.PollOperationInput) (activities.PollOperationResult, error) {
				if polls++; polls == 1 {
					return activities.PollOperationResult{}, temporal.NewApplicationErrorWithOptions("in progress", activities.ErrorNotYet,
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
		}, 1},
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

// TestOldChangesExpire checks that checks receive a change as long as a worker may cache a
// reading from before it, and no longer: a worker that does not know the change would read
// everything again.
func TestOldChangesExpire(t *testing.T) {
	r := newRun(t)
	blocked(r.script, resource.RetrySlow, 0)
	received := map[time.Duration]int{}
	owner := r.script.owner
	r.script.owner = func(in activities.CheckOwnerInput) activities.CheckOwnerResult {
		received[r.Now().Sub(startTime).Truncate(time.Minute)] = len(in.Changes)
		return owner(in)
	}
	r.RegisterDelayedCallback(func() {
		r.SignalWorkflow(workflows.WakeSignal, workflows.WakeInput{ID: mustID(group), State: "Ready", At: startTime})
	}, time.Minute)
	r.apply(desired())
	r.start(30 * time.Minute)
	early, late := 0, 0
	for at, changes := range received {
		switch {
		case at >= 2*time.Minute && at < 9*time.Minute:
			early = max(early, changes)
		case at > 11*time.Minute:
			late = max(late, changes)
		}
	}
	if early != 1 || late != 0 {
		t.Errorf("%d changes received within 9 min, %d after 11, want 1 and 0", early, late)
	}
}

// TestFirstTimer checks that only the first wait for a resource is short: a change while
// the search attribute was not yet visible woke no workflow.
func TestFirstTimer(t *testing.T) {
	lists := map[string]struct {
		reason     string
		verdict    resource.Reason
		retryAfter time.Duration
		short      bool
		minWait    time.Duration
	}{
		"new list":    {"", resource.ReasonReferenceNotReady, 0, true, 0},
		"retry after": {"ARM requested a longer wait", resource.ReasonReferenceNotReady, 50 * time.Second, false, 50 * time.Second},
		"sibling":     {"a message grants the turn", resource.ReasonWaitingForSibling, 0, false, 30 * time.Second},
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
			if (got[9] <= 2*time.Second) != c.short || got[9] < c.minWait {
				t.Errorf("the wait after the new list is %s, want short %t: %s", got[9], c.short, c.reason)
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
