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
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"
)

const (
	// RefusedNotAuthorized is the type of the error with which a worker refuses a message
	// that Options.Authorize does not allow.
	RefusedNotAuthorized = "NotAuthorized"
	// maxHooks bounds the concurrent calls of the hook. One that does not end with its context
	// counts until it returns.
	maxHooks = 64
	// askIssuerAgain is the time between two tries to verify a token whose issuer is out of
	// reach.
	askIssuerAgain = time.Second
	// maxRefusalLength bounds the reason of a refusal in a message, in characters.
	maxRefusalLength = 500
)

// authorizer decides about each message before its workflow gets it.
//
// The check is in the validation of updates: the SDK runs it when a message arrives and
// never in a replay, and a refused message leaves no event. So a decision may use a clock
// or the network, and a policy that changes breaks no history. Workflow code must not wait
// for either: the validation verifies tokens with the keys in memory, and everything else is
// decided in the background of this process, while the message is refused and its sender
// sends it again. A repetition that reaches another worker is decided there.
type authorizer struct {
	interceptor.WorkerInterceptorBase
	allow     func(context.Context, Action) error // nil allows what has no token that is refused
	senders   senders
	decisions decisions
	hooks     chan struct{} // has an element for each call of allow that runs
	log       *slog.Logger
	// decided receives every decision; err is nil for an allowed action.
	decided func(action Action, err error)
}

// newAuthorizer returns the authorizer of the options, nil where nothing is to be decided or
// verified.
func newAuthorizer(allow func(context.Context, Action) error, senders senders, log *slog.Logger, decided func(Action, error)) *authorizer {
	if allow == nil && !senders.isOn() {
		return nil
	}
	return &authorizer{allow: allow, senders: senders, hooks: make(chan struct{}, maxHooks), log: log, decided: decided}
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
	if freeze, ok := first[workflows.Freeze](in.Args); ok {
		action.read(a.senders.opened(freeze))
	}
	err := a.decide(action, workflows.SentMessage{
		Namespace: action.Namespace, WorkflowID: action.WorkflowID, MessageID: action.UpdateID, Name: in.Name, Content: in.Args[0],
	})
	if errors.Is(err, errNotDecided) {
		return temporal.NewApplicationError(fmt.Sprintf("%s of %s is not decided yet; try again", action.Verb, action.Subject()), workflows.RefusedNotDecided)
	}
	if err == nil {
		return nil
	}
	message := fmt.Sprintf("%s of %s is not allowed: %s", action.Verb, action.Subject(), text.Cut(text.OneLine(err.Error()), maxRefusalLength))
	return temporal.NewApplicationErrorWithOptions(message, RefusedNotAuthorized, temporal.ApplicationErrorOptions{NonRetryable: true})
}

// decide returns nil for an action that is allowed, and errNotDecided while that is not
// known. It waits for quickDecision at most.
func (a *authorizer) decide(action Action, message workflows.SentMessage) error {
	if a.allow != nil && action.Verb != VerbUnfreeze && action.ID.WorkflowID() != action.WorkflowID {
		err := fmt.Errorf("the memo of workflow %s names another resource", action.WorkflowID)
		a.record(action, err)
		return err
	}
	sealed, err := message.Sealed()
	var token string
	if err == nil {
		token, err = a.senders.tokenOf(action.Header, sealed)
	}
	if err == nil {
		action.Caller, err = a.senders.verify(endedContext(), token)
	}
	if err != nil && !isUnknown(err) || err == nil && !a.needsTime(action) {
		a.record(action, err)
		return err
	}
	return a.decisions.take(newMessageKey(sealed, token, action), func(ctx context.Context) error {
		action := action
		sender, err := a.ask(ctx, action, token)
		if sender != nil { // else the hook took too long, and the sender may be known all the same
			action.Caller = sender
		}
		a.record(action, err)
		return err
	})
}

// needsTime reports whether the decision about an action of a known sender waits for the
// hook, or for the line with the sender in the audit trail.
func (a *authorizer) needsTime(action Action) bool {
	return a.allow != nil || a.decided != nil && action.Caller != nil
}

// endedContext returns a context that lets nothing wait.
func endedContext() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

// ask returns the verified sender of an action, nil for none, and why the action is not
// allowed. It ends with ctx: no decision of a hook is a refusal.
func (a *authorizer) ask(ctx context.Context, action Action, token string) (*caller.Caller, error) {
	type outcome struct {
		sender *caller.Caller
		err    error
	}
	answer := make(chan outcome, 1)
	go func() {
		var o outcome
		defer func() {
			if value := recover(); value != nil {
				o.err = fmt.Errorf("the check of the worker failed: %v", value)
			}
			answer <- o
		}()
		if o.sender, o.err = a.verify(ctx, token); o.err == nil && a.allow != nil {
			action.Caller = o.sender
			o.err = a.askHook(ctx, action)
		}
	}()
	o := outcome{err: errNoDecision}
	select {
	case o = <-answer:
		if errors.Is(o.err, context.DeadlineExceeded) {
			o.err = errNoDecision
		}
	case <-ctx.Done():
	}
	if a.allow != nil || !isUnknown(o.err) {
		return o.sender, o.err
	}
	a.log.Warn("the sender of a message is not verified", "verb", action.Verb, "resource", action.Subject(), "error", o.err)
	return o.sender, nil
}

// verify returns the sender that a token names. The hook needs it, so an issuer out of reach
// is asked again until little is left of the time of ctx.
func (a *authorizer) verify(ctx context.Context, token string) (*caller.Caller, error) {
	for {
		sender, err := a.senders.verify(ctx, token)
		end, _ := ctx.Deadline()
		if a.allow == nil || !isUnknown(err) || time.Until(end) < 2*askIssuerAgain {
			return sender, err
		}
		<-time.After(askIssuerAgain)
	}
}

// askHook calls the hook, of which maxHooks run at a time.
func (a *authorizer) askHook(ctx context.Context, action Action) error {
	select {
	case a.hooks <- struct{}{}:
		defer func() { <-a.hooks }()
		return a.allow(ctx, action)
	case <-ctx.Done():
		return ctx.Err() //nolint:wrapcheck // ask has the words
	}
}

// isUnknown reports whether a token was neither accepted nor refused.
func isUnknown(err error) bool {
	_, unavailable := errors.AsType[*caller.UnavailableError](err)
	return unavailable || errors.Is(err, errNoDecision) || errors.Is(err, context.Canceled)
}

var (
	errNotDecided = errors.New("not decided yet")
	errNoDecision = fmt.Errorf("the check of the worker gave no decision within %s; try again", text.Duration(maxDecisionTime))
)

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
