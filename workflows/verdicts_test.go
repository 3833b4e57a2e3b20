package workflows_test

import (
	"errors"
	"testing"
	"time"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/temporal"
)

// TestStepsEndInWords checks that every failure of an activity becomes a verdict, with
// the reason that the interceptor of the worker gave it.
//
//guard:a-pass-ends-in-words
func TestStepsEndInWords(t *testing.T) {
	ended := func(kind, message string) error { return temporal.NewNonRetryableApplicationError(message, kind, nil) }
	cases := map[string]struct {
		err    error
		reason resource.Reason
		class  resource.RetryClass
		text   string
	}{
		"panic":       {ended("CheckFailed", "PutResource panicked: boom"), resource.ReasonCheckFailed, resource.RetrySlow, "PutResource panicked: boom"},
		"too large":   {ended("ObservedTooLarge", "2.3 MB"), resource.ReasonObservedTooLarge, resource.RetryVerySlow, "2.3 MB"},
		"unreachable": {ended("ArmUnreachable", "no route"), resource.ReasonArmUnreachable, resource.RetrySlow, "no route"},
		"unknown":     {errors.New("odd"), resource.ReasonCheckFailed, resource.RetrySlow, "odd"},
		"heartbeat": {
			temporal.NewTimeoutError(enumspb.TIMEOUT_TYPE_HEARTBEAT, nil), resource.ReasonCheckFailed, resource.RetrySlow,
			"the step timed out: its worker stopped responding; it is retried",
		},
		"attempt": {
			temporal.NewTimeoutError(enumspb.TIMEOUT_TYPE_START_TO_CLOSE, nil), resource.ReasonCheckFailed, resource.RetrySlow,
			"the step timed out: it gave no result in time; it is retried",
		},
		"no worker": {
			temporal.NewTimeoutError(enumspb.TIMEOUT_TYPE_SCHEDULE_TO_CLOSE, nil), resource.ReasonCheckFailed, resource.RetrySlow,
			"the step timed out: no worker completed it in time; it is retried",
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got := workflows.VerdictOf(c.err)
			if got.Reason != c.reason || got.Class != c.class || got.Message != c.text || !got.Stops() {
				t.Errorf("got %+v", got)
			}
		})
	}
}

// TestStepHasAnEnd checks that a step that fails for ever ends in words within half an
// hour, and that the pass after it reads before it writes.
//
//guard:a-pass-ends-in-words
func TestStepHasAnEnd(t *testing.T) {
	r := newRun(t)
	r.script.pre = create
	resets := 0
	r.script.put = func(in activities.PutResourceInput) (activities.PutResourceResult, error) {
		if in.MaySent {
			resets++
		}
		return activities.PutResourceResult{}, temporal.NewApplicationErrorWithOptions("the disk of the worker is full", "DiskFull",
			temporal.ApplicationErrorOptions{NextRetryDelay: 4 * time.Minute}) // the test environment makes ten attempts
	}
	r.apply(desired())
	during, after := r.statusAt(27*time.Minute), r.statusAt(31*time.Minute)
	r.start(32 * time.Minute)
	if during.PassSince.IsZero() || during.Pass != 0 {
		t.Errorf("after 27 min the pass has ended: %+v", during.Condition)
	}
	if after.Pass == 0 || after.Condition.Reason != resource.ReasonCheckFailed || after.Condition.Message != "the disk of the worker is full" {
		t.Errorf("after 31 min: pass %d, %+v; want the last error as the verdict", after.Pass, after.Condition)
	}
	if resets == 0 {
		t.Error("the next PUT does not read first, although the one before may have been sent")
	}
}
