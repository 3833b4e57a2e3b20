package payload

import (
	"errors"
	"fmt"
	"time"

	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/workflow"
)

// NotEncryptedError reports a clear payload of a run that began after encryption was required. A
// sender without the key reads its name and no more.
type NotEncryptedError struct{ since time.Time }

// Error names the setting and the remedy.
func (e *NotEncryptedError) Error() string {
	return fmt.Sprintf("in clear, and encryption.require refuses clear payloads since %s; set encryption.write-key (ARMATURE_ENCRYPTION_WRITE_KEY) where it is sent",
		e.since.UTC().Format(time.RFC3339))
}

// readingKey is the key of what the data converter of a workflow context decodes.
type readingKey struct{}

// What a workflow decodes. The input has no value of its own: the SDK decodes it first.
const (
	readsUpdates = "updates"
	readsOthers  = "others"
)

// orWait returns an error, or fails the workflow task of a clear payload that must not be refused.
//
// A message is refused by an error: an update is rejected, a signal dropped, a result is one that
// the step did not return. The input of a run that a client started is refused in the same way,
// which ends the run. But a run that has done something already, or continues another one, must
// not end, and an update that was accepted must not be forgotten. They wait for a worker whose
// encryption.require is later.
func orWait(ctx workflow.Context, err error) error {
	if _, isClear := errors.AsType[*NotEncryptedError](err); isClear && mustWait(ctx) {
		panic(err) //nolint:forbidigo // the SDK fails a workflow task by a panic alone
	}
	return err
}

func mustWait(ctx workflow.Context) bool {
	switch ctx.Value(readingKey{}) {
	case nil:
		return workflow.IsReplaying(ctx) || workflow.GetInfo(ctx).ContinuedExecutionRunID != ""
	case readsUpdates:
		return workflow.IsReplaying(ctx)
	}
	return false
}

// NewInterceptor returns an interceptor that reports to the data converter what a workflow decodes.
// Workers and replays need it.
func NewInterceptor() interceptor.WorkerInterceptor { return &readings{} }

type readings struct {
	interceptor.WorkerInterceptorBase
}

// InterceptWorkflow returns the link of one run.
func (*readings) InterceptWorkflow(_ workflow.Context, next interceptor.WorkflowInboundInterceptor) interceptor.WorkflowInboundInterceptor {
	return &readingsOfRun{interceptor.WorkflowInboundInterceptorBase{Next: next}}
}

type readingsOfRun struct {
	interceptor.WorkflowInboundInterceptorBase
}

// ExecuteWorkflow runs a workflow, whose input was decoded.
func (r *readingsOfRun) ExecuteWorkflow(ctx workflow.Context, in *interceptor.ExecuteWorkflowInput) (any, error) {
	return r.Next.ExecuteWorkflow(workflow.WithValue(ctx, readingKey{}, readsOthers), in) //nolint:wrapcheck // it is that of the next link
}

// HandleSignal delivers a signal, which the workflow decodes later.
func (r *readingsOfRun) HandleSignal(ctx workflow.Context, in *interceptor.HandleSignalInput) error {
	return r.Next.HandleSignal(workflow.WithValue(ctx, readingKey{}, readsOthers), in) //nolint:wrapcheck // see above
}
