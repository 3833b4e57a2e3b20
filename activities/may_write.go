package activities

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"go.temporal.io/sdk/activity"

	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/internal/audit"
	"github.com/armature-io/armature/internal/servertime"
	"github.com/armature-io/armature/internal/signing"
	"github.com/armature-io/armature/resource"
)

// fences are the checks of a write and their collaborators.
type fences struct {
	freezer  Freezer
	readOnly bool
	// signatures is nil for a worker that checks none. warnOnly logs a missing signature and
	// lets the write pass.
	signatures *signing.Verifier
	warnOnly   bool
	// records are the statements of the generation fence, nil without one.
	records Records
	budgets Budgets
	// putBudget bounds the PUTs per hour that no user requested, 0 for no bound.
	putBudget int
	managed   *managedStates
	attempts  Attempts
	audit     *audit.Journal
	clock     *servertime.Clock
	log       *slog.Logger
}

// fences returns the checks of this worker.
func (a *Activities) fences() fences {
	return fences{
		freezer: a.Freezer, readOnly: a.options.ReadOnly, signatures: a.Signatures, warnOnly: a.options.WarnOfSignatures,
		records: a.options.Records, budgets: a.Budgets, putBudget: a.options.PutBudget, managed: a.states,
		attempts: a.Attempts, audit: a.Audit, clock: a.clock, log: a.Log,
	}
}

// writeStep is the step on whose behalf requests change something in Azure.
type writeStep struct {
	fences
	desired resource.Desired
	PassFacts
	// deletion is set in a step that deletes or purges the resource.
	deletion *SignedDeletion
	// noResource is set in a step that changes no resource: it needs no signature, and the
	// generation fence does not record it.
	noResource bool
	// progress returns the content of the next heartbeat; nil in a local activity, which has
	// no heartbeats.
	progress func() any
	// taskStarted is when the workflow task began that runs a local activity; zero in other
	// activities, and if links may not write.
	taskStarted time.Time
	// link is the write that a link requested, nil for a write of the step itself.
	link    *linkWrite
	attempt Attempt
	auditState
}

// forWrites returns the context of a step that may write. Without the step MayWrite refuses
// every write.
func forWrites(ctx context.Context, step writeStep) context.Context {
	info := activity.GetInfo(ctx)
	step.attempt = Attempt{WorkflowID: info.WorkflowExecution.ID, RunID: info.WorkflowExecution.RunID}
	if step.progress != nil {
		step.attempt.TaskToken = info.TaskToken
	}
	step.auditState = newAuditState(ctx)
	return withWriteStep(ctx, step)
}

type writeStepKey struct{}

func withWriteStep(ctx context.Context, step writeStep) context.Context {
	return context.WithValue(ctx, writeStepKey{}, &step)
}

// writeStepOf returns the step of a context, nil for one that may not write.
func writeStepOf(ctx context.Context) *writeStep {
	step, _ := ctx.Value(writeStepKey{}).(*writeStep)
	return step
}

// MayWrite is the arm.WriteCheck of a worker: the one place where everything is asked that
// may stop a write, right before the request is handed to the connection. Its error
// carries a verdict (extensions.VerdictOf).
func MayWrite(ctx context.Context, write arm.Write) error {
	step := writeStepOf(ctx)
	if step == nil {
		return extensions.NotYet(fmt.Sprintf("a %s of %s is sent by the steps that write only; nothing was sent", write.Method, write.Type),
			extensions.WithReason(resource.ReasonCheckFailed))
	}
	return step.mayWrite(ctx, write)
}

// mayWrite asks the fences in turn, the one of Temporal last: its answer ages.
func (s *writeStep) mayWrite(ctx context.Context, write arm.Write) error {
	for _, fence := range []func(context.Context, arm.Write) *resource.Verdict{
		s.checkSignature,
		s.checkFrozen,
		s.checkLink,
		s.checkRecords,
		s.checkLinkBudget,
		s.checkAttempt,
	} {
		if stop := fence(ctx, write); stop != nil {
			return extensions.NotYet(stop.Message, extensions.WithReason(stop.Reason), extensions.WithRetry(stop.Class))
		}
	}
	return nil
}

func (s *writeStep) checkFrozen(ctx context.Context, _ arm.Write) *resource.Verdict {
	return s.checkFreeze(ctx, s.desired)
}

// checkAttempt returns the verdict that stops a write of an attempt that is over, or of a
// spec that is not the newest. A worker that was paused learns both here only. While
// Temporal does not respond, nothing is written.
func (s *writeStep) checkAttempt(ctx context.Context, write arm.Write) *resource.Verdict {
	attempt := s.attempt
	attempt.Resource = s.desired.ID
	if s.progress == nil {
		// A local activity has no attempt that the server knows. An action leaves it, which is
		// safe to repeat (extensions.ARMClient), and a write of a link while the server still
		// has the workflow task that runs the activity.
		if write.Call != arm.CallPost {
			if stop := s.checkTask(write); stop != nil {
				return stop
			}
			attempt.TaskStarted = s.taskStarted
		}
	} else {
		attempt.Progress = s.progress()
	}
	standing, err := s.attempts.Confirm(ctx, attempt)
	switch {
	case err != nil:
		return new(resource.Fail(resource.ReasonCheckFailed, resource.RetrySlow, fmt.Sprintf(
			"cannot confirm in Temporal that this step of %s is still current, so nothing is written: %v", s.desired.ID.Short(), err)))
	case standing.Over != "":
		return new(superseded(fmt.Sprintf("%s: this attempt sends nothing more", standing.Over)))
	case s.Generation > 0 && standing.Generation > s.Generation:
		return new(superseded(supersededText(standing.Generation, s.Generation)))
	}
	return nil
}

func superseded(message string) resource.Verdict {
	return resource.Block(resource.ReasonSuperseded, message)
}

func supersededText(newest, generation int64) string {
	return fmt.Sprintf("generation %d was applied before generation %d was written: nothing was sent, the next pass writes the newest", newest, generation)
}

// refusedWrite returns the verdict of a write that MayWrite refused: nothing was sent.
func refusedWrite(err error) (resource.Verdict, bool) {
	if _, refused := errors.AsType[*arm.WriteRefusedError](err); !refused {
		return resource.Verdict{}, false
	}
	if verdict, ok := extensions.VerdictOf(err); ok {
		return verdict, true
	}
	// A check of the program that embeds the worker.
	return resource.Block(resource.ReasonReconciliationBlocked, "nothing was sent: "+err.Error()), true
}

// Attempt identifies an attempt of an activity to the server.
type Attempt struct {
	WorkflowID, RunID string
	// Resource is what the write is for: no other workflow than its own may write it.
	Resource resource.ID
	// TaskToken is nil for a local activity.
	TaskToken []byte
	// TaskStarted is when the workflow task began that runs a local activity, zero where no
	// task has to be current.
	TaskStarted time.Time
	// Progress is sent as the details of the heartbeat.
	Progress any
}

// Standing is what the server reports of an attempt and its workflow.
type Standing struct {
	// Over explains why the attempt may not write any more, "" while it may.
	Over string
	// Generation is the newest one that was applied while a write was in progress; 0
	// where none was.
	Generation int64
}

// Attempts confirms attempts with the server.
type Attempts interface {
	// Confirm sends a heartbeat and waits for the response: after it, the server starts
	// no other attempt for the heartbeat timeout.
	Confirm(ctx context.Context, attempt Attempt) (Standing, error)
}
