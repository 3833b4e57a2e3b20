package workflows_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/activities/contents"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
	"go.temporal.io/sdk/temporal"

	"github.com/stretchr/testify/mock"
)

// refusal returns the error type of a refused update, or "".
func refusal(a *updateResult) string {
	if refused, ok := errors.AsType[*temporal.ApplicationError](a.rejected); ok {
		return refused.Type()
	}
	return ""
}

func TestRefusedApplyEndsRun(t *testing.T) {
	cases := map[string]struct {
		reason string
		change func(*resource.Desired)
	}{
		"another resource": {"a workflow manages one resource", func(d *resource.Desired) { d.ID = mustID(group) }},
		"no api-version":   {"every request needs it", func(d *resource.Desired) { d.APIVersion = "" }},
		"labels too long": {"a search attribute over 2,048 bytes makes the server terminate the workflow", func(d *resource.Desired) {
			d.Labels = map[string]string{}
			for i := range 150 {
				d.Labels[fmt.Sprintf("label%03d", i)] = "value"
			}
		}},
		"body too large": {"Temporal refuses large payloads", func(d *resource.Desired) {
			d.Body = json.RawMessage(`"` + strings.Repeat("x", resource.MaxBodyBytes) + `"`)
		}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			r := newRun(t)
			spec := desired()
			c.change(&spec)
			got := r.apply(spec)
			r.start(0)
			if refusal(got) != workflows.RefusedInvalid {
				t.Errorf("rejected with %v, want %s: %s", got.rejected, workflows.RefusedInvalid, c.reason)
			}
			if err := r.GetWorkflowError(); err != nil {
				t.Errorf("the run ended with %v, want it to complete immediately", err)
			}
			r.wantCalls()
		})
	}
}

func TestApplyGenerations(t *testing.T) {
	r := newRun(t)
	first := r.apply(desired())
	repeated := r.at(10*time.Millisecond, workflows.ApplyUpdate, workflows.ApplyInput{Desired: desired()})
	changed := desired()
	changed.Body = json.RawMessage(`{"location":"westus3"}`)
	second := r.at(20*time.Millisecond, workflows.ApplyUpdate, workflows.ApplyInput{Desired: changed})
	r.start(time.Second)
	for got, want := range map[*updateResult]workflows.ApplyResult{
		first: {Generation: 1, Changed: true}, repeated: {Generation: 1}, second: {Generation: 2, Changed: true},
	} {
		if got.result != want {
			t.Errorf("result %+v, want %+v", got.result, want)
		}
	}
	if r.count("GetResource") != 2 {
		t.Errorf("%d passes, want 2: an unchanged spec starts none", r.count("GetResource"))
	}
}

func TestApplyDuringOperation(t *testing.T) {
	r := newRun(t)
	var bodies []string
	r.script.pre = create
	r.script.put = func(in activities.PutResourceInput) (activities.PutResourceResult, error) {
		bodies = append(bodies, string(in.Desired.Body))
		return activities.PutResourceResult{Verdict: resource.Proceed(""), Token: "t", Sent: true}, nil
	}
	polls := 0
	r.script.poll = func(activities.PollOperationInput) (activities.PollOperationResult, error) {
		if polls++; polls == 1 {
			return activities.PollOperationResult{}, temporal.NewApplicationErrorWithOptions("in progress", "NotYet",
				temporal.ApplicationErrorOptions{NextRetryDelay: time.Minute})
		}
		return activities.PollOperationResult{Verdict: resource.Verdict{Action: resource.ActionSuccess}}, nil
	}
	r.apply(desired())
	changed := desired()
	changed.Body = json.RawMessage(`{"location":"westus3"}`)
	got := r.at(30*time.Second, workflows.ApplyUpdate, workflows.ApplyInput{Desired: changed})
	status := r.statusAt(2 * time.Minute)
	r.start(3 * time.Minute)
	if !got.complete {
		t.Error("the update waited for the operation")
	}
	if len(bodies) != 2 || bodies[1] != string(changed.Body) {
		t.Errorf("PUT bodies %v, want the new generation after the end of the operation", bodies)
	}
	if status.Condition.ObservedGeneration != 2 {
		t.Errorf("observed generation %d, want 2", status.Condition.ObservedGeneration)
	}
}

func TestReconcileJoins(t *testing.T) {
	r := newRun(t)
	r.apply(desired())
	var results []*updateResult
	for range 5 {
		results = append(results, r.at(10*time.Millisecond, workflows.ReconcileUpdate, workflows.ReconcileInput{By: "ada@host"}))
	}
	r.start(time.Second)
	for _, got := range results {
		if pass := got.result.(workflows.ReconcileResult).Pass; pass < 2 || pass > 3 {
			t.Errorf("returned pass %d, want 2 or 3", pass)
		}
	}
	if passes := r.count("GetResource"); passes > 3 {
		t.Errorf("%d passes for five concurrent requests, want them joined", passes)
	}
}

