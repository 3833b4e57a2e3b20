package workflows_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
	"github.com/stretchr/testify/mock"
)

// TestForget ends the management in each state, and sends nothing to Azure.
func TestForget(t *testing.T) {
	remove := func(r *run) {
		r.at(time.Minute, workflows.DeleteUpdate, workflows.DeleteInput{})
	}
	cases := map[string]struct {
		reason  string
		setup   func(*run)
		message string
		ends    int
	}{
		"Ready":  {reason: "nothing is in progress", setup: func(*run) {}},
		"paused": {reason: "a pause starts no step", setup: func(r *run) { r.at(time.Minute, workflows.PauseUpdate, workflows.PauseInput{}) }},
		"wrong api-version": {reason: "the resource cannot be read", setup: func(r *run) {
			r.script.get = func(activities.GetResourceInput) activities.GetResourceResult {
				return activities.GetResourceResult{Verdict: resource.Fail("InvalidResourceType", resource.RetryNone, "no such version")}
			}
		}},
		"stuck deletion": {reason: "the deletion waits", setup: func(r *run) {
			r.script.dependents = needed
			remove(r)
		}},
		"queued": {reason: "the place in the queue becomes free", ends: 1, setup: func(r *run) {
			r.script.serialised = desired().Owner
			r.script.turn = func(activities.TakeTurnInput) resource.Verdict {
				return resource.Block(resource.ReasonWaitingForSibling, "a sibling")
			}
			remove(r)
		}},
		"refused deletion": {reason: "ARM has no DELETE for it", message: "a DELETE may have been sent before", setup: func(r *run) {
			r.script.delete = func(activities.DeleteResourceInput) activities.DeleteResourceResult {
				return activities.DeleteResourceResult{Verdict: resource.Block(resource.ReasonDeletionNotSupported, "405")}
			}
			remove(r)
		}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			r := newRun(t)
			waiting := r.keys()
			c.setup(r)
			r.apply(desired())
			calls := -1
			r.RegisterDelayedCallback(func() { calls = len(r.script.calls) - r.count("EndTurn") }, 9*time.Minute)
			got := r.at(10*time.Minute, workflows.ForgetUpdate, workflows.ForgetInput{By: "ada@host", Reason: "INC-1"})
			r.start(0)
			var end workflows.Status
			if err := r.GetWorkflowResult(&end); err != nil {
				t.Fatalf("%s: the run ended with %v, want it completed", c.reason, err)
			}
			if got.err != nil || got.rejected != nil || got.result != (workflows.ForgetResult{}) {
				t.Errorf("result %+v", got)
			}
			if end.Condition.Reason != resource.ReasonDetached || end.Deleted || end.Deleting || !strings.Contains(end.Condition.Message, "by ada@host: INC-1") ||
				!strings.Contains(end.Condition.Message, c.message) {
				t.Errorf("%s: ended as %+v", c.reason, end)
			}
			if r.count("EndTurn") != c.ends {
				t.Errorf("%s: EndTurn ran %d times, want %d", c.reason, r.count("EndTurn"), c.ends)
			}
			if sent := len(r.script.calls) - r.count("EndTurn") - calls; sent != 0 {
				t.Errorf("%s: %d activities ran after the forget: %v", c.reason, sent, r.script.calls)
			}
			last := r.script.wakes[len(r.script.wakes)-1]
			if last.State != "not managed" || len(last.Needed) != 1 || !last.Once {
				t.Errorf("%s: the last wake is %+v, want one that names the end of the management", c.reason, last)
			}
			if len(*waiting) > 0 && len((*waiting)[len(*waiting)-1]) != 0 {
				t.Errorf("%s: it still waits for %v", c.reason, *waiting)
			}
		})
	}
}

