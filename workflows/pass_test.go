package workflows_test

import (
	"encoding/json"
	"errors"
	"slices"
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
			reason: "a resource in sync gets no PUT, but the post-check runs",
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
		"operation with final read": {
			reason: "the last poll returns the resource, so it is not read again",
			script: func(s *script) {
				s.pre = create
				s.put = func(activities.PutResourceInput) (activities.PutResourceResult, error) {
					return activities.PutResourceResult{Verdict: resource.Proceed(""), Token: "t", Sent: true}, nil
				}
				s.poll = pollWith(activities.ExpectPresent, activities.GetResourceResult{Exists: true, State: "Succeeded"})
			},
			want:  []string{"CheckOwner", "GetResource", "PreCheck", "PutResource", "PollOperation", "PostCheck"},
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
			reason: "an error that does not mean absent causes no PUT",
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
		"put refused permanently": {
			reason: "class None waits for a user",
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
			status := r.statusAt(500 * time.Millisecond)
			r.start(700 * time.Millisecond)
			r.wantCalls(c.want...)
			if status.Phase != c.phase {
				t.Errorf("phase %s, want %s (%s)", status.Phase, c.phase, c.reason)
			}
			if status.Condition.Ready != (c.phase == workflows.PhaseReady) {
				t.Errorf("Ready is %t in phase %s (%s)", status.Condition.Ready, status.Phase, c.reason)
			}
			if status.Pass != 1 || status.Generation != 1 {
				t.Errorf("pass %d, generation %d; want 1 and 1", status.Pass, status.Generation)
			}
		})
	}
}

// pollWith returns a poll that ends with a reading if the input expects one.
func pollWith(expect activities.Expectation, got activities.GetResourceResult) func(activities.PollOperationInput) (activities.PollOperationResult, error) {
	return func(in activities.PollOperationInput) (activities.PollOperationResult, error) {
		result := activities.PollOperationResult{Verdict: resource.Verdict{Action: resource.ActionSuccess}}
		if in.Expect == expect {
			got.Verdict, result.Got = resource.Proceed(""), &got
		}
		return result, nil
	}
}

// TestPostCheckUsesResultOfOperation checks that the post-check does not use the reading
// from before the PUT.
func TestPostCheckUsesResultOfOperation(t *testing.T) {
	r := newRun(t)
	r.script.pre = create
	r.script.put = func(activities.PutResourceInput) (activities.PutResourceResult, error) {
		return activities.PutResourceResult{Verdict: resource.Proceed(""), Token: "t", Sent: true}, nil
	}
	r.script.poll = pollWith(activities.ExpectPresent, activities.GetResourceResult{Exists: true, State: "Succeeded", Observed: []byte(`{"after":1}`)})
	var observed string
	r.script.post = func(in activities.PostCheckInput) activities.PostCheckResult {
		observed = string(in.Observed)
		return activities.PostCheckResult{Verdict: resource.Verdict{Action: resource.ActionSuccess}}
	}
	r.apply(desired())
	r.start(700 * time.Millisecond)
	if observed != `{"after":1}` {
		t.Errorf("the post-check received %q, want the reading of the end of the operation", observed)
	}
	if len(r.script.wakes) != 1 || r.script.wakes[0].State != "Ready" {
		t.Errorf("wakes %+v, want one that announces Ready", r.script.wakes)
	}
}

func TestPassPostCheckFailureRepeatsNoPut(t *testing.T) {
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
	status := r.statusAt(time.Hour)
	r.start(time.Hour + time.Minute)
	if puts := r.count("PutResource"); puts != 1 {
		t.Errorf("%d PUTs, want 1: the retry of a post-check is a new pass, and only PreCheck decides about a PUT", puts)
	}
	if status.Condition.Ready || status.Phase != workflows.PhaseNotReady || status.Attempts < 5 {
		t.Errorf("condition %+v in phase %s after %d attempts; want not Ready and retried", status.Condition, status.Phase, status.Attempts)
	}
}

