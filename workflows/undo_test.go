package workflows_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/activities/contents"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
	"go.temporal.io/sdk/temporal"
)

// needed makes every deletion of a run wait for a dependent.
func needed(activities.CheckDependentsInput) resource.Verdict {
	return resource.Block(resource.ReasonWaitingForDependents, "a database needs it")
}

// takeBack sends the update that takes a deletion back: an apply of the same spec, or an
// abort.
func (r *run) takeBack(delay time.Duration, update string) *updateResult {
	if update == workflows.ApplyUpdate {
		return r.at(delay, update, workflows.ApplyInput{Desired: desired(), By: "ada@host"})
	}
	return r.at(delay, update, workflows.AbortInput{By: "ada@host"})
}

// duringActivity sends an update from an activity and returns its result: the workflow
// handles it before the result of the activity.
func (r *run) duringActivity(update string, input any) *updateResult {
	got, done := &updateResult{}, make(chan struct{})
	callbacks := got.callbacks()
	reject, complete := callbacks.OnReject, callbacks.OnComplete
	callbacks.OnReject = func(err error) { reject(err); close(done) }
	callbacks.OnComplete = func(result any, err error) { complete(result, err); close(done) }
	r.RegisterDelayedCallback(func() { r.UpdateWorkflow(update, "", callbacks, input) }, 0)
	select {
	case <-done:
	case <-time.After(10 * time.Second):
		r.t.Errorf("the workflow did not handle %s", update)
	}
	return got
}

// TestUndo takes a deletion back before anything was sent, in each state in which it
// waits.
func TestUndo(t *testing.T) {
	cases := map[string]struct {
		reason string
		script func(*script)
	}{
		"waits for dependents": {script: func(s *script) { s.dependents = needed }},
		"blocked by owner": {script: func(s *script) {
			s.owner = func(in activities.CheckOwnerInput) activities.CheckOwnerResult {
				if in.Deleting {
					return activities.CheckOwnerResult{Verdict: resource.Block(resource.ReasonReconciliationBlocked, "Updating")}
				}
				return activities.CheckOwnerResult{Verdict: resource.Proceed("")}
			}
		}},
		"wrong api-version": {script: func(s *script) {
			reads := 0
			s.get = func(activities.GetResourceInput) activities.GetResourceResult {
				if reads++; reads == 2 {
					return activities.GetResourceResult{Verdict: resource.Fail("InvalidApiVersionParameter", resource.RetryVerySlow, "no such version")}
				}
				return present()
			}
		}},
		"contains unmanaged": {script: func(s *script) {
			s.contents = func(contents.Request) resource.Verdict {
				return resource.Block(resource.ReasonContainsUnmanaged, "a vault")
			}
		}},
		"waits for its turn": {script: func(s *script) {
			s.serialised = desired().Owner
			s.turn = func(activities.TakeTurnInput) resource.Verdict {
				return resource.Block(resource.ReasonWaitingForSibling, "a sibling")
			}
		}},
		"frozen": {reason: "the activity sent nothing", script: func(s *script) {
			s.delete = func(activities.DeleteResourceInput) activities.DeleteResourceResult {
				return activities.DeleteResourceResult{Verdict: resource.Block(resource.ReasonFrozen, "frozen"), Unsent: true}
			}
		}},
	}
	for name, c := range cases {
		for _, update := range []string{workflows.ApplyUpdate, workflows.AbortUpdate} {
			t.Run(name+" "+update, func(t *testing.T) {
				r := newRun(t)
				c.script(r.script)
				r.apply(desired())
				r.at(time.Minute, workflows.DeleteUpdate, workflows.DeleteInput{By: "ben@host"})
				before := r.statusAt(time.Minute + 500*time.Millisecond)
				got := r.takeBack(time.Minute+501*time.Millisecond, update)
				after := r.statusAt(2 * time.Minute)
				r.start(3 * time.Minute)
				if !before.Deleting || !before.Abortable {
					t.Errorf("before: deleting %t, abortable %t; want both", before.Deleting, before.Abortable)
				}
				if got.rejected != nil || got.err != nil {
					t.Fatalf("%s: %v, %v", update, got.rejected, got.err)
				}
				if after.Deleting || after.Abortable || !after.Condition.Ready || after.Generation != 1 {
					t.Errorf("after: %+v; want a Ready resource of generation 1 that is not being deleted: %s", after, c.reason)
				}
				if name == "waits for its turn" && r.count("EndTurn") != 1 {
					t.Errorf("EndTurn ran %d times: the place in the queue stays taken", r.count("EndTurn"))
				}
				if c.reason == "" && r.count("DeleteResource") != 0 {
					t.Error("a DELETE was sent")
				}
			})
		}
	}
}

