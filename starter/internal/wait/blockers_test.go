package wait

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/starter/internal/backend"
	"github.com/armature-io/armature/workflows"
)

const group = "/subscriptions/11111111-2222-3333-4444-555555555555/resourceGroups/rg1"

func id(t *testing.T, name string) resource.ID {
	t.Helper()
	parsed, err := resource.ParseID(group + "/providers/Contoso.Things/things/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

// fleet has the resources outside of a wait.
type fleet map[string]workflows.Status

func (f fleet) Status(_ context.Context, workflowID string) (workflows.Status, error) {
	return f[workflowID], nil
}

func (f fleet) Record(_ context.Context, workflowID string) (backend.Record, error) {
	status, known := f[workflowID]
	if !known {
		return backend.Record{}, backend.ErrNotManaged
	}
	return backend.Record{WorkflowID: workflowID, ID: status.ID, Running: true}, nil
}

func (f fleet) List(context.Context, string) ([]backend.Record, error) { return nil, nil }

func noon() time.Time { return time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC) }

// state returns a resource of a wait that was tried since the wait began.
func state(t *testing.T, name string, reason resource.Reason, waitsFor ...string) awaitedResource {
	t.Helper()
	status := workflows.Status{
		ID: id(t, name), Phase: workflows.PhaseBlocked, Generation: 1, NextTry: noon().Add(10 * time.Second),
		Condition: resource.Condition{Reason: reason, Severity: resource.SeverityWarning, ObservedGeneration: 1},
	}
	for _, other := range waitsFor {
		status.WaitingFor = append(status.WaitingFor, id(t, other))
	}
	return awaitedResource{View: backend.View{Status: status}, Tried: true}
}

// with returns a resource of a wait with changes.
func with(a awaitedResource, change func(*awaitedResource)) awaitedResource {
	change(&a)
	return a
}

func TestBlockers(t *testing.T) {
	secret, waiting := resource.ReasonSecretNotFound, resource.ReasonReconciliationBlocked
	deleted := func(a *awaitedResource) { a.View.Deleting, a.View.Phase = true, workflows.PhaseDeleting }
	cases := map[string]struct {
		reason   string
		list     []awaitedResource
		others   []awaitedResource
		deleting bool
		want     string // part of the first blocker, "" while time may help
	}{
		"secret":    {reason: "the worker has no such secret", list: []awaitedResource{state(t, "a", secret)}, want: "the operator of the worker must act"},
		"freeze":    {reason: "a user must lift it", list: []awaitedResource{state(t, "a", resource.ReasonFrozen)}, want: "the user who froze it must act"},
		"throttled": {reason: "a budget recovers", list: []awaitedResource{state(t, "a", resource.ReasonThrottled)}},
		"held":      {reason: "the budget recovers within the hour", list: []awaitedResource{state(t, "a", resource.ReasonHeld)}},
		"code":      {reason: "most codes of Azure clear", list: []awaitedResource{state(t, "a", "AllocationFailed")}},
		"absent and not managed": {
			reason: "nobody creates it", want: "it waits for b: it does not exist, and nobody manages it",
			list: []awaitedResource{state(t, "a", resource.ReasonWaitingForOwner, "b")},
		},
		"absent for a moment": {
			reason: "another tool may be creating it",
			list:   []awaitedResource{with(state(t, "a", resource.ReasonReferenceNotFound, "b"), func(a *awaitedResource) { a.View.Condition.LastTransitionTime = noon().Add(-29 * time.Second) })},
		},
		"not managed and busy": {reason: "it exists, and its operation ends", list: []awaitedResource{state(t, "a", waiting, "b")}},
		"waits and was not tried": {
			reason: "the try of the other counts", want: "it waits for b",
			list: []awaitedResource{with(state(t, "a", waiting, "b"), func(a *awaitedResource) { a.Tried = false }), state(t, "b", secret)},
		},
		"waits outside and was not tried": {
			reason: "its own try shows whether the other was mended", others: []awaitedResource{state(t, "b", secret)},
			list: []awaitedResource{with(state(t, "a", waiting, "b"), func(a *awaitedResource) { a.Tried = false })},
		},
		"one of two": {reason: "time helps the other", list: []awaitedResource{state(t, "a", secret), state(t, "b", resource.ReasonThrottled)}},
		"one is done": {
			reason: "the remaining one needs a person", want: "the operator",
			list: []awaitedResource{state(t, "a", secret), with(state(t, "b", resource.ReasonSucceeded), func(a *awaitedResource) { a.Done = true })},
		},
		"actor of the condition": {
			reason: "a check names who approves", want: "the owner of the target must act",
			list: []awaitedResource{with(state(t, "a", resource.ReasonPostReconciliationFailure), func(a *awaitedResource) { a.View.Condition.Actor = "the owner of the target" })},
		},
		"severity Error": {
			reason: "no retry follows", want: "you must act",
			list: []awaitedResource{with(state(t, "a", "Conflict"), func(a *awaitedResource) { a.View.Condition.Severity = resource.SeverityError })},
		},
		"overdue": {reason: "it lasts long, and is retried", list: []awaitedResource{with(state(t, "a", "Conflict"), func(a *awaitedResource) {
			a.View.Condition.Severity, a.View.Overdue = resource.SeverityError, true
		})}},
		"paused": {reason: "no pass starts", want: "armature resume", list: []awaitedResource{with(state(t, "a", waiting), func(a *awaitedResource) { a.View.Paused = true })}},
		"operation": {reason: "Azure is working on it", list: []awaitedResource{with(state(t, "a", secret), func(a *awaitedResource) {
			a.View.Operation = "PUT"
		})}},
		"not tried": {reason: "the user may just have provided the secret", list: []awaitedResource{with(state(t, "a", secret), func(a *awaitedResource) { a.Tried = false })}},
		"not tried soon": {
			reason: "the next try is beyond patience", want: "the operator",
			list: []awaitedResource{with(state(t, "a", secret), func(a *awaitedResource) { a.Tried, a.View.NextTry = false, noon().Add(time.Hour) })},
		},
		"new": {reason: "people often act right after an apply", list: []awaitedResource{with(state(t, "a", secret), func(a *awaitedResource) {
			a.View.Condition.LastTransitionTime = noon().Add(-20 * time.Second)
		})}},
		"new and final": {reason: "no try follows soon", want: "the operator", list: []awaitedResource{with(state(t, "a", secret), func(a *awaitedResource) {
			a.View.Condition.LastTransitionTime, a.View.NextTry = noon().Add(-20*time.Second), time.Time{}
		})}},
		"in a pass": {reason: "its result is not known", list: []awaitedResource{with(state(t, "a", secret), func(a *awaitedResource) {
			a.View.InPass, a.View.NextTry = true, time.Time{}
		})}},
		"requested pass": {reason: "it has not ended", list: []awaitedResource{with(state(t, "a", secret), func(a *awaitedResource) { a.Requested = true })}},
		"newer spec":     {reason: "its pass has not ended", list: []awaitedResource{with(state(t, "a", secret), func(a *awaitedResource) { a.View.Generation = 2 })}},
		"no worker":      {reason: "the state is not known", list: []awaitedResource{with(state(t, "a", secret), func(a *awaitedResource) { a.View.Stale = true })}},
		"waits for it": {
			reason: "it waits only for the one without a secret", want: "it waits for b: the operator of the worker must act",
			list: []awaitedResource{state(t, "a", waiting, "b"), state(t, "b", secret)},
		},
		"waits for a failed one": {
			reason: "the other is settled", want: "it waits for b: it is not retried",
			list: []awaitedResource{state(t, "a", waiting, "b"), with(state(t, "b", "Bad"), func(a *awaitedResource) { a.Blocker = "it is not retried" })},
		},
		"waits for another too": {
			reason: "time helps one of them", list: []awaitedResource{state(t, "a", waiting, "b", "c"), state(t, "b", secret)},
			others: []awaitedResource{state(t, "c", resource.ReasonThrottled)},
		},
		"waits outside": {
			reason: "the chain leaves the wait", want: "it waits for b: it waits for c: the operator",
			list: []awaitedResource{state(t, "a", waiting, "b")}, others: []awaitedResource{state(t, "b", waiting, "c"), state(t, "c", secret)},
		},
		"cycle": {
			reason: "a deletion may be left to the other one",
			list:   []awaitedResource{state(t, "a", waiting, "b"), state(t, "b", waiting, "a")},
		},
		"cycle with a way out": {
			reason: "time helps one of the cycle", list: []awaitedResource{state(t, "a", waiting, "b"), state(t, "b", waiting, "a", "c")},
			others: []awaitedResource{state(t, "c", resource.ReasonThrottled)},
		},
		"turn": {reason: "the turn comes", list: []awaitedResource{state(t, "a", resource.ReasonWaitingForSibling, "b"), state(t, "b", secret)}},
		"deletion": {
			reason: "what it contains is not managed", deleting: true, want: "you must act",
			list: []awaitedResource{with(state(t, "a", resource.ReasonContainsUnmanaged), deleted)},
		},
		"deletion of a user of it": {
			reason: "the dependent is not being deleted", deleting: true, want: "it waits for b: it is not being deleted; run `armature delete b`",
			list: []awaitedResource{with(state(t, "a", resource.ReasonWaitingForDependents, "b"), deleted)}, others: []awaitedResource{state(t, "b", resource.ReasonThrottled)},
		},
		"deletion of both": {
			reason: "time deletes the dependent", deleting: true,
			list:   []awaitedResource{with(state(t, "a", resource.ReasonWaitingForDependents, "b"), deleted)},
			others: []awaitedResource{with(state(t, "b", resource.ReasonThrottled), deleted)},
		},
		"deletion just requested": {reason: "the condition is older", deleting: true, list: []awaitedResource{with(state(t, "a", secret), func(a *awaitedResource) { a.View.Deleting = true })}},
		"deletion not requested":  {reason: "another terminal may request it", deleting: true, list: []awaitedResource{state(t, "a", secret)}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			others := fleet{}
			for _, other := range c.others {
				others[other.View.ID.WorkflowID()] = other.View.Status
			}
			got, stuck := newBlockerSearch(others, c.list, c.deleting, noon()).Blockers(t.Context())
			switch {
			case stuck != (c.want != ""):
				t.Errorf("%s: time does not help: %t, %q", c.reason, stuck, got)
			case stuck && !strings.Contains(got[0], c.want):
				t.Errorf("%s: %q, want %q", c.reason, got[0], c.want)
			}
		})
	}
}

// TestBlockersAreBounded checks that a search does not read a whole fleet: beyond the
// bound time may help.
func TestBlockersAreBounded(t *testing.T) {
	others, names := fleet{}, []string{}
	for i := range maxLookups + 1 {
		name := "t" + strings.Repeat("x", i)
		names, others[id(t, name).WorkflowID()] = append(names, name), state(t, name, resource.ReasonSecretNotFound).View.Status
	}
	list := []awaitedResource{state(t, "a", resource.ReasonReconciliationBlocked, names...)}
	if _, stuck := newBlockerSearch(others, list, false, noon()).Blockers(t.Context()); stuck {
		t.Error("a search with more resources than it may read ends the wait")
	}
	list[0].View.WaitingFor = list[0].View.WaitingFor[:maxLookups]
	if _, stuck := newBlockerSearch(others, list, false, noon()).Blockers(t.Context()); !stuck {
		t.Error("the resources that it may read do not end the wait")
	}
}