func TestPassActivityFailure(t *testing.T) {
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
			status := r.statusAt(500 * time.Millisecond)
			r.start(700 * time.Millisecond)
			if status.Condition.Reason != c.reason || status.Condition.Message == "" {
				t.Errorf("condition %+v, want reason %s and a message", status.Condition, c.reason)
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
		return activities.PollOperationResult{}, temporal.NewApplicationErrorWithOptions("in progress", "NotYet",
			temporal.ApplicationErrorOptions{NextRetryDelay: time.Minute})
	}
	r.apply(spec)
	during := r.statusAt(5 * time.Minute)
	after := r.statusAt(20 * time.Minute)
	r.start(21 * time.Minute)
	if during.Phase != workflows.PhaseOperating || during.Operation != "PUT" {
		t.Errorf("phase %s, operation %q while the operation runs; want Operating and PUT", during.Phase, during.Operation)
	}
	if log := decisions(after); !strings.Contains(log, "Last poll: in progress") || !strings.Contains(log, "OperationTimeout") || r.count("PutResource") != 1 {
		t.Errorf("%d PUTs, want one and the verdict OperationTimeout:\n%s", r.count("PutResource"), log)
	}
	if after.Condition.Reason != resource.ReasonOperationInProgress {
		t.Errorf("reason %s, want OperationInProgress: Armature keeps reading and sends no PUT", after.Condition.Reason)
	}
}

// TestPassShowsLongOperations checks that lists show an operation that lasts, and that one of
// seconds writes nothing to the search attributes.
func TestPassShowsLongOperations(t *testing.T) {
	cases := map[string]struct {
		reason   string
		after    time.Duration
		outlasts bool
		polls    int
		want     bool
	}{
		"short":    {reason: "the first poll sees its end", polls: 1},
		"outlasts": {reason: "the first poll returns before the end", outlasts: true, polls: 2, want: true},
		"slow":     {reason: "ARM asks for the first poll after a while", after: 10 * time.Second, polls: 1, want: true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			r := newRun(t)
			r.script.pre = create
			r.script.put = func(activities.PutResourceInput) (activities.PutResourceResult, error) {
				return activities.PutResourceResult{Verdict: resource.Proceed(""), Token: "t", RetryAfter: c.after, Sent: true}, nil
			}
			r.script.poll = func(in activities.PollOperationInput) (activities.PollOperationResult, error) {
				if status := r.statusNow(); status.Phase != workflows.PhaseOperating || status.Operation != "PUT" {
					t.Errorf("%s: the status is %s, %q during the operation", c.reason, status.Phase, status.Operation)
				} else if condition := status.Condition; condition.Ready || !strings.Contains(condition.Message, "operation is in progress") {
					t.Errorf("%s: the condition during the operation is %+v", c.reason, condition)
				}
				result := activities.PollOperationResult{Verdict: resource.Verdict{Action: resource.ActionSuccess}}
				if c.outlasts && in.Short > 0 {
					if err := json.Unmarshal([]byte(`{"progress":{"polls":5}}`), &result); err != nil {
						t.Error(err)
					}
				} else if c.outlasts && in.Progress == nil {
					t.Errorf("%s: the second poll has no progress", c.reason)
				}
				return result, nil
			}
			phases := r.phases()
			r.apply(desired())
			r.start(time.Minute)
			if shown := slices.Contains(*phases, string(workflows.PhaseOperating)); shown != c.want || r.count("PollOperation") != c.polls {
				t.Errorf("%s: phases %v, %d polls", c.reason, *phases, r.count("PollOperation"))
			}
		})
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
	status := r.statusAt(30 * time.Minute)
	r.start(31 * time.Minute)
	if puts := r.count("PutResource"); puts != 3 {
		t.Errorf("%d PUTs in half an hour, want 3: an accepted PUT must not reset the counters", puts)
	}
	if wait := status.NextTry.Sub(status.Condition.LastTransitionTime); wait < 40*time.Minute {
		t.Errorf("the fourth try comes %s after the first failure, want very slow", wait)
	}
}

func decisions(status *workflows.Status) string {
	var b strings.Builder
	for _, d := range status.Decisions {
		b.WriteString(d.Step + " " + string(d.Action) + " " + string(d.Reason) + " " + d.Message + "\n")
	}
	return b.String()
}

func TestCancelSendsNoDelete(t *testing.T) {
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
