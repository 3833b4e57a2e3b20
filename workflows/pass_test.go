package workflows_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
	"go.temporal.io/sdk/temporal"
)

func TestPassOrder(t *testing.T) {
	cases := map[string]struct {
		reason string
		script func(*script)
		want   []string
		phase  workflows.Phase
	}{
		"in sync": {
			reason: "a resource in sync gets no PUT, and the post-check runs all the same",
			script: func(*script) {},
			want:   []string{"CheckOwner", "GetResource", "PreCheck", "PostCheck"},
			phase:  workflows.PhaseReady,
		},
		"create": {
			reason: "after the PUT the resource is read again",
			script: func(s *script) { s.pre = create },
			want:   []string{"CheckOwner", "GetResource", "PreCheck", "PutResource", "GetResource", "PostCheck"},
			phase:  workflows.PhaseReady,
		},
		"long-running operation": {
			reason: "the operation is polled between the PUT and the read",
			script: func(s *script) {
				s.pre = create
				s.put = func(activities.PutResourceInput) (activities.PutResourceResult, error) {
					return activities.PutResourceResult{Verdict: resource.Proceed(""), Token: "t", Sent: true}, nil
				}
			},
			want:  []string{"CheckOwner", "GetResource", "PreCheck", "PutResource", "PollOperation", "GetResource", "PostCheck"},
			phase: workflows.PhaseReady,
		},
		"owner blocks": {
			reason: "a blocked resource gets no request",
			script: func(s *script) {
				s.owner = func(activities.CheckOwnerInput) activities.CheckOwnerResult {
					return activities.CheckOwnerResult{Verdict: resource.Block(resource.ReasonReconciliationBlocked, "owner is Updating")}
				}
			},
			want:  []string{"CheckOwner"},
			phase: workflows.PhaseBlocked,
		},
		"read refused": {
			reason: "an answer that does not mean absent is no reason for a PUT",
			script: func(s *script) {
				s.get = func(activities.GetResourceInput) activities.GetResourceResult {
					return activities.GetResourceResult{Verdict: resource.Fail("SubscriptionNotFound", resource.RetryVerySlow, "no such subscription")}
				}
			},
			want:  []string{"CheckOwner", "GetResource"},
			phase: workflows.PhaseNotReady,
		},
		"pre-check blocks": {
			reason: "an operation in flight is not disturbed",
			script: func(s *script) {
				s.pre = func(activities.PreCheckInput) resource.Verdict {
					return resource.Block(resource.ReasonOperationInProgress, "Updating")
				}
			},
			want:  []string{"CheckOwner", "GetResource", "PreCheck"},
			phase: workflows.PhaseBlocked,
		},
		"put refused for good": {
			reason: "class None waits for a person",
			script: func(s *script) {
				s.pre = create
				s.put = func(activities.PutResourceInput) (activities.PutResourceResult, error) {
					return activities.PutResourceResult{Verdict: resource.Fail("LocationRequired", resource.RetryNone, "no location")}, nil
				}
			},
			want:  []string{"CheckOwner", "GetResource", "PreCheck", "PutResource"},
			phase: workflows.PhaseFailed,
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			r := newRun(t)
			c.script(r.script)
			r.apply(desired())
			status := r.look(500 * time.Millisecond)
			r.start(700 * time.Millisecond)
			r.wantCalls(c.want...)
			if status.Phase != c.phase {
				t.Errorf("phase %s, want %s (%s)", status.Phase, c.phase, c.reason)
			}
			if status.Pass != 1 || status.Generation != 1 {
				t.Errorf("pass %d, generation %d; want 1 and 1", status.Pass, status.Generation)
			}
		})
	}
}

func TestPassPostCheckFailureNeverRepeatsThePut(t *testing.T) {
	r := newRun(t)
	exists := false
	r.script.pre = func(in activities.PreCheckInput) resource.Verdict {
		if !exists {
			return create(in)
		}
		return resource.Verdict{Action: resource.ActionSkip}
	}
	r.script.put = func(activities.PutResourceInput) (activities.PutResourceResult, error) {
		exists = true
		return activities.PutResourceResult{Verdict: resource.Proceed(""), Done: true, Sent: true}, nil
	}
	r.script.post = func(activities.PostCheckInput) activities.PostCheckResult {
		return activities.PostCheckResult{Verdict: resource.Verdict{
			Action: resource.ActionFailure, Reason: resource.ReasonPostReconciliationFailure,
			Severity: resource.SeverityWarning, Class: resource.RetrySlow, Message: "waits for approval",
		}}
	}
	r.apply(desired())
	status := r.look(time.Hour)
	r.start(time.Hour + time.Minute)
	if puts := r.count("PutResource"); puts != 1 {
		t.Errorf("%d PUTs, want 1: the retry of a post-check is a new pass, and PreCheck alone decides about a PUT", puts)
	}
	if status.Condition.Ready || status.Phase != workflows.PhaseNotReady || status.Attempts < 5 {
		t.Errorf("condition %+v in phase %s after %d attempts; want not Ready and tried on", status.Condition, status.Phase, status.Attempts)
	}
}