// TestForgetDuringAStep checks that no further step starts.
func TestForgetDuringAStep(t *testing.T) {
	cases := map[string]struct {
		reason string
		script func(r *run, forget func())
		last   string
		busy   bool
	}{
		"read": {reason: "no PUT follows the read", last: "GetResource", script: func(r *run, forget func()) {
			r.input = existing()
			r.script.get = func(activities.GetResourceInput) activities.GetResourceResult {
				forget()
				return present()
			}
		}},
		"turn": {reason: "the turn was granted, and is given up", last: "EndTurn", script: func(r *run, forget func()) {
			r.script.pre, r.script.serialised, r.script.look = create, desired().Owner, errDeferred
			r.script.turn = func(activities.TakeTurnInput) resource.Verdict {
				forget()
				return resource.Proceed("")
			}
		}},
		"operation": {reason: "the wait for the operation ends", last: "PollOperation", script: func(r *run, forget func()) {
			r.script.pre = create
			r.script.put = func(activities.PutResourceInput) (activities.PutResourceResult, error) {
				return activities.PutResourceResult{Verdict: resource.Proceed("accepted"), Sent: true, Token: "t"}, nil
			}
			r.script.poll = func(activities.PollOperationInput) (activities.PollOperationResult, error) {
				forget()
				return activities.PollOperationResult{Verdict: resource.Proceed("the wait went on")}, nil
			}
		}},
		"registration": {reason: "no second PUT follows", last: "RegisterProvider", busy: true, script: func(r *run, forget func()) {
			r.script.pre = create
			r.script.put = func(activities.PutResourceInput) (activities.PutResourceResult, error) {
				return activities.PutResourceResult{Verdict: resource.Fail("MissingSubscriptionRegistration", resource.RetrySlow, ""), Unregistered: "Microsoft.Kusto"}, nil
			}
			r.script.provider = func(activities.RegisterProviderInput) resource.Verdict {
				forget()
				return resource.Proceed("")
			}
		}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			r := newRun(t)
			announced := 0
			r.OnUpsertMemo(mock.Anything).Run(func(args mock.Arguments) {
				if args.Get(0).(map[string]any)[workflows.MemoForgotten] == true {
					announced++
				}
			}).Return(nil).Maybe()
			results := make(chan *updateResult, 1) // a canceled activity runs on beside the end
			c.script(r, func() { results <- r.duringActivity(workflows.ForgetUpdate, workflows.ForgetInput{By: "ada@host"}) })
			r.apply(desired())
			r.start(0)
			var end workflows.Status
			if err := r.GetWorkflowResult(&end); err != nil || end.Condition.Reason != resource.ReasonDetached {
				t.Fatalf("%s: ended as %+v, %v", c.reason, end, err)
			}
			if slices.ContainsFunc(end.Decisions, func(d workflows.Decision) bool { return d.Message == "the wait went on" }) {
				t.Errorf("%s: the poll was not canceled", c.reason)
			}
			if name == "turn" && r.count("PutResource") != 0 {
				t.Errorf("%s: a PUT was sent", c.reason)
			}
			if got := <-results; got.result != (workflows.ForgetResult{Busy: c.busy}) {
				t.Errorf("%s: result %+v", c.reason, got.result)
			}
			if announced > 1 || announced == 1 != c.busy {
				t.Errorf("%s: %d memos stop a write, want one: %t", c.reason, announced, c.busy)
			}
			if last := r.script.calls[len(r.script.calls)-1]; last != c.last {
				t.Errorf("%s: the last activity is %s, want %s", c.reason, last, c.last)
			}
		})
	}
}

