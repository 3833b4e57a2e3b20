package workflows_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"
)

const vnetText = group + "/providers/Microsoft.Network/virtualNetworks/v1"

// inTurn makes every change need the turn of the network.
func (s *script) inTurn() { s.serialised = mustID(vnetText) }

// waitTurn grants the turn after the given number of refusals.
func waitTurn(refusals int) func(activities.TakeTurnInput) resource.Verdict {
	return func(activities.TakeTurnInput) resource.Verdict {
		if refusals--; refusals >= 0 {
			verdict := resource.Fail(resource.ReasonWaitingForSibling, resource.RetryVerySlow, "v1/a has the turn")
			verdict.Action = resource.ActionBlock
			verdict.WaitingFor = []resource.ID{mustID(vnetText + "/subnets/a")}
			return verdict
		}
		return resource.Proceed("")
	}
}

func TestTurn(t *testing.T) {
	long := func(s *script) {
		s.put = func(activities.PutResourceInput) (activities.PutResourceResult, error) {
			return activities.PutResourceResult{Verdict: resource.Proceed(""), Token: "t", Sent: true}, nil
		}
	}
	endless := func(s *script) {
		s.poll = func(activities.PollOperationInput) (activities.PollOperationResult, error) {
			return activities.PollOperationResult{}, temporal.NewApplicationErrorWithOptions("in progress", activities.ErrorNotYet,
				temporal.ApplicationErrorOptions{NextRetryDelay: time.Hour})
		}
	}
	cases := map[string]struct {
		reason string
		script func(*script)
		delete bool
		want   []string
	}{
		"in sync": {
			reason: "a resource in sync needs no turn", script: func(*script) {},
			want: []string{"CheckOwner", "GetResource", "PreCheck", "PostCheck"},
		},
		"create": {
			reason: "the turn ends with the PUT, before the rest of the pass", script: func(s *script) { s.pre = create },
			want: []string{"CheckOwner", "GetResource", "PreCheck", "TakeTurn", "PutResource", "EndTurn", "GetResource", "PostCheck"},
		},
		"operation": {
			reason: "ARM is busy until the operation ends", script: func(s *script) { s.pre = create; long(s) },
			want: []string{"CheckOwner", "GetResource", "PreCheck", "TakeTurn", "PutResource", "PollOperation", "EndTurn", "GetResource", "PostCheck"},
		},
		"refused": {
			reason: "a refused PUT ends the turn",
			script: func(s *script) {
				s.pre = create
				s.put = func(activities.PutResourceInput) (activities.PutResourceResult, error) {
					return activities.PutResourceResult{Verdict: resource.Fail("BadRequest", resource.RetryVerySlow, "400")}, nil
				}
			},
			want: []string{"CheckOwner", "GetResource", "PreCheck", "TakeTurn", "PutResource", "EndTurn"},
		},
		"activity failed": {
			reason: "a failed activity ends the turn",
			script: func(s *script) {
				s.pre = create
				s.put = func(activities.PutResourceInput) (activities.PutResourceResult, error) {
					return activities.PutResourceResult{}, temporal.NewNonRetryableApplicationError("broken", "Panic", nil)
				}
			},
			want: []string{"CheckOwner", "GetResource", "PreCheck", "TakeTurn", "PutResource", "EndTurn"},
		},
		"failed operation": {
			reason: "a failed operation ends the turn",
			script: func(s *script) {
				s.pre = create
				long(s)
				s.poll = func(activities.PollOperationInput) (activities.PollOperationResult, error) {
					return activities.PollOperationResult{Verdict: resource.Fail("Conflict", resource.RetryVerySlow, "it failed")}, nil
				}
			},
			want: []string{"CheckOwner", "GetResource", "PreCheck", "TakeTurn", "PutResource", "PollOperation", "EndTurn"},
		},
		"canceled": {
			reason: "a canceled run ends its turn",
			script: func(s *script) { s.pre = create; long(s); endless(s) },
			want:   []string{"CheckOwner", "GetResource", "PreCheck", "TakeTurn", "PutResource", "PollOperation", "EndTurn"},
		},
		"waiting": {
			reason: "without the turn there is no request", script: func(s *script) {
				s.pre, s.turn = create, waitTurn(9)
			},
			want: []string{"CheckOwner", "GetResource", "PreCheck", "TakeTurn"},
		},
		"deletion": {
			reason: "a DELETE needs a turn", delete: true, script: func(s *script) { s.get = absentAfter(1) },
			want: []string{"CheckDependents", "CheckOwner", "GetResource", "CheckContents", "TakeTurn", "DeleteResource", "EndTurn", "GetResource"},
		},
		"deletion refused": {
			reason: "a refused DELETE ends the turn", delete: true, script: func(s *script) {
				s.delete = func(activities.DeleteResourceInput) activities.DeleteResourceResult {
					return activities.DeleteResourceResult{Verdict: resource.Fail("ScopeLocked", resource.RetryVerySlow, "locked")}
				}
			},
			want: []string{"CheckDependents", "CheckOwner", "GetResource", "CheckContents", "TakeTurn", "DeleteResource", "EndTurn"},
		},
		"deletion canceled": {
			reason: "a canceled deletion ends its turn", delete: true, script: func(s *script) {
				endless(s)
				s.delete = func(activities.DeleteResourceInput) activities.DeleteResourceResult {
					return activities.DeleteResourceResult{Verdict: resource.Proceed(""), Token: "t"}
				}
			},
			want: []string{"CheckDependents", "CheckOwner", "GetResource", "CheckContents", "TakeTurn", "DeleteResource", "PollOperation", "EndTurn"},
		},
		"deletion waiting": {
			reason: "a deletion waits for its turn", delete: true, script: func(s *script) {
				s.turn = func(activities.TakeTurnInput) resource.Verdict {
					return resource.Fail(resource.ReasonWaitingForSibling, resource.RetryVerySlow, "v1/a has the turn")
				}
			},
			want: []string{"CheckDependents", "CheckOwner", "GetResource", "CheckContents", "TakeTurn"},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			r := newRun(t)
			r.script.inTurn()
			c.script(r.script)
			spec := desired()
			if c.delete {
				r.at(0, workflows.DeleteUpdate, workflows.DeleteInput{Desired: &spec})
			} else {
				r.apply(spec)
			}
			end := 30 * time.Second
			if name == "deletion" {
				end = 0
			}
			r.start(end)
			if name == "activity failed" { // it is retried soon
				r.script.calls = r.script.calls[:min(len(r.script.calls), len(c.want))]
			}
			if !slices.Equal(r.script.calls, c.want) {
				t.Errorf("%s: activities ran as\n%v, want\n%v", c.reason, r.script.calls, c.want)
			}
			for _, turn := range r.script.turns {
				if !turn.Parent.Equal(mustID(vnetText)) || !turn.ID.Equal(spec.ID) || turn.WorkflowID != spec.ID.WorkflowID() || turn.RunID == "" {
					t.Errorf("turn %+v, want the parent, the resource and its run", turn)
				}
			}
		})
	}
}

