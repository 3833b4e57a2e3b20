package workflows_test

import (
	"errors"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/activities/contents"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
	"go.temporal.io/sdk/temporal"
)

func TestDelete(t *testing.T) {
	cases := map[string]struct {
		reason string
		spec   func(*resource.Desired)
		script func(*script)
		input  workflows.DeleteInput
		want   []string
		ended  resource.Reason
	}{
		"synchronous": {
			reason: "the resource is read until it is absent",
			script: func(s *script) { s.get = absentAfter(1) },
			want:   []string{"CheckDependents", "CheckOwner", "GetResource", "CheckContents", "DeleteResource", "GetResource"},
			ended:  resource.ReasonDeleted,
		},
		"long-running": {
			script: func(s *script) {
				s.get = absentAfter(1)
				s.delete = func(activities.DeleteResourceInput) activities.DeleteResourceResult {
					return activities.DeleteResourceResult{Verdict: resource.Proceed(""), Token: "t"}
				}
			},
			want:  []string{"CheckDependents", "CheckOwner", "GetResource", "CheckContents", "DeleteResource", "PollOperation", "GetResource"},
			ended: resource.ReasonDeleted,
		},
		"long-running with final read": {
			reason: "the last poll shows that the resource is absent",
			script: func(s *script) {
				s.get = absentAfter(1)
				s.delete = func(activities.DeleteResourceInput) activities.DeleteResourceResult {
					return activities.DeleteResourceResult{Verdict: resource.Proceed(""), Token: "t"}
				}
				s.poll = pollWith(activities.ExpectAbsent, activities.GetResourceResult{})
			},
			want:  []string{"CheckDependents", "CheckOwner", "GetResource", "CheckContents", "DeleteResource", "PollOperation"},
			ended: resource.ReasonDeleted,
		},
		"absent": {
			reason: "an absent resource needs no DELETE",
			script: func(s *script) { s.get = absentAfter(0) },
			want:   []string{"CheckDependents", "CheckOwner", "GetResource"},
			ended:  resource.ReasonDeleted,
		},
		"owner absent": {
			reason: "ARM deletes a resource with its owner",
			script: func(s *script) {
				s.owner = func(activities.CheckOwnerInput) activities.CheckOwnerResult {
					return activities.CheckOwnerResult{Verdict: resource.Block(resource.ReasonWaitingForOwner, ""), OwnerAbsent: true}
				}
			},
			want:  []string{"CheckDependents", "CheckOwner"},
			ended: resource.ReasonDeleted,
		},
		"detach": {
			reason: "detach-on-delete makes no request",
			spec:   func(d *resource.Desired) { d.Policy = resource.PolicyDetachOnDelete },
			script: func(*script) {},
			ended:  resource.ReasonDetached,
		},
		"observe": {
			reason: "an observed resource is only detached",
			spec:   func(d *resource.Desired) { d.Policy = resource.PolicyObserve },
			script: func(*script) {},
			ended:  resource.ReasonDetached,
		},
		"cascade": {
			reason: "--cascade does not change the steps",
			script: func(s *script) { s.get = absentAfter(1) },
			input:  workflows.DeleteInput{Cascade: true},
			want:   []string{"CheckDependents", "CheckOwner", "GetResource", "CheckContents", "DeleteResource", "GetResource"},
			ended:  resource.ReasonDeleted,
		},
		"operation in flight": {
			reason: "an operation in flight is joined before the DELETE",
			script: func(s *script) {
				reads := 0
				s.get = func(activities.GetResourceInput) activities.GetResourceResult {
					reads++
					got := present()
					switch reads {
					case 1:
						got.InFlight = "Updating"
					case 3:
						return absent()
					}
					return got
				}
			},
			want:  []string{"CheckDependents", "CheckOwner", "GetResource", "PollOperation", "GetResource", "CheckContents", "DeleteResource", "GetResource"},
			ended: resource.ReasonDeleted,
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			r := newRun(t)
			spec := desired()
			if c.spec != nil {
				c.spec(&spec)
			}
			c.script(r.script)
			c.input.Desired = &spec
			response := r.at(0, workflows.DeleteUpdate, c.input)
			r.start(0)
			r.wantCalls(c.want...)
			var status workflows.Status
			if err := r.GetWorkflowResult(&status); err != nil || !status.Deleted || status.Condition.Reason != c.ended {
				t.Errorf("result %+v, %v; want %s: %s", status.Condition, err, c.ended, c.reason)
			}
			want := workflows.DeleteResult{Changed: true, Detached: c.ended == resource.ReasonDetached}
			if response.result != want {
				t.Errorf("result %+v, want %+v", response.result, want)
			}
		})
	}
}

