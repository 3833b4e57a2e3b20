// Package writing decides whether a write may be sent to Azure, right before the request
// leaves, and writes its lines of the audit trail. It knows of the steps and of Temporal only
// the values in a Step.
package writing

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/internal/audit"
	"github.com/armature-io/armature/internal/extensionhost"
	"github.com/armature-io/armature/internal/servertime"
	"github.com/armature-io/armature/internal/signing"
	"github.com/armature-io/armature/resource"
)

// Checks are the collaborators of the checks that decide about a write.
type Checks struct {
	Freezer  Freezer
	ReadOnly bool
	// Observed are the resources for which nothing is written, whatever their policy.
	Observed resource.Observed
	// Signatures is nil for a worker that checks none. WarnOnly logs a missing signature and
	// lets the write pass.
	Signatures *signing.Verifier
	WarnOnly   bool
	// Records are the statements of the generation fence, nil without one.
	Records Records
	Budgets Budgets
	// PutBudget bounds the PUTs per hour that no user requested, 0 for no bound.
	PutBudget int
	// Managed returns the ID, labels and policy of a resource that Armature manages, and
	// false for another one.
	Managed  func(ctx context.Context, id resource.ID) (resource.Desired, bool, error)
	Attempts Attempts
	Audit    *audit.Journal
	Clock    *servertime.Clock
	Log      *slog.Logger
}

// Step is the step on whose behalf requests change something in Azure.
type Step struct {
	Checks
	Activity Activity
	Desired  resource.Desired
	// Generation is that of the spec, stated by a user at StatedAt.
	Generation int64
	StatedAt   time.Time
	// Unrequested is set if no user wants the write: budgets limit it.
	Unrequested bool
	// Cause is the reason of the writes, nil if the workflow sent none.
	Cause *Cause
	// Deletion is set in a step that deletes or purges the resource.
	Deletion *SignedDeletion
	// NoResource is set in a step that changes no resource: it needs no signature, and the
	// generation fence does not record it.
	NoResource bool
	// Progress returns the content of the next heartbeat; nil in a local activity, which has
	// no heartbeats.
	Progress func() any
	// TaskStarted is when the workflow task began that runs a local activity; zero in other
	// activities, and if links may not write.
	TaskStarted time.Time
	// link is the write that a link requested, nil for a write of the step itself.
	link *Link
	// requests counts the lines of the audit trail.
	requests *atomic.Int32
}

// Activity is what Temporal states of a running activity.
type Activity struct {
	WorkflowID, RunID string
	Name, ID          string
	Attempt           int
	// Local is set for a local activity, which began at Started.
	Local     bool
	Started   time.Time
	TaskToken []byte
}

// Token identifies the activity to the budgets, the same in each attempt.
func (a Activity) Token() string { return a.RunID + "/" + a.ID }

type stepKey struct{}

// WithStep returns the context of a step that may write. Without the step MayWrite blocks
// every write.
func WithStep(ctx context.Context, step Step) context.Context {
	step.requests = &atomic.Int32{}
	return context.WithValue(ctx, stepKey{}, &step)
}

func stepOf(ctx context.Context) *Step {
	step, _ := ctx.Value(stepKey{}).(*Step)
	return step
}

// IsAllowed reports whether the context is that of a step that may write.
func IsAllowed(ctx context.Context) bool { return stepOf(ctx) != nil }

// MayWrite is the arm.WriteCheck of a worker: the one place where everything is asked that
// may stop a write, right before the request is handed to the connection. Its error
// carries a verdict (extensionhost.VerdictOf).
func MayWrite(ctx context.Context, write arm.Write) error {
	step := stepOf(ctx)
	if step == nil {
		return extensions.NotYet(fmt.Sprintf("a %s of %s is sent by the steps that write only; nothing was sent", write.Method, write.Type),
			extensions.WithReason(resource.ReasonCheckFailed))
	}
	return step.mayWrite(ctx, write)
}