func TestPassThatGivesUpEndsInWords(t *testing.T) {
	cases := map[string]struct {
		err    error
		reason resource.Reason
	}{
		"unreachable": {temporal.NewNonRetryableApplicationError("connection refused", "ArmUnreachable", nil), resource.ReasonArmUnreachable},
		"anything":    {temporal.NewNonRetryableApplicationError("boom", "Other", nil), resource.ReasonCheckFailed},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			r := newRun(t)
			r.script.pre = create
			r.script.put = func(activities.PutResourceInput) (activities.PutResourceResult, error) {
				return activities.PutResourceResult{}, c.err
			}
			r.apply(desired())
			status := r.look(500 * time.Millisecond)
			r.start(700 * time.Millisecond)
			if status.Condition.Reason != c.reason || status.Condition.Message == "" {
				t.Errorf("condition %+v, want reason %s with words", status.Condition, c.reason)
			}
		})
	}
}

func TestPassOperationTimeout(t *testing.T) {
	r := newRun(t)
	spec := desired()
	spec.Timeout = 10 * time.Minute
	r.script.pre = func(in activities.PreCheckInput) resource.Verdict {
		if r.count("PutResource") > 0 {
			return resource.Block(resource.ReasonOperationInProgress, "Creating")
		}
		return create(in)
	}
	r.script.put = func(activities.PutResourceInput) (activities.PutResourceResult, error) {
		return activities.PutResourceResult{Verdict: resource.Proceed(""), Token: "t", Sent: true}, nil
	}
	r.script.poll = func(activities.PollOperationInput) (activities.PollOperationResult, error) {
		return activities.PollOperationResult{}, temporal.NewApplicationErrorWithOptions("goes on", "NotYet",
			temporal.ApplicationErrorOptions{NextRetryDelay: time.Minute})
	}
	r.apply(spec)
	during := r.look(5 * time.Minute)
	after := r.look(20 * time.Minute)
	r.start(21 * time.Minute)
	if during.Phase != workflows.PhaseOperating || during.Operation != "PUT" {
		t.Errorf("phase %s, operation %q while the operation runs; want Operating and PUT", during.Phase, during.Operation)
	}
	if log := decisions(after); !strings.Contains(log, "OperationTimeout") || r.count("PutResource") != 1 {
		t.Errorf("%d PUTs, want one and the verdict OperationTimeout:\n%s", r.count("PutResource"), log)
	}
	if after.Condition.Reason != resource.ReasonOperationInProgress {
		t.Errorf("reason %s, want OperationInProgress: Armature keeps reading and sends no PUT", after.Condition.Reason)
	}
}

func TestPassFailedPutsBecomeVerySlow(t *testing.T) {
	r := newRun(t)
	r.script.pre = create
	r.script.put = func(activities.PutResourceInput) (activities.PutResourceResult, error) {
		return activities.PutResourceResult{Verdict: resource.Proceed(""), Token: "t", Sent: true}, nil
	}
	r.script.poll = func(activities.PollOperationInput) (activities.PollOperationResult, error) {
		return activities.PollOperationResult{Verdict: resource.Fail("AllocationFailed", resource.RetrySlow, "no capacity")}, nil
	}
	r.apply(desired())
	status := r.look(30 * time.Minute)
	r.start(31 * time.Minute)
	if puts := r.count("PutResource"); puts != 3 {
		t.Errorf("%d PUTs in half an hour, want 3: an accepted PUT must not reset the counters", puts)
	}
	if wait := status.NextTry.Sub(status.Condition.LastTransitionTime); wait < 40*time.Minute {
		t.Errorf("the fourth try comes %s after the first failure, want very slow", wait)
	}
}