// absentAfter makes the resource absent after the given number of reads.
func absentAfter(reads int) func(activities.GetResourceInput) activities.GetResourceResult {
	return func(activities.GetResourceInput) activities.GetResourceResult {
		if reads--; reads < 0 {
			return absent()
		}
		return present()
	}
}

// TestDeleteJoinsOperation checks how a deletion waits for an operation in flight, and that only
// an operation that does not end ends the pass.
func TestDeleteJoinsOperation(t *testing.T) {
	timeout := temporal.NewApplicationErrorWithOptions("still Updating", activities.ErrorNotYet, temporal.ApplicationErrorOptions{NonRetryable: true})
	cases := map[string]struct {
		reason    string
		inFlight  string
		result    activities.PollOperationResult
		err       error
		isDelete  bool
		continues bool
	}{
		"update":   {reason: "the DELETE follows", inFlight: "Updating", result: activities.PollOperationResult{Verdict: resource.Verdict{Action: resource.ActionSuccess}}, continues: true},
		"deletion": {reason: "somebody deletes it", inFlight: "deleting", result: activities.PollOperationResult{Verdict: resource.Verdict{Action: resource.ActionSuccess}}, isDelete: true, continues: true},
		"failure":  {reason: "a resource that failed can be deleted", inFlight: "Updating", result: activities.PollOperationResult{Verdict: resource.Fail("Conflict", resource.RetrySlow, "failed")}, continues: true},
		"no end":   {reason: "Azure would refuse the DELETE", inFlight: "Updating", err: timeout},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			r := newRun(t)
			r.script.get = func(activities.GetResourceInput) activities.GetResourceResult {
				got := r.untilDeleted()
				if r.count("PollOperation") == 0 {
					got.InFlight = c.inFlight
				}
				return got
			}
			var polls []activities.PollOperationInput
			r.script.poll = func(in activities.PollOperationInput) (activities.PollOperationResult, error) {
				polls = append(polls, in)
				return c.result, c.err
			}
			spec := desired()
			r.at(0, workflows.DeleteUpdate, workflows.DeleteInput{Desired: &spec})
			r.start(500 * time.Millisecond)
			if len(polls) != 1 || polls[0].Delete != c.isDelete {
				t.Errorf("%s: waited with %+v", c.reason, polls)
			}
			if got := r.count("DeleteResource") > 0; got != c.continues {
				t.Errorf("%s: sent a DELETE: %t", c.reason, got)
			}
		})
	}
}

// TestDeleteKeepsIdentity checks that a deletion that waits knows which resource it deletes: the
// one that its first read showed, until a user requests it again.
func TestDeleteKeepsIdentity(t *testing.T) {
	r := newRun(t)
	var known []string
	r.script.get = func(in activities.GetResourceInput) activities.GetResourceResult {
		known = append(known, in.Identity["id"])
		got := present()
		got.Identity = resource.Identity{"id": strconv.Itoa(len(known))}
		return got
	}
	r.script.contents = func(contents.Request) resource.Verdict {
		return resource.Block(resource.ReasonContainsUnmanaged, "holds a vault")
	}
	r.apply(desired())
	r.at(time.Second, workflows.DeleteUpdate, workflows.DeleteInput{By: "ada@host"})
	r.at(2*time.Second, workflows.ReconcileUpdate, workflows.ReconcileInput{By: "ada@host"})
	r.at(2500*time.Millisecond, workflows.DeleteUpdate, workflows.DeleteInput{By: "ada@host"})
	r.start(2600 * time.Millisecond)
	if want := []string{"", "", "2", ""}; !slices.Equal(known, want) {
		t.Errorf("the reads knew %q, want %q", known, want)
	}
}

