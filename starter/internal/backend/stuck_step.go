package backend

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/armature-io/armature/workflows"
	enumspb "go.temporal.io/api/enums/v1"
	failurepb "go.temporal.io/api/failure/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
)

const (
	// PhaseStuck is shown instead of the phase while a step keeps failing without a
	// verdict: the stored phase is from the pass before.
	PhaseStuck = "Stuck"
	// maxDescribed bounds the workflows that are described to find stuck steps, because
	// no list shows them.
	maxDescribed = 1000
	// notification is the activity that runs beside the passes and holds none of them.
	notification = "WakeDependents"
)

// describeStuckStep returns how a step of a pass keeps failing, "" if it does not. An
// operation that is polled, and a worker that stops, fail as benign.
func describeStuckStep(d decoder, pending *workflowpb.PendingActivityInfo) string {
	failure, name := pending.GetLastFailure(), pending.GetActivityType().GetName()
	switch {
	case failure == nil, pending.GetAttempt() < minStuckAttempts, name == notification,
		pending.GetState() == enumspb.PENDING_ACTIVITY_STATE_CANCEL_REQUESTED,
		failure.GetApplicationFailureInfo().GetCategory() == enumspb.APPLICATION_ERROR_CATEGORY_BENIGN:
		return ""
	}
	return fmt.Sprintf("its step %s keeps failing (attempt %d): %s", name, pending.GetAttempt(), cli.OneLine(d.failureText(failure)))
}

// failureText returns the message of a failure. That of a timeout names only its kind.
func (d decoder) failureText(failure *failurepb.Failure) string {
	switch failure.GetTimeoutFailureInfo().GetTimeoutType() {
	case enumspb.TIMEOUT_TYPE_HEARTBEAT:
		return "the worker that ran it stopped responding"
	case enumspb.TIMEOUT_TYPE_START_TO_CLOSE:
		return "it gave no result in time"
	}
	return d.converters.Message(failure)
}

// StuckSteps describes records and returns the ones with a step that keeps failing, and how
// many were not described because there are too many.
func StuckSteps(ctx context.Context, reader Reader, records []Record) (stuck []Record, skipped int, err error) {
	skipped = max(0, len(records)-maxDescribed)
	records = records[:len(records)-skipped]
	var mu sync.Mutex
	err = ForEach(ctx, len(records), MaxParallel, func(ctx context.Context, i int) error {
		fresh, err := reader.Record(ctx, records[i].WorkflowID)
		if errors.Is(err, ErrNotManaged) {
			return nil // it ended meanwhile
		}
		if err == nil && fresh.StuckStep != "" {
			mu.Lock()
			defer mu.Unlock()
			stuck = append(stuck, fresh)
		}
		return err
	})
	return stuck, skipped, err
}

// passFirst sorts workflows by the frequency of their passes. No list shows whether a pass runs: a
// steady one writes nothing, and the first one after a resume keeps the phase Paused.
func passFirst(records []Record) []Record {
	rank := map[workflows.Phase]int{workflows.PhaseReady: 1, workflows.PhasePaused: 2}
	return slices.SortedStableFunc(slices.Values(records), func(a, b Record) int { return rank[a.Phase] - rank[b.Phase] })
}

// StuckFinding returns the finding of doctor about steps that keep failing.
func StuckFinding(ctx context.Context, reader Reader, records []Record) activities.Finding {
	const check = "steps"
	records = passFirst(records)
	stuck, skipped, err := StuckSteps(ctx, reader, records)
	looked := cli.Count(len(records)-skipped, "workflow")
	switch {
	case err != nil:
		return activities.Finding{Check: check, State: activities.FindingWarn, Message: "the running steps cannot be read: " + err.Error(), Advice: retryAdvice}
	case len(stuck) > 0:
		first := stuck[0]
		return failure(check, fmt.Sprintf("%s stuck in a step, of %s, for example %s: %s",
			cli.CountAre(len(stuck), "resource"), looked, first.DisplayName(), first.StuckStep), first.StuckAdvice())
	case skipped > 0:
		return finding(check, fmt.Sprintf("no step keeps failing in the %s that were described, of %d: first those that are not Ready", looked, len(records)))
	}
	return finding(check, "no step keeps failing")
}

// StuckAdvice returns what to do about a step that keeps failing.
func (r Record) StuckAdvice() string {
	return "read the worker's log, which has the error of each attempt; the step ends with a verdict within 30 minutes, " +
		"and `armature pause " + r.DisplayName() + "`, delete and apply end one that only reads"
}