// TestUndoTooLate checks that a deletion is not taken back once ARM may have accepted the
// DELETE, and that a refused DELETE changes nothing.
func TestUndoTooLate(t *testing.T) {
	cases := map[string]struct {
		reason string
		unsent bool
		want   string
	}{
		"accepted": {reason: "the resource is going", want: workflows.RefusedDeleting},
		"refused":  {reason: "ARM refused the DELETE, for example for a lock", unsent: true},
	}
	for name, c := range cases {
		for _, update := range []string{workflows.ApplyUpdate, workflows.AbortUpdate} {
			t.Run(name+" "+update, func(t *testing.T) {
				r := newRun(t)
				r.script.delete = func(activities.DeleteResourceInput) activities.DeleteResourceResult {
					return activities.DeleteResourceResult{Verdict: resource.Fail("ScopeLocked", resource.RetryVerySlow, "locked"), Unsent: c.unsent}
				}
				r.apply(desired())
				r.at(time.Minute, workflows.DeleteUpdate, workflows.DeleteInput{})
				got := r.takeBack(2*time.Minute, update)
				after := r.statusAt(3 * time.Minute)
				r.start(4 * time.Minute)
				if refusal(got) != c.want || after.Deleting != (c.want != "") {
					t.Errorf("%s: %v, deleting %t; want %q", c.reason, got.rejected, after.Deleting, c.want)
				}
			})
		}
	}
}

// TestUndoWhileADeleteRuns checks that a request says whether it is to be repeated: a DELETE
// that runs may turn out to send nothing, one after a DELETE that may be sent changes nothing.
func TestUndoWhileADeleteRuns(t *testing.T) {
	for _, update := range []string{workflows.ApplyUpdate, workflows.AbortUpdate} {
		t.Run(update, func(t *testing.T) {
			r := newRun(t)
			input := any(workflows.AbortInput{By: "ada@host"})
			if update == workflows.ApplyUpdate {
				input = workflows.ApplyInput{Desired: desired(), By: "ada@host"}
			}
			var got []string
			r.script.delete = func(activities.DeleteResourceInput) activities.DeleteResourceResult {
				got = append(got, refusal(r.duringActivity(update, input)))
				unsent := len(got) == 1
				return activities.DeleteResourceResult{Verdict: resource.Fail("ScopeLocked", resource.RetryFast, "locked"), Unsent: unsent}
			}
			r.apply(desired())
			r.at(time.Minute, workflows.DeleteUpdate, workflows.DeleteInput{})
			after := r.takeBack(5*time.Minute, workflows.AbortUpdate)
			r.start(6 * time.Minute)
			want := []string{workflows.RefusedRunning, workflows.RefusedRunning, workflows.RefusedDeleting}
			if len(got) < len(want) || !slices.Equal(got[:len(want)], want) {
				t.Errorf("during three DELETEs: %q, want %q", got, want)
			}
			if refusal(after) != workflows.RefusedDeleting {
				t.Errorf("after them: %v, want %s", after.rejected, workflows.RefusedDeleting)
			}
		})
	}
}