func TestBlockedDeleteRetries(t *testing.T) {
	r := newRun(t)
	tries := 0
	r.script.contents = func(contents.Request) resource.Verdict {
		if tries++; tries < 4 {
			return resource.Fail(resource.ReasonContainsUnmanaged, resource.RetryNone, "holds a vault")
		}
		return resource.Proceed("")
	}
	r.script.get = func(in activities.GetResourceInput) activities.GetResourceResult {
		if in.Expect == activities.ExpectAbsent {
			return absent()
		}
		return present()
	}
	r.apply(desired())
	r.at(10*time.Millisecond, workflows.DeleteUpdate, workflows.DeleteInput{By: "ada@host"})
	status := r.statusAt(time.Minute)
	r.start(0)
	if status.Phase != workflows.PhaseDeleting || status.Condition.Severity == resource.SeverityError {
		t.Errorf("phase %s, severity %s; want a deletion that is never fatal", status.Phase, status.Condition.Severity)
	}
	if tries != 4 || r.count("DeleteResource") != 1 {
		t.Errorf("%d checks of the contents, %d DELETEs; want 4 and 1", tries, r.count("DeleteResource"))
	}
}

func TestDeleteWorksWhilePaused(t *testing.T) {
	r := newRun(t)
	checks := 0
	r.script.contents = func(contents.Request) resource.Verdict {
		if checks++; checks < 3 {
			return resource.Block(resource.ReasonWaitingForDependents, "a database")
		}
		return resource.Proceed("")
	}
	r.script.get = func(in activities.GetResourceInput) activities.GetResourceResult {
		if in.Expect == activities.ExpectAbsent {
			return absent()
		}
		return present()
	}
	r.apply(desired())
	r.at(10*time.Millisecond, workflows.PauseUpdate, workflows.PauseInput{})
	r.at(20*time.Millisecond, workflows.DeleteUpdate, workflows.DeleteInput{})
	r.start(0)
	if r.count("DeleteResource") != 1 {
		t.Errorf("no DELETE while paused, after %d checks", checks)
	}
	if took := r.Now().Sub(time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)); took > time.Minute {
		t.Errorf("the deletion took %s: a pause must not delay it", took)
	}
}

func TestDeleteUnmanaged(t *testing.T) {
	r := newRun(t)
	got := r.at(0, workflows.DeleteUpdate, workflows.DeleteInput{})
	r.start(0)
	if refusal(got) != workflows.RefusedNotManaged {
		t.Errorf("returned %v, want %s", got.rejected, workflows.RefusedNotManaged)
	}
	r.wantCalls()
}

func TestDeleteHonoursUnappliedPolicy(t *testing.T) {
	r := newRun(t)
	r.apply(desired())
	kept := desired()
	kept.Policy = resource.PolicyDetachOnDelete
	got := r.at(10*time.Millisecond, workflows.DeleteUpdate, workflows.DeleteInput{Desired: &kept})
	r.start(time.Second)
	if refusal(got) != workflows.RefusedInvalid || r.count("DeleteResource") != 0 {
		t.Errorf("returned %v after %d DELETEs; a manifest with detach-on-delete must not delete the resource", got.rejected, r.count("DeleteResource"))
	}
}

func TestDeleteForced(t *testing.T) {
	r := newRun(t)
	var forced []bool
	r.script.owner = func(in activities.CheckOwnerInput) activities.CheckOwnerResult {
		if forced = append(forced, in.Force); in.Deleting && !in.Force {
			return activities.CheckOwnerResult{Verdict: resource.Fail(resource.ReasonReconciliationBlocked, resource.RetryVerySlow, "Updating")}
		}
		return activities.CheckOwnerResult{Verdict: resource.Proceed("")}
	}
	r.script.get = func(in activities.GetResourceInput) activities.GetResourceResult {
		if in.Expect == activities.ExpectAbsent {
			return absent()
		}
		got := present()
		got.InFlight = "Updating"
		return got
	}
	r.apply(desired())
	r.at(10*time.Millisecond, workflows.DeleteUpdate, workflows.DeleteInput{})
	r.at(time.Second, workflows.ReconcileUpdate, workflows.ReconcileInput{Force: true, Reason: "the owner hangs", By: "ada@host"})
	r.start(time.Minute)
	if len(forced) != 3 || !forced[2] || r.count("DeleteResource") != 1 || r.count("PollOperation") != 0 {
		t.Errorf("force was %v, %d polls, %d DELETEs; want the third pass to skip owner check and guard", forced, r.count("PollOperation"), r.count("DeleteResource"))
	}
}