// TestTurnCanceledDuringTake checks that a run that is canceled during TakeTurn leaves the
// queue, because the grant may be on its way.
func TestTurnCanceledDuringTake(t *testing.T) {
	for name, deleting := range map[string]bool{"PUT": false, "DELETE": true} {
		t.Run(name, func(t *testing.T) {
			r := newRun(t)
			r.script.inTurn()
			r.script.pre = create
			r.script.turn = func(activities.TakeTurnInput) resource.Verdict {
				r.CancelWorkflow()
				return resource.Proceed("")
			}
			spec := desired()
			if deleting {
				r.at(0, workflows.DeleteUpdate, workflows.DeleteInput{Desired: &spec})
			} else {
				r.apply(spec)
			}
			r.start(time.Minute)
			if r.count("TakeTurn") != 1 || r.count("EndTurn") != 1 || r.count("PutResource")+r.count("DeleteResource") != 0 {
				t.Errorf("activities %v, want the turn ended and no request", r.script.calls)
			}
		})
	}
}

// TestTurnWaiting checks the status of a wait for a turn, that a wake ends it, and that a
// resource that no longer needs a turn leaves the queue.
func TestTurnWaiting(t *testing.T) {
	t.Run("woken", func(t *testing.T) {
		r := newRun(t)
		r.script.inTurn()
		r.script.pre, r.script.turn = create, waitTurn(1)
		keys := r.keys()
		r.apply(desired())
		r.RegisterDelayedCallback(func() {
			r.SignalWorkflow(workflows.WakeSignal, workflows.WakeInput{ID: desired().ID, State: "next", At: startTime})
		}, 10*time.Second)
		before, after := r.statusAt(5*time.Second), r.statusAt(15*time.Second)
		r.start(20 * time.Second)
		if before.Condition.Reason != resource.ReasonWaitingForSibling || before.Phase != workflows.PhaseBlocked ||
			len(before.WaitingFor) != 1 || before.WaitingFor[0].Name() != "a" || before.WaitingSince.IsZero() {
			t.Errorf("phase %s, %s for %v since %s; want the holder of the turn", before.Phase, before.Condition.Reason, before.WaitingFor, before.WaitingSince)
		}
		if after.Phase != workflows.PhaseReady || after.Pass != 2 {
			t.Errorf("after the wake: phase %s, pass %d", after.Phase, after.Pass)
		}
		r.wantCalls("CheckOwner", "GetResource", "PreCheck", "TakeTurn", "PutResource", "EndTurn", "GetResource", "PostCheck")
		for _, list := range *keys {
			if len(list) > 0 {
				t.Errorf("ReconcileWaitingFor contains %v: every Ready of the holder would wake the whole queue", list)
			}
		}
	})
	// The owner may be changing by then, and the pre-check would block.
	t.Run("woken late", func(t *testing.T) {
		r := newRun(t)
		r.script.inTurn()
		r.script.pre, r.script.turn = create, waitTurn(1)
		r.apply(desired())
		r.RegisterDelayedCallback(func() {
			r.SignalWorkflow(workflows.WakeSignal, workflows.WakeInput{ID: desired().ID, State: "next", At: startTime})
		}, 31*time.Second)
		r.start(time.Minute)
		r.wantCalls("CheckOwner", "GetResource", "PreCheck", "TakeTurn",
			"CheckOwner", "GetResource", "PreCheck", "PutResource", "EndTurn", "GetResource", "PostCheck")
	})
	fresh := map[string]func(*run){
		"asked for": func(r *run) { r.at(10*time.Second, workflows.ReconcileUpdate, workflows.ReconcileInput{}) },
		"asked for at the same time": func(r *run) {
			r.RegisterDelayedCallback(func() {
				r.SignalWorkflowSkippingWorkflowTask(workflows.WakeSignal, workflows.WakeInput{ID: desired().ID, State: "next", At: startTime})
				r.UpdateWorkflow(workflows.ReconcileUpdate, "", (&updateResult{}).callbacks(), workflows.ReconcileInput{})
			}, 10*time.Second)
		},
		"another spec": func(r *run) {
			spec := desired()
			spec.Body = []byte(`{"location":"westus3"}`)
			r.at(10*time.Second, workflows.ApplyUpdate, workflows.ApplyInput{Desired: spec})
		},
		"another change": func(r *run) {
			r.RegisterDelayedCallback(func() {
				r.SignalWorkflow(workflows.WakeSignal, workflows.WakeInput{ID: mustID(vnetText), State: "Ready", At: startTime})
			}, 10*time.Second)
		},
	}
	for name, request := range fresh {
		t.Run(name, func(t *testing.T) {
			r := newRun(t)
			r.script.inTurn()
			r.script.pre, r.script.turn = create, waitTurn(1)
			r.apply(desired())
			request(r)
			r.RegisterDelayedCallback(func() {
				r.SignalWorkflow(workflows.WakeSignal, workflows.WakeInput{ID: desired().ID, State: "next", At: startTime})
			}, 10*time.Second)
			r.start(20 * time.Second)
			if r.count("CheckOwner") != 2 || r.count("TakeTurn") != 2 || r.count("PutResource") != 1 {
				t.Errorf("activities %v, want all steps again", r.script.calls)
			}
		})
	}
	t.Run("granted before the response", func(t *testing.T) {
		r := newRun(t)
		r.script.inTurn()
		r.script.pre, r.script.look = create, errDeferred
		queued := waitTurn(1)
		r.script.turn = func(in activities.TakeTurnInput) resource.Verdict {
			r.RegisterDelayedCallback(func() {
				r.SignalWorkflow(workflows.WakeSignal, workflows.WakeInput{ID: desired().ID, State: "next", At: startTime})
			}, 0)
			_ = r.statusNow()
			return queued(in)
		}
		r.apply(desired())
		r.start(20 * time.Second)
		r.wantCalls("CheckOwner", "GetResource", "PreCheck", "TakeTurn", "PutResource", "EndTurn", "GetResource", "PostCheck")
	})
	leaving := map[string]func(*script){
		"in sync meanwhile": func(*script) {},
		"not ready": func(s *script) {
			s.post = func(activities.PostCheckInput) activities.PostCheckResult {
				return activities.PostCheckResult{Verdict: resource.Fail(resource.ReasonPostReconciliationFailure, resource.RetryVerySlow, "not yet")}
			}
		},
	}
	for name, change := range leaving {
		t.Run(name, func(t *testing.T) {
			r := newRun(t)
			r.script.inTurn()
			change(r.script)
			r.script.turn = waitTurn(1)
			r.script.pre = func(in activities.PreCheckInput) resource.Verdict {
				if r.count("PreCheck") == 1 {
					return create(in)
				}
				return resource.Verdict{Action: resource.ActionSkip}
			}
			r.apply(desired())
			r.at(10*time.Second, workflows.ReconcileUpdate, workflows.ReconcileInput{})
			r.at(20*time.Second, workflows.ReconcileUpdate, workflows.ReconcileInput{})
			r.start(30 * time.Second)
			if r.count("TakeTurn") != 1 || r.count("EndTurn") != 1 {
				t.Errorf("activities %v, want one EndTurn, so that the queue does not grant an unused turn", r.script.calls)
			}
		})
	}
	t.Run("deleted meanwhile", func(t *testing.T) {
		r := newRun(t)
		r.script.inTurn()
		r.script.turn = waitTurn(9)
		r.script.get = absentAfter(1)
		spec := desired()
		r.at(0, workflows.DeleteUpdate, workflows.DeleteInput{Desired: &spec})
		r.start(0)
		if last := len(r.script.calls) - 1; r.script.calls[last] != "EndTurn" || r.count("DeleteResource") != 0 {
			t.Errorf("activities %v, want EndTurn at the end", r.script.calls)
		}
	})
}