// TestUndoDuringAStep checks that a deletion that is taken back while a step runs sends
// nothing: neither the rest of the pass, nor the end of the management.
func TestUndoDuringAStep(t *testing.T) {
	cases := map[string]struct {
		reason string
		script func(r *run, abort func())
		last   string
	}{
		"read": {
			reason: "the resource is absent, and stays managed", last: "GetResource",
			script: func(r *run, abort func()) {
				reads := 0
				r.script.get = func(activities.GetResourceInput) activities.GetResourceResult {
					if reads++; reads == 2 {
						abort()
						return absent()
					}
					return present()
				}
			},
		},
		"owner": {
			reason: "the owner is absent, and the resource stays managed", last: "CheckOwner",
			script: func(r *run, abort func()) {
				r.script.owner = func(in activities.CheckOwnerInput) activities.CheckOwnerResult {
					if in.Deleting {
						abort()
					}
					return activities.CheckOwnerResult{Verdict: resource.Proceed(""), OwnerAbsent: in.Deleting}
				}
			},
		},
		"turn": {
			reason: "the turn was granted, and is given up", last: "EndTurn",
			script: func(r *run, abort func()) {
				r.script.serialised, r.script.look = desired().Owner, errDeferred
				r.script.turn = func(activities.TakeTurnInput) resource.Verdict {
					abort()
					return resource.Proceed("")
				}
			},
		},
		"operation in flight": {
			reason: "the wait for an operation of another tool ends", last: "PollOperation",
			script: func(r *run, abort func()) {
				r.script.get = func(activities.GetResourceInput) activities.GetResourceResult {
					got := present()
					got.InFlight = "Updating"
					return got
				}
				r.script.poll = func(activities.PollOperationInput) (activities.PollOperationResult, error) {
					abort()
					return activities.PollOperationResult{Verdict: resource.Proceed("the wait went on")}, nil
				}
			},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			r := newRun(t)
			var got *updateResult
			c.script(r, func() { got = r.duringActivity(workflows.AbortUpdate, workflows.AbortInput{By: "ada@host"}) })
			r.apply(desired())
			r.at(time.Minute, workflows.DeleteUpdate, workflows.DeleteInput{})
			after := r.statusAt(2 * time.Minute)
			r.start(3 * time.Minute)
			if got == nil || got.err != nil || got.rejected != nil {
				t.Fatalf("abort: %+v", got)
			}
			if after.Deleting || !after.Condition.Ready {
				t.Errorf("%s: %+v", c.reason, after.Condition)
			}
			if slices.ContainsFunc(after.Decisions, func(d workflows.Decision) bool { return d.Message == "the wait went on" }) {
				t.Errorf("%s: the poll was not canceled", c.reason)
			}
			if slices.ContainsFunc(r.script.wakes, func(in activities.WakeDependentsInput) bool { return in.State == "Deleted" }) {
				t.Errorf("%s: others were notified of a deletion: %+v", c.reason, r.script.wakes)
			}
			deletion := r.script.calls[slices.Index(r.script.calls, "CheckDependents"):]
			pass := deletion[:slices.Index(deletion, c.last)+1]
			if next := deletion[len(pass)]; next != "CheckOwner" || r.count("DeleteResource") != 0 {
				t.Errorf("%s: the deletion pass went on with %s: %v", c.reason, next, deletion)
			}
		})
	}
}

// TestUndoCascade checks that the end of a cascade takes back what it requested, and notifies
// the resources that wait.
func TestUndoCascade(t *testing.T) {
	for name, c := range map[string]struct {
		reason string
		err    error
		want   string
	}{
		"taken back": {"the decisions say what was taken back", nil, "took back 2"},
		"fails":      {"a user has to look at the dependents", temporal.NewNonRetryableApplicationError("no connection", "", nil), "cannot take back the deletions in c1, which may continue: no connection"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRun(t)
			r.script.dependents = needed
			r.script.abort = func() (resource.Verdict, error) { return resource.Proceed("took back 2"), c.err }
			r.apply(desired())
			r.at(time.Minute, workflows.DeleteUpdate, workflows.DeleteInput{Cascade: true, By: "ben@host"})
			r.at(time.Minute+2*time.Second, workflows.AbortUpdate, workflows.AbortInput{By: "ada@host"})
			after := r.statusAt(2 * time.Minute)
			r.start(3 * time.Minute)
			if r.count("AbortDependents") != 1 || !slices.ContainsFunc(after.Decisions, func(d workflows.Decision) bool { return d.Step == "AbortDependents" && d.Message == c.want }) {
				t.Errorf("%s: AbortDependents ran %d times, want once; decisions\n%s", c.reason, r.count("AbortDependents"), decisions(after))
			}
			if !after.Condition.Ready || after.Cascade {
				t.Errorf("after: %+v, want a Ready resource", after)
			}
			if !slices.ContainsFunc(r.script.wakes, func(in activities.WakeDependentsInput) bool {
				return in.State == "no longer being deleted" && len(in.Needed) == 1
			}) {
				t.Errorf("wakes %+v, want one that names the end of the deletion", r.script.wakes)
			}
		})
	}
}