func TestPassForce(t *testing.T) {
	r := newRun(t)
	var owner, pre []bool
	r.script.owner = func(in activities.CheckOwnerInput) activities.CheckOwnerResult {
		owner = append(owner, in.Force)
		return activities.CheckOwnerResult{Verdict: resource.Proceed("")}
	}
	r.script.pre = func(in activities.PreCheckInput) resource.Verdict {
		pre = append(pre, in.Force)
		return resource.Verdict{Action: resource.ActionSkip}
	}
	r.apply(desired())
	refused := r.at(10*time.Millisecond, workflows.ReconcileUpdate, workflows.ReconcileInput{Force: true, By: "ada@host"})
	forced := r.at(20*time.Millisecond, workflows.ReconcileUpdate, workflows.ReconcileInput{Force: true, By: "ada@host", Reason: "stuck"})
	r.at(30*time.Millisecond, workflows.ReconcileUpdate, workflows.ReconcileInput{By: "ada@host"})
	status := r.look(500 * time.Millisecond)
	r.start(700 * time.Millisecond)
	if refused.rejected == nil {
		t.Error("a force without a reason was accepted")
	}
	if got := forced.result.(workflows.ReconcileResult).Pass; got != 2 {
		t.Errorf("the forced pass has number %d, want 2", got)
	}
	for _, flags := range [][]bool{owner, pre} {
		if len(flags) != 3 || flags[0] || !flags[1] || flags[2] {
			t.Errorf("force was %v in three passes, want only the second", flags)
		}
	}
	if log := decisions(status); !strings.Contains(log, "ada@host: stuck") {
		t.Errorf("the decisions do not say who forced and why:\n%s", log)
	}
}

func decisions(status *workflows.Status) string {
	var b strings.Builder
	for _, d := range status.Decisions {
		b.WriteString(d.Step + " " + string(d.Action) + " " + string(d.Reason) + " " + d.Message + "\n")
	}
	return b.String()
}

func TestPassMemoryIsKept(t *testing.T) {
	r := newRun(t)
	var seen []string
	r.script.pre = func(in activities.PreCheckInput) resource.Verdict {
		seen = append(seen, string(in.Memory))
		return resource.Verdict{Action: resource.ActionSkip}
	}
	r.script.post = func(activities.PostCheckInput) activities.PostCheckResult {
		return activities.PostCheckResult{Verdict: resource.Verdict{Action: resource.ActionSuccess}, Memory: []byte(`{"x":1}`)}
	}
	r.apply(desired())
	r.at(10*time.Millisecond, workflows.ReconcileUpdate, workflows.ReconcileInput{})
	r.start(700 * time.Millisecond)
	if len(seen) != 2 || seen[0] != "" || seen[1] != `{"x":1}` {
		t.Errorf("memory was %q in two passes", seen)
	}
}

func TestCancelTouchesNothing(t *testing.T) {
	r := newRun(t)
	r.apply(desired())
	r.start(time.Second)
	var canceled *temporal.CanceledError
	if err := r.GetWorkflowError(); !errors.As(err, &canceled) {
		t.Errorf("ended with %v, want canceled", err)
	}
	if r.count("DeleteResource") != 0 {
		t.Error("a native cancel sent a DELETE")
	}
}

func TestPassUnknownPutIsReadFirst(t *testing.T) {
	r := newRun(t)
	r.script.pre = create
	var resets []bool
	r.script.put = func(in activities.PutResourceInput) (activities.PutResourceResult, error) {
		resets = append(resets, in.Reset)
		if len(resets) == 1 {
			return activities.PutResourceResult{Verdict: resource.Fail("GatewayTimeout", resource.RetrySlow, "504"), Unknown: true}, nil
		}
		return activities.PutResourceResult{Verdict: resource.Proceed(""), Done: true, Sent: true}, nil
	}
	r.apply(desired())
	r.at(time.Minute, workflows.ReconcileUpdate, workflows.ReconcileInput{})
	r.start(2 * time.Minute)
	if len(resets) != 3 || resets[0] || !resets[1] || resets[2] {
		t.Errorf("reset was %v, want it for the PUT after the one of unknown outcome", resets)
	}
}

func TestPassTellsHowLongAnOperationBlocks(t *testing.T) {
	r := newRun(t)
	var longest time.Duration
	r.script.pre = func(in activities.PreCheckInput) resource.Verdict {
		longest = max(longest, in.BlockedFor)
		return resource.Block(resource.ReasonOperationInProgress, "Updating")
	}
	r.apply(desired())
	r.start(3 * time.Hour)
	if longest < 2*time.Hour {
		t.Errorf("after 3 h the guard was told of %s: it names --force after hours", longest)
	}
}