// TestForgetOfACascade checks that the dependents of a forgotten owner stay: what its
// cascade requested is taken back.
func TestForgetOfACascade(t *testing.T) {
	for name, c := range map[string]struct{ cascade bool }{"cascade": {true}, "plain": {false}} {
		t.Run(name, func(t *testing.T) {
			r := newRun(t)
			r.script.dependents = needed
			r.apply(desired())
			r.at(time.Minute, workflows.DeleteUpdate, workflows.DeleteInput{Cascade: c.cascade})
			status := r.statusAt(90 * time.Second)
			r.at(2*time.Minute, workflows.ForgetUpdate, workflows.ForgetInput{})
			r.start(0)
			if ran := r.count("AbortDependents") == 1; ran != c.cascade || status.Cascade != c.cascade {
				t.Errorf("AbortDependents ran: %t, the status says %t, want %t", ran, status.Cascade, c.cascade)
			}
		})
	}
}

// TestEndOfACascade checks that the deletions that a cascade requested are taken back once, although
// other messages arrive while its step runs.
func TestEndOfACascade(t *testing.T) {
	type message struct {
		update string
		input  any
	}
	abort, forget := message{workflows.AbortUpdate, workflows.AbortInput{}}, message{workflows.ForgetUpdate, workflows.ForgetInput{}}
	again := message{workflows.DeleteUpdate, workflows.DeleteInput{}}
	for name, c := range map[string]struct {
		reason   string
		cascade  bool
		messages []message
	}{
		"deleted again and taken back": {"the second deletion has no dependents of its own", true, []message{abort, again, abort}},
		"forgotten":                    {"the forget comes first", true, []message{abort, forget}},
		"plain, deleted again":         {"no cascade requested anything", false, []message{abort, again, abort}},
		"plain, taken back, forgotten": {"no cascade requested anything", false, []message{abort, forget}},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRun(t)
			r.script.dependents = func(activities.CheckDependentsInput) resource.Verdict {
				for _, m := range c.messages {
					if got := r.duringActivity(m.update, m.input); !got.complete {
						t.Errorf("%s: %v", m.update, got.rejected)
						break
					}
				}
				c.messages = nil
				return resource.Proceed("")
			}
			r.apply(desired())
			r.at(time.Minute, workflows.DeleteUpdate, workflows.DeleteInput{Cascade: c.cascade})
			r.start(2 * time.Minute)
			if ran := r.count("AbortDependents"); ran != map[bool]int{true: 1}[c.cascade] {
				t.Errorf("%s: AbortDependents ran %d times", c.reason, ran)
			}
		})
	}
}

// TestForgetRefusesTheRest checks that no message counts after a forget: the run has no
// pass for it.
func TestForgetRefusesTheRest(t *testing.T) {
	r := newRun(t)
	r.apply(desired())
	r.at(time.Minute, workflows.ForgetUpdate, workflows.ForgetInput{})
	late := map[string]*updateResult{
		workflows.ApplyUpdate:     r.at(time.Minute, workflows.ApplyUpdate, workflows.ApplyInput{Desired: desired()}),
		workflows.ReconcileUpdate: r.at(time.Minute, workflows.ReconcileUpdate, workflows.ReconcileInput{}),
		workflows.DeleteUpdate:    r.at(time.Minute, workflows.DeleteUpdate, workflows.DeleteInput{}),
		workflows.PauseUpdate:     r.at(time.Minute, workflows.PauseUpdate, workflows.PauseInput{}),
		workflows.AbortUpdate:     r.at(time.Minute, workflows.AbortUpdate, workflows.AbortInput{}),
	}
	again := r.at(time.Minute, workflows.ForgetUpdate, workflows.ForgetInput{})
	r.start(0)
	for name, got := range late {
		if got.rejected == nil {
			t.Errorf("%s after a forget was accepted: %+v", name, got)
		}
	}
	if again.rejected != nil {
		t.Errorf("a repeated forget was refused: %v", again.rejected)
	}
}

func TestForgetUnmanaged(t *testing.T) {
	r := newRun(t)
	got := r.at(0, workflows.ForgetUpdate, workflows.ForgetInput{})
	r.start(0)
	if refusal(got) != workflows.RefusedNotManaged {
		t.Errorf("returned %v, want %s", got.rejected, workflows.RefusedNotManaged)
	}
}
