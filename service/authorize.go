package service

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/armature-io/armature/caller"
	"github.com/armature-io/armature/internal/text"
	"github.com/armature-io/armature/workflows"
	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"
)

const (
	// RefusedNotAuthorized is the type of the error with which a worker refuses a message
	// that Options.Authorize does not allow.
	RefusedNotAuthorized = "NotAuthorized"
	// maxAuthorizeTime bounds one decision. A workflow task ends after 10 s, and may contain
	// several messages.
	maxAuthorizeTime = 2 * time.Second
	// maxRefusalLength bounds the reason of a refusal in a message, in characters.
	maxRefusalLength = 500
)

// authorizer asks about each message before its workflow gets it.
//
// The check is in the validation of updates: the SDK runs it when a message arrives and
// never in a replay, and a refused message leaves no event. So a decision may use a clock
// or the network, and a policy that changes breaks no history. A worker that ends before
// its workflow task is recorded leaves the message to another, which asks again.
type authorizer struct {
	interceptor.WorkerInterceptorBase
	allow   func(context.Context, Action) error // nil allows what has no token that is refused
	senders senders
	log     *slog.Logger
	// decided receives every decision; err is nil for an allowed action.
	decided func(action Action, err error)
}

// newAuthorizer returns the authorizer of the options, nil where nothing is to be decided or
// verified.
func newAuthorizer(allow func(context.Context, Action) error, senders senders, log *slog.Logger, decided func(Action, error)) *authorizer {
	if allow == nil && !senders.isOn() {
		return nil
	}
	return &authorizer{allow: allow, senders: senders, log: log, decided: decided}
}

// InterceptWorkflow returns the link of one run.
func (a *authorizer) InterceptWorkflow(_ workflow.Context, next interceptor.WorkflowInboundInterceptor) interceptor.WorkflowInboundInterceptor {
	return &authorizing{interceptor.WorkflowInboundInterceptorBase{Next: next}, a}
}

type authorizing struct {
	interceptor.WorkflowInboundInterceptorBase
	*authorizer
}

// ExecuteWorkflow runs a workflow, and records who started the one that keeps freezes.
func (a *authorizing) ExecuteWorkflow(ctx workflow.Context, in *interceptor.ExecuteWorkflowInput) (any, error) {
	held, ok := first[workflows.HoldFreezeInput](in.Args)
	if ok && workflow.GetInfo(ctx).ContinuedExecutionRunID == "" && !workflow.IsReplaying(ctx) {
		a.noteFirstFreeze(ctx, held)
	}
	return a.Next.ExecuteWorkflow(ctx, in)
}

// ValidateUpdate refuses what the workflow refuses, then what is not allowed.
func (a *authorizing) ValidateUpdate(ctx workflow.Context, in *interceptor.UpdateInput) error {
	if err := a.Next.ValidateUpdate(ctx, in); err != nil {
		return err
	}
	if in.Name == workflows.FreezeUpdate {
		a.noteFreeze(ctx, in)
		return nil
	}
	action, decides := newAction(ctx, in, a.senders.data)
	if !decides {
		return nil
	}
	err := a.decide(ctx, &action)
	if err == nil {
		return nil
	}
	message := fmt.Sprintf("%s of %s is not allowed: %s", action.Verb, action.Subject(), text.Cut(text.OneLine(err.Error()), maxRefusalLength))
	return temporal.NewApplicationErrorWithOptions(message, RefusedNotAuthorized, temporal.ApplicationErrorOptions{NonRetryable: true})
}

// decide returns nil for an action that is allowed.
func (a *authorizer) decide(ctx workflow.Context, action *Action) error {
	if a.allow != nil && action.Verb != VerbUnfreeze && action.ID.WorkflowID() != action.WorkflowID {
		err := fmt.Errorf("the memo of workflow %s names another resource", action.WorkflowID)
		a.record(*action, err)
		return err
	}
	var err error
	outsideDetector(ctx, func() {
		err = a.ask(action)
		a.record(*action, err)
	})
	return err
}

// ask asks within maxAuthorizeTime. No decision of a hook is a refusal.
func (a *authorizer) ask(action *Action) error {
	ctx, cancel := context.WithTimeout(context.Background(), maxAuthorizeTime)
	defer cancel()
	type outcome struct {
		sender *caller.Caller
		err    error
	}
	answer := make(chan outcome, 1)
	go func(action Action) {
		var o outcome
		defer func() {
			if value := recover(); value != nil {
				o.err = fmt.Errorf("the check of the worker failed: %v", value)
			}
			answer <- o
		}()
		o.sender, o.err = a.senders.identify(ctx, action.Header, action.WorkflowID, action.UpdateID)
		if action.Caller = o.sender; o.err == nil && a.allow != nil {
			o.err = a.allow(ctx, action)
		}
	}(*action)
	o := outcome{err: errNoDecision}
	select {
	case o = <-answer:
		if errors.Is(o.err, context.DeadlineExceeded) {
			o.err = errNoDecision
		}
	case <-ctx.Done():
	}
	action.Caller = o.sender
	if a.allow != nil || !isUnknown(o.err) {
		return o.err
	}
	a.log.Warn("the sender of a message is not verified", "verb", action.Verb, "resource", action.Subject(), "error", o.err)
	return nil
}

// isUnknown reports whether a token was neither accepted nor refused.
func isUnknown(err error) bool {
	_, unavailable := errors.AsType[*caller.UnavailableError](err)
	return unavailable || errors.Is(err, errNoDecision)
}

var errNoDecision = fmt.Errorf("the check of the worker gave no decision within %s; try again", text.Duration(maxAuthorizeTime))

// record logs a decision and passes it on.
func (a *authorizer) record(action Action, err error) {
	attributes := []any{"verb", action.Verb, "resource", action.Subject(), "id", action.ID, "by", action.By}
	if action.Caller != nil {
		attributes = append(attributes, "issuer", action.Caller.Issuer, "subject", action.Caller.Subject)
	}
	if err != nil {
		a.log.Warn("message refused", append(attributes, "reason", err)...)
	} else {
		a.log.Info("message allowed", attributes...)
	}
	if a.decided != nil {
		a.decided(action, err)
	}
}

// outsideDetector calls a function that may wait longer than the second after which the
// SDK takes workflow code for deadlocked. The SDK has this for data converters with remote
// calls, so the function is one.
func outsideDetector(ctx workflow.Context, run func()) {
	patient, ok := workflow.DataConverterWithoutDeadlockDetection(calling{run: run}).(workflow.ContextAware)
	if !ok {
		run()
		return
	}
	_, _ = patient.WithWorkflowContext(ctx).ToPayload(nil)
}

// calling is a data converter that calls a function and converts nothing.
type calling struct {
	converter.DataConverter
	run func()
}

// ToPayload calls the function.
func (c calling) ToPayload(any) (*commonpb.Payload, error) {
	c.run()
	return nil, nil //nolint:nilnil // nothing reads it
}