// mayWrite makes the checks in turn, the request to Temporal last: its answer ages. A freeze
// that was confirmed while it waited stops the write.
func (s *Step) mayWrite(ctx context.Context, write arm.Write) error {
	for _, check := range []func(context.Context, arm.Write) *resource.Verdict{
		s.checkSignature,
		s.checkFrozen,
		s.checkLink,
		s.checkRecords,
		s.checkObserved,
		s.checkLinkBudget,
		s.checkAttempt,
		s.checkKnownFreeze,
	} {
		if stop := check(ctx, write); stop != nil {
			return extensions.NotYet(stop.Message, extensions.WithReason(stop.Reason), extensions.WithRetry(stop.Class))
		}
	}
	return nil
}

func (s *Step) checkFrozen(ctx context.Context, _ arm.Write) *resource.Verdict {
	return s.CheckFreeze(ctx, s.Desired)
}

// checkObserved stops every write for a resource that the worker only observes.
func (s *Step) checkObserved(_ context.Context, write arm.Write) *resource.Verdict {
	if s.Observed.Setting(s.Desired.Labels) == "" {
		return nil
	}
	return s.CheckPolicy(s.Desired, write.Method)
}

// checkKnownFreeze stops a write that passed checkFrozen before this worker confirmed a freeze.
func (s *Step) checkKnownFreeze(context.Context, arm.Write) *resource.Verdict {
	freeze, frozen := s.Freezer.KnownFreeze(s.Desired.Labels)
	if !frozen {
		return nil
	}
	return frozenVerdict(freeze)
}

// checkAttempt returns the verdict that stops a write of an attempt that is over, or of a
// spec that is not the newest. A worker that was paused learns both here only. While
// Temporal does not respond, nothing is written.
func (s *Step) checkAttempt(ctx context.Context, write arm.Write) *resource.Verdict {
	attempt := Attempt{WorkflowID: s.Activity.WorkflowID, RunID: s.Activity.RunID, Resource: s.Desired.ID}
	if s.Progress == nil {
		// A local activity has no attempt that the server knows. An action leaves it, which is
		// safe to repeat (extensions.ARMClient), and a write of a link while the server still
		// has the workflow task that runs the activity.
		if write.Call != arm.CallPost {
			if stop := s.checkTask(write); stop != nil {
				return stop
			}
			attempt.TaskStarted = s.TaskStarted
		}
	} else {
		attempt.TaskToken, attempt.Progress = s.Activity.TaskToken, s.Progress()
	}
	standing, err := s.Attempts.Confirm(ctx, attempt)
	switch {
	case err != nil:
		return new(Unanswered(fmt.Sprintf("cannot confirm in Temporal that this step of %s is still current, so nothing is written", s.Desired.ID.Short()), err))
	case standing.Over != "":
		return new(superseded(standing.Over + ": this attempt sends nothing more"))
	case s.Generation > 0 && standing.Generation > s.Generation:
		return new(Superseded(standing.Generation, s.Generation))
	}
	return nil
}

func superseded(message string) resource.Verdict {
	return resource.Block(resource.ReasonSuperseded, message)
}

// Superseded returns the verdict of a write of a generation that is not the newest.
func Superseded(newest, generation int64) resource.Verdict {
	return superseded(fmt.Sprintf("generation %d was applied before generation %d was written: nothing was sent, the next pass writes the newest", newest, generation))
}

// Blocked returns the verdict of a write that MayWrite blocked: nothing was sent.
func Blocked(err error) (resource.Verdict, bool) {
	if _, blocked := errors.AsType[*arm.WriteRefusedError](err); !blocked {
		return resource.Verdict{}, false
	}
	if verdict, ok := extensionhost.VerdictOf(err); ok {
		return verdict, true
	}
	// A check of the program that embeds the worker.
	return resource.Block(resource.ReasonReconciliationBlocked, "nothing was sent: "+err.Error()), true
}
