package service

import (
	"log/slog"

	"github.com/armature-io/armature/internal/signing"
	"github.com/armature-io/armature/workflows"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"
)

// lifts refuses an unfreeze without a signature where the worker writes signed specs only. A
// freeze needs none: it only stops.
//
// The check is in the validation of updates, which no replay repeats, so it may use a clock.
type lifts struct {
	interceptor.WorkerInterceptorBase
	verifier *signing.Verifier // nil without public keys
	warn     bool
	log      *slog.Logger
}

// InterceptWorkflow returns the link of one run.
func (l *lifts) InterceptWorkflow(_ workflow.Context, next interceptor.WorkflowInboundInterceptor) interceptor.WorkflowInboundInterceptor {
	if l.verifier == nil {
		return next
	}
	return &liftLink{interceptor.WorkflowInboundInterceptorBase{Next: next}, l}
}

type liftLink struct {
	interceptor.WorkflowInboundInterceptorBase
	*lifts
}

// ValidateUpdate refuses what the workflow refuses, then an unfreeze without a proof. The
// workflow has compared the time that is signed with the freeze in force.
func (l *liftLink) ValidateUpdate(ctx workflow.Context, in *interceptor.UpdateInput) error {
	if err := l.Next.ValidateUpdate(ctx, in); err != nil || in.Name != workflows.UnfreezeUpdate {
		return err
	}
	unfreeze, ok := first[workflows.Freeze](in.Args)
	if !ok {
		return temporal.NewNonRetryableApplicationError("the unfreeze has no argument", RefusedNotAuthorized, nil)
	}
	fault := l.verifier.Unfreeze(unfreeze.Selector, unfreeze.Since, unfreeze.Signature)
	switch {
	case fault == nil:
		return nil
	case l.warn:
		l.log.Warn("unfrozen without an accepted signature", "selector", unfreeze.Selector, "reason", fault.Message)
		return nil
	}
	l.log.Warn("unfreeze refused", "selector", unfreeze.Selector, "reason", fault.Message)
	return temporal.NewApplicationErrorWithOptions("nothing is lifted: "+fault.Message, RefusedNotAuthorized, temporal.ApplicationErrorOptions{NonRetryable: true})
}