// TestNeedsFollowTheSpec checks that ReconcileNeeds contains the dependencies of the newest
// spec, which deletions query.
func TestNeedsFollowTheSpec(t *testing.T) {
	r := newRun(t)
	needs := r.lists("ReconcileNeeds")
	spec := desired()
	spec.References = []resource.Reference{{ID: mustID(vnetText), APIVersion: "1"}}
	r.apply(desired())
	r.at(10*time.Second, workflows.ApplyUpdate, workflows.ApplyInput{Desired: spec})
	r.at(20*time.Second, workflows.ApplyUpdate, workflows.ApplyInput{Desired: spec})
	status := r.statusAt(30 * time.Second)
	r.at(40*time.Second, workflows.ApplyUpdate, workflows.ApplyInput{Desired: desired()})
	r.start(50 * time.Second)
	owner, both := []string{workflows.WaitingKey(spec.Owner)}, []string{workflows.WaitingKey(spec.Owner), workflows.WaitingKey(mustID(vnetText))}
	slices.Sort(both)
	if want := fmt.Sprint([][]string{both, owner}); fmt.Sprint(*needs) != want {
		t.Errorf("ReconcileNeeds was written as %v, want %v, and no write without a change", *needs, want)
	}
	if len(status.Needs) != 2 {
		t.Errorf("the status contains %v, want owner and reference", status.Needs)
	}
}

