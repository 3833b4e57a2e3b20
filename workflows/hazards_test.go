package workflows_test

import (
	"testing"
	"time"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
)

// The tests named TestHazardNN check that Armature does not have the known hazards of
// operators for ARM. The others are in activities, extensions and arm.

// Hazard 2: an accepted PUT resets the backoff, so that an operation that always fails is
// repeated every second.
func TestHazard02AnAcceptedPutResetsNoBackoff(t *testing.T) {
	r := newRun(t)
	r.script.pre = create
	r.script.put = func(activities.PutResourceInput) (activities.PutResourceResult, error) {
		return activities.PutResourceResult{Verdict: resource.Proceed(""), Token: "t", Sent: true}, nil
	}
	r.script.poll = func(activities.PollOperationInput) (activities.PollOperationResult, error) {
		return activities.PollOperationResult{Verdict: resource.Fail("AllocationFailed", resource.RetrySlow, "no capacity")}, nil
	}
	r.apply(desired())
	status := r.statusAt(50 * time.Minute)
	r.start(51 * time.Minute)
	if puts := r.count("PutResource"); puts > 4 {
		t.Errorf("%d PUTs within 50 minutes", puts)
	}
	if status.Attempts < 3 {
		t.Errorf("%d attempts are counted, want at least 3", status.Attempts)
	}
}

// Hazard 4: the owner is checked once, not on every pass, and not on a deletion.
func TestHazard04TheOwnerIsCheckedOnEveryPass(t *testing.T) {
	r := newRun(t)
	checks, deleting := 0, false
	r.script.owner = func(in activities.CheckOwnerInput) activities.CheckOwnerResult {
		if in.Deleting {
			deleting = true
			return activities.CheckOwnerResult{Verdict: resource.Block(resource.ReasonReconciliationBlocked, "stopped")}
		}
		checks++
		return activities.CheckOwnerResult{Verdict: resource.Proceed("")}
	}
	r.apply(desired())
	r.at(3*time.Hour, workflows.DeleteUpdate, workflows.DeleteInput{By: "ada@host"})
	r.start(3*time.Hour + time.Minute)
	if passes := r.count("GetResource"); checks < 3 || checks < passes {
		t.Errorf("%d checks of the owner in %d passes", checks, passes)
	}
	if !deleting || r.count("DeleteResource") != 0 {
		t.Errorf("a deletion checked the owner: %t, and sent %d DELETEs to an owner that refuses", deleting, r.count("DeleteResource"))
	}
}

// Hazard 5: a failed post-check makes the next try write again, and uses an outdated
// reading of the owner.
func TestHazard05APostCheckThatFailsWritesNothing(t *testing.T) {
	r := newRun(t)
	exists, reads := false, 0
	r.script.get = func(activities.GetResourceInput) activities.GetResourceResult {
		if reads++; exists {
			return present()
		}
		return absent()
	}
	r.script.pre = func(in activities.PreCheckInput) resource.Verdict {
		if in.Observed == nil {
			return create(in)
		}
		return resource.Verdict{Action: resource.ActionSkip}
	}
	r.script.put = func(activities.PutResourceInput) (activities.PutResourceResult, error) {
		exists = true // immediately, without an operation
		return activities.PutResourceResult{Verdict: resource.Proceed(""), Done: true, Sent: true}, nil
	}
	fresh := true
	r.script.post = func(in activities.PostCheckInput) activities.PostCheckResult {
		fresh = fresh && in.Observed != nil
		return activities.PostCheckResult{Verdict: resource.Verdict{
			Action: resource.ActionFailure, Reason: resource.ReasonPostReconciliationFailure, Severity: resource.SeverityWarning, Class: resource.RetrySlow,
		}}
	}
	r.apply(desired())
	r.start(time.Hour)
	if puts := r.count("PutResource"); puts != 1 || r.count("PostCheck") < 5 {
		t.Errorf("%d PUTs with %d post-checks", puts, r.count("PostCheck"))
	}
	if !fresh || reads < r.count("PostCheck") || r.count("CheckOwner") < r.count("PostCheck") {
		t.Errorf("%d reads and %d owner checks for %d post-checks: each must use a reading of its own pass", reads, r.count("CheckOwner"), r.count("PostCheck"))
	}
}

// Hazard 8: a blocked resource is not woken by its owner, and its waits have no
// jitter.
func TestHazard08ABlockedResourceIsWoken(t *testing.T) {
	r := newRun(t)
	open := false
	r.script.owner = func(activities.CheckOwnerInput) activities.CheckOwnerResult {
		if open {
			return activities.CheckOwnerResult{Verdict: resource.Proceed("")}
		}
		verdict := resource.Block(resource.ReasonReconciliationBlocked, "Updating")
		verdict.Class = resource.RetryVerySlow
		return activities.CheckOwnerResult{Verdict: verdict}
	}
	r.apply(desired())
	r.RegisterDelayedCallback(func() {
		open = true
		r.SignalWorkflow(workflows.WakeSignal, workflows.WakeInput{ID: mustID(group), State: "Succeeded", At: time.Date(2026, 1, 2, 3, 10, 0, 0, time.UTC)})
	}, 10*time.Minute)
	status := r.statusAt(10*time.Minute + time.Second)
	r.start(11 * time.Minute)
	if status.Phase != workflows.PhaseReady {
		t.Errorf("phase %s a second after the owner changed", status.Phase)
	}
	jitter := newRun(t)
	blocked(jitter.script, resource.RetrySlow, 0)
	jitter.apply(desired())
	jitter.start(time.Hour)
	exact := 0
	for i, wait := range waits(jitter) {
		if i > 8 && wait == 3*time.Minute {
			exact++
		}
	}
	if exact > 1 || len(waits(jitter)) < 12 {
		t.Errorf("%d of %d waits are exact", exact, len(waits(jitter)))
	}
}

// Hazard 11: a restart resets counters in memory, and the operator writes every resource
// again. In Armature they are part of the state that the next run receives.
func TestHazard11CountersSurvive(t *testing.T) {
	r := newRun(t)
	r.script.pre = create
	r.script.put = func(activities.PutResourceInput) (activities.PutResourceResult, error) {
		return activities.PutResourceResult{Verdict: resource.Fail("AuthorizationFailed", resource.RetrySlow, "no")}, nil
	}
	r.apply(desired())
	r.RegisterDelayedCallback(func() { r.SetContinueAsNewSuggested(true) }, 5*time.Minute)
	r.start(0)
	input := nextRun[workflows.ReconcileResourceInput](t, r)
	if input.State.Retry.Attempts < 5 || input.State.Retry.Repeated.Times < 5 {
		t.Errorf("the next run starts with %d attempts and %+v", input.State.Retry.Attempts, input.State.Retry.Repeated)
	}
	// A restarted worker finds a resource in sync: one read and no PUT.
	second := newRun(t)
	input.State.Retry.NextTry = time.Date(2026, 1, 2, 3, 0, 10, 0, time.UTC)
	second.input = input
	second.start(time.Minute)
	if second.count("GetResource") != 1 || second.count("PutResource") != 0 {
		t.Errorf("after a restart %v", second.script.calls)
	}
}