func TestUndoOfACascadedDeletion(t *testing.T) {
	owner, other := desired().Owner, mustID(group+"/providers/Contoso.Things/things/t1")
	byOwner, byUser := workflows.DeleteInput{Cascade: true, From: owner}, workflows.DeleteInput{}
	cases := map[string]struct {
		reason  string
		deletes []workflows.DeleteInput
		from    resource.ID
		want    string
		with    resource.ID
	}{
		"own cascade":     {reason: "the owner takes its own request back", deletes: []workflows.DeleteInput{byOwner}, from: owner, with: owner},
		"other cascade":   {reason: "another owner did not request it", deletes: []workflows.DeleteInput{byOwner}, from: other, want: workflows.RefusedNotDeleted},
		"request of user": {reason: "a user wants it deleted", deletes: []workflows.DeleteInput{byUser}, from: owner, want: workflows.RefusedNotDeleted},
		"user after cascade": {
			reason: "the request of a user outlasts the cascade", deletes: []workflows.DeleteInput{byOwner, byUser}, from: owner, want: workflows.RefusedNotDeleted,
		},
		"cascade after user": {
			reason: "a cascade does not take the request over", deletes: []workflows.DeleteInput{byUser, byOwner}, from: owner, want: workflows.RefusedNotDeleted,
		},
		"by a user":   {reason: "the result names the owner that requests it again", deletes: []workflows.DeleteInput{byOwner}, with: owner},
		"not deleted": {reason: "there is nothing to take back", want: workflows.RefusedNotDeleted},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			r := newRun(t)
			r.script.dependents = needed
			r.apply(desired())
			for i, input := range c.deletes {
				r.at(time.Minute+time.Duration(i)*time.Millisecond, workflows.DeleteUpdate, input)
			}
			got := r.at(2*time.Minute, workflows.AbortUpdate, workflows.AbortInput{From: c.from})
			r.start(3 * time.Minute)
			if refusal(got) != c.want {
				t.Fatalf("%s: %v, want %q", c.reason, got.rejected, c.want)
			}
			if result, ok := got.result.(workflows.AbortResult); c.want == "" && (!ok || !result.DeletedWith.Equal(c.with)) {
				t.Errorf("%s: %+v", c.reason, got.result)
			}
		})
	}
}

// TestUndoWhilePaused checks that a paused resource is paused again after its deletion was
// taken back.
func TestUndoWhilePaused(t *testing.T) {
	r := newRun(t)
	r.script.serialised = desired().Owner
	r.script.turn = func(activities.TakeTurnInput) resource.Verdict {
		return resource.Block(resource.ReasonWaitingForSibling, "a sibling")
	}
	r.apply(desired())
	r.at(time.Minute, workflows.PauseUpdate, workflows.PauseInput{})
	r.at(2*time.Minute, workflows.DeleteUpdate, workflows.DeleteInput{})
	got := r.takeBack(3*time.Minute, workflows.AbortUpdate)
	after := r.statusAt(4 * time.Minute)
	r.start(5 * time.Minute)
	if result, ok := got.result.(workflows.AbortResult); !ok || !result.Paused {
		t.Errorf("result %+v, want a pause", got.result)
	}
	if r.count("EndTurn") != 1 {
		t.Error("the place in the queue stays taken: no pass gives it up")
	}
	if after.Phase != workflows.PhasePaused || !after.NextTry.IsZero() {
		t.Errorf("phase %s, next try %s; want a pause", after.Phase, after.NextTry)
	}
}

// TestDeleteWithAnotherVersion checks that a deletion uses the api-version of the request
// and that the applied spec stays as it is.
func TestDeleteWithAnotherVersion(t *testing.T) {
	r := newRun(t)
	r.script.get = func(in activities.GetResourceInput) activities.GetResourceResult {
		switch {
		case in.APIVersion != "2024-01-01" && r.count("CheckDependents") > 0:
			return activities.GetResourceResult{Verdict: resource.Fail("InvalidApiVersionParameter", resource.RetryVerySlow, "no such version")}
		case in.Expect == activities.ExpectAbsent:
			return absent()
		}
		return present()
	}
	r.apply(desired())
	r.at(time.Minute, workflows.DeleteUpdate, workflows.DeleteInput{})
	stuck := r.statusAt(2 * time.Minute)
	r.at(3*time.Minute, workflows.DeleteUpdate, workflows.DeleteInput{APIVersion: "2024-01-01"})
	r.start(time.Hour)
	var end workflows.Status
	if err := r.GetWorkflowResult(&end); err != nil || !end.Deleted || end.APIVersion != desired().APIVersion {
		t.Errorf("ended as %+v, %v; want a deletion", end, err)
	}
	if !strings.Contains(stuck.Condition.Message, "no such version") || r.count("DeleteResource") != 1 {
		t.Errorf("before: %q, %d DELETEs", stuck.Condition.Message, r.count("DeleteResource"))
	}
}