func TestReasonDeletedWithoutDeletion(t *testing.T) {
	r := newRun(t)
	r.script.get = func(activities.GetResourceInput) activities.GetResourceResult {
		return activities.GetResourceResult{Verdict: resource.Fail(resource.ReasonDeleted, resource.RetrySlow, "a code of ARM")}
	}
	r.apply(desired())
	r.start(time.Minute)
	var canceled *temporal.CanceledError
	if err := r.GetWorkflowError(); !errors.As(err, &canceled) {
		t.Errorf("ended with %v, want it to run until it is canceled", err)
	}
}

// TestDeletionReadsWithoutBody checks that no read of a deletion returns the body, so that
// a resource that is too large for Temporal can be deleted, and that other passes get it.
func TestDeletionReadsWithoutBody(t *testing.T) {
	r := newRun(t)
	var without []bool
	r.script.get = func(in activities.GetResourceInput) activities.GetResourceResult {
		without = append(without, in.WithoutBody)
		return r.untilDeleted()
	}
	r.apply(desired())
	r.at(time.Minute, workflows.DeleteUpdate, workflows.DeleteInput{By: "ada@host"})
	r.start(2 * time.Minute)
	if want := []bool{false, true, true}; !slices.Equal(without, want) {
		t.Errorf("reads without a body: %v, want %v", without, want)
	}
}

// TestDeletionProvesAbsence demands the second proof of an absence until a DELETE may have been
// accepted: one stale 404 would leave the resource in Azure without a workflow.
func TestDeletionProvesAbsence(t *testing.T) {
	r := newRun(t)
	var proofs []bool
	r.script.get = func(in activities.GetResourceInput) activities.GetResourceResult {
		proofs = append(proofs, in.Existed && !in.Deleted)
		return r.untilDeleted()
	}
	r.apply(desired())
	r.at(time.Minute, workflows.DeleteUpdate, workflows.DeleteInput{By: "ada@host"})
	r.start(2 * time.Minute)
	if want := []bool{false, true, false}; !slices.Equal(proofs, want) {
		t.Errorf("reads that demand a proof: %v, want %v: the creation's, the one before the DELETE, the one after it", proofs, want)
	}
}

// TestDeletionWaitsRarely checks that the steps of a deletion learn how long it has waited for the
// same resources, and that it is tried twice an hour then.
func TestDeletionWaitsRarely(t *testing.T) {
	blocked := func(waited time.Duration) resource.Verdict {
		verdict := resource.Block(resource.ReasonWaitingForDependents, "1 resource")
		verdict.WaitingFor = []resource.ID{mustID(vnetText)}
		if waited >= time.Hour {
			verdict.Class = resource.RetryWoken
		}
		return verdict
	}
	for step, script := range map[string]func(*script){
		"CheckDependents": func(s *script) {
			s.dependents = func(in activities.CheckDependentsInput) resource.Verdict { return blocked(in.WaitedFor) }
		},
		"CheckOwner": func(s *script) {
			s.owner = func(in activities.CheckOwnerInput) activities.CheckOwnerResult {
				return activities.CheckOwnerResult{Verdict: blocked(in.WaitedFor)}
			}
		},
	} {
		t.Run(step, func(t *testing.T) {
			r := newRun(t)
			script(r.script)
			spec := desired()
			r.at(0, workflows.DeleteUpdate, workflows.DeleteInput{Desired: &spec})
			r.start(25 * time.Hour)
			if passes := r.count(step); passes < 48 || passes > 90 {
				t.Errorf("%d passes in 25 h, want about 25 in the first hour and 48 in the others", passes)
			}
		})
	}
}