// TestMaxSearchAttributeKeys checks that search attributes never exceed the limit of the
// server, which would terminate the workflow.
func TestMaxSearchAttributeKeys(t *testing.T) {
	for _, many := range []int{40, 5000} {
		t.Run(fmt.Sprint(many), func(t *testing.T) {
			r := newRun(t)
			// The SDK reports a task of more than a second as a deadlock, and five thousand IDs
			// take that long on a slow machine with the race detector.
			r.SetWorkerOptions(worker.Options{DeadlockDetectionTimeout: time.Minute})
			keys := r.keys()
			var all []resource.ID
			for i := range many {
				all = append(all, mustID(fmt.Sprintf("%s/subnets/s%d", vnetText, i)))
			}
			r.script.owner = func(activities.CheckOwnerInput) activities.CheckOwnerResult {
				verdict := resource.Block(resource.ReasonReferenceNotFound, "many are absent")
				verdict.WaitingFor = all
				return activities.CheckOwnerResult{Verdict: verdict}
			}
			spec := desired()
			for _, id := range all {
				spec.References = append(spec.References, resource.Reference{ID: id, APIVersion: "1"})
			}
			needs := r.lists("ReconcileNeeds")
			r.apply(desired())
			r.at(10*time.Millisecond, workflows.ApplyUpdate, workflows.ApplyInput{Desired: spec})
			r.start(time.Minute)
			if len(*keys) != 1 || len((*keys)[0]) != 32 {
				t.Errorf("ReconcileWaitingFor was written %d times, want once, with 32 keys", len(*keys))
			}
			if len(*needs) != 1 || len((*needs)[0]) != min(many+1, 64) {
				t.Errorf("ReconcileNeeds was written %d times, want once, with at most 64 keys", len(*needs))
			}
		})
	}
}