func TestPause(t *testing.T) {
	r := newRun(t)
	r.script.pre = create
	r.script.put = func(activities.PutResourceInput) (activities.PutResourceResult, error) {
		return activities.PutResourceResult{Verdict: resource.Proceed(""), Token: "t", Sent: true}, nil
	}
	polls := 0
	r.script.poll = func(activities.PollOperationInput) (activities.PollOperationResult, error) {
		if polls++; polls < 3 {
			return activities.PollOperationResult{}, temporal.NewApplicationErrorWithOptions("in progress", "NotYet",
				temporal.ApplicationErrorOptions{NextRetryDelay: time.Minute})
		}
		return activities.PollOperationResult{Verdict: resource.Verdict{Action: resource.ActionSuccess}}, nil
	}
	r.apply(desired())
	r.at(time.Minute+30*time.Second, workflows.PauseUpdate, workflows.PauseInput{By: "ada@host", Reason: "incident"})
	paused := r.statusAt(5 * time.Hour)
	r.at(6*time.Hour, workflows.ResumeUpdate, workflows.PauseInput{By: "ada@host"})
	r.start(6*time.Hour + time.Second)
	if paused.Phase != workflows.PhasePaused || !paused.Paused || !paused.NextTry.IsZero() {
		t.Errorf("phase %s, paused %t, next try %v; want Paused and no next try", paused.Phase, paused.Paused, paused.NextTry)
	}
	if !strings.Contains(paused.Condition.Message, "pause") {
		t.Errorf("the message is %q hours after the operation, want that the pass stopped for the pause", paused.Condition.Message)
	}
	if polls < 3 {
		t.Errorf("%d polls: the operation must end despite the pause", polls)
	}
	calls := strings.Join(r.script.calls, " ")
	want := "CheckOwner GetResource PreCheck PutResource PollOperation PollOperation PollOperation GetResource CheckOwner"
	if !strings.HasPrefix(calls, want) {
		t.Errorf("activities ran as %s, want no step after the PUT before the resume", calls)
	}
}

func TestPauseHasNoNextTry(t *testing.T) {
	r := newRun(t)
	r.apply(desired())
	r.at(10*time.Second, workflows.PauseUpdate, workflows.PauseInput{By: "ada@host"})
	paused := r.statusAt(20 * time.Second)
	r.at(27*time.Second, workflows.DeleteUpdate, workflows.DeleteInput{By: "ada@host"})
	r.script.contents = func(contents.Request) resource.Verdict {
		return resource.Block(resource.ReasonWaitingForDependents, "a database")
	}
	reconcile := r.at(25*time.Second, workflows.ReconcileUpdate, workflows.ReconcileInput{})
	unchanged := r.at(26*time.Second, workflows.ApplyUpdate, workflows.ApplyInput{Desired: desired()})
	whileDeleting := r.at(29*time.Second, workflows.ReconcileUpdate, workflows.ReconcileInput{})
	deleting := r.statusAt(30 * time.Second)
	r.start(40 * time.Second)
	if paused.Pass != 1 || !paused.NextTry.IsZero() {
		t.Errorf("after pass %d the next try is %v, want none while paused", paused.Pass, paused.NextTry)
	}
	if !reconcile.result.(workflows.ReconcileResult).Paused || !unchanged.result.(workflows.ApplyResult).Paused {
		t.Errorf("results %+v and %+v do not report the pause", reconcile.result, unchanged.result)
	}
	if whileDeleting.result.(workflows.ReconcileResult).Paused {
		t.Error("the result reports a pause, which does not stop a deletion")
	}
	if deleting.NextTry.IsZero() {
		t.Error("a deletion has no next try, although it continues while paused")
	}
}

func TestApplyUpdatesMemo(t *testing.T) {
	r := newRun(t)
	r.apply(desired())
	changed := desired()
	changed.APIVersion = "2024-04-13"
	r.at(10*time.Millisecond, workflows.ApplyUpdate, workflows.ApplyInput{Desired: changed})
	var memo map[string]any
	r.OnUpsertMemo(mock.Anything).Run(func(args mock.Arguments) {
		if written := args.Get(0).(map[string]any); written[workflows.MemoAPIVersion] != nil {
			memo = written
		}
	}).Return(nil)
	r.start(time.Second)
	if memo[workflows.MemoAPIVersion] != "2024-04-13" {
		t.Errorf("memo %v, want the new api-version: lists without a worker read it", memo)
	}
	if logged := r.errors.String(); logged != "" {
		t.Errorf("memo and search attributes were written, and logged:\n%s", logged)
	}
}