// TestUndoDuringAPut checks that a deletion that is requested and taken back during the
// operation of a PUT leaves the wait for that operation as it is.
func TestUndoDuringAPut(t *testing.T) {
	r := newRun(t)
	r.script.pre = create
	r.script.put = func(activities.PutResourceInput) (activities.PutResourceResult, error) {
		return activities.PutResourceResult{Verdict: resource.Proceed("accepted"), Sent: true, Token: "t"}, nil
	}
	r.script.poll = func(activities.PollOperationInput) (activities.PollOperationResult, error) {
		if r.count("PollOperation") > 1 {
			return activities.PollOperationResult{Verdict: resource.Proceed("")}, nil
		}
		r.duringActivity(workflows.DeleteUpdate, workflows.DeleteInput{})
		r.duringActivity(workflows.AbortUpdate, workflows.AbortInput{})
		return activities.PollOperationResult{Verdict: resource.Proceed("the operation ended")}, nil
	}
	r.apply(desired())
	after := r.statusAt(time.Minute)
	r.start(2 * time.Minute)
	if !slices.ContainsFunc(after.Decisions, func(d workflows.Decision) bool { return d.Message == "the operation ended" }) {
		t.Errorf("decisions %+v, want the end of the operation", after.Decisions)
	}
}

// TestHeldDeletion checks that a held deletion waits for its DeleteStack, that a taken-back one
// is not begun again, and that one stack changes nothing of another one's.
func TestHeldDeletion(t *testing.T) {
	held := workflows.DeleteInput{By: "ben@host", Held: true, Stack: "delete:1"}
	next := func(stack string) workflows.DeleteInput {
		return workflows.DeleteInput{By: "ben@host", Continue: true, Stack: stack}
	}
	cases := map[string]struct {
		reason  string
		update  string
		input   any
		want    string
		deletes bool
		waits   bool
	}{
		"continued":           {reason: "the stack needs it deleted", update: workflows.DeleteUpdate, input: next("delete:1"), deletes: true},
		"by another stack":    {reason: "it accompanies another request", update: workflows.DeleteUpdate, input: next("delete:2"), want: workflows.RefusedNotDeleted, waits: true},
		"held again":          {reason: "the stack still holds it", update: workflows.DeleteUpdate, input: held, deletes: true, waits: true},
		"by the user":         {reason: "a new request holds nothing", update: workflows.DeleteUpdate, input: workflows.DeleteInput{By: "ben@host"}, deletes: true},
		"aborted":             {reason: "the stack has ended", update: workflows.AbortUpdate, input: workflows.AbortInput{Stack: "delete:1"}},
		"aborted by another":  {reason: "it accompanies another request", update: workflows.AbortUpdate, input: workflows.AbortInput{Stack: "delete:2"}, want: workflows.RefusedNotDeleted, waits: true},
		"aborted by the user": {reason: "whatever accompanies it", update: workflows.AbortUpdate, input: workflows.AbortInput{}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			r := newRun(t)
			r.apply(desired())
			r.at(time.Minute, workflows.DeleteUpdate, held)
			waiting := r.statusAt(2 * time.Minute)
			got := r.at(3*time.Minute, c.update, c.input)
			after := r.statusAt(4 * time.Minute)
			// Whatever happened, a stack does not begin a deletion that was taken back.
			late := r.at(5*time.Minute, workflows.DeleteUpdate, next("delete:1"))
			r.start(6 * time.Minute)
			if waiting.Condition.Reason != resource.ReasonWaitingForDependents {
				t.Errorf("a held deletion is %s, want it to wait", waiting.Condition.Reason)
			}
			if waits := after.Condition.Reason == resource.ReasonWaitingForDependents; refusal(got) != c.want || waits != c.waits {
				t.Errorf("%s: %v, want %q; waits: %t", c.reason, got.rejected, c.want, waits)
			}
			if c.update == workflows.AbortUpdate && c.want == "" && refusal(late) != workflows.RefusedNotDeleted {
				t.Errorf("%s: a deletion that was taken back is begun again: %v", c.reason, late.rejected)
			}
			// After a refused request, the late one of its own stack begins it.
			if got, want := r.count("DeleteResource") > 0, c.deletes || c.want != ""; got != want {
				t.Errorf("%s: sent a DELETE: %t, want %t", c.reason, got, want)
			}
		})
	}
}
