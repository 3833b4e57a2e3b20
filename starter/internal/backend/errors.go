package backend

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/armature-io/armature/internal/text"
	"github.com/armature-io/armature/starter/internal/cli"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
)

// Errors of calls.
var (
	// ErrNotManaged means that no workflow runs for the resource.
	ErrNotManaged = errors.New("it is not managed")
	// ErrInterrupted means that the user pressed Ctrl-C.
	ErrInterrupted = errors.New("interrupted")
)

// NoWorkerError means that Temporal is reachable and no worker responded in time.
type NoWorkerError struct {
	TaskQueue string
	// Busy is set when a worker polled the task queue during the call.
	Busy bool
	// Waited is how long the call waited.
	Waited time.Duration
	// Sent is set when a message was sent that a worker may still receive.
	Sent bool
}

func (e *NoWorkerError) Error() string {
	sentence := fmt.Sprintf("no worker answers on task queue %s; start a worker or set its queue with --task-queue, then try again", e.TaskQueue)
	if e.Busy {
		sentence = fmt.Sprintf("a worker polls task queue %s and did not answer within %s: it is overloaded; "+
			"raise --worker-timeout or start more workers, then try again", e.TaskQueue, text.Duration(e.Waited))
	}
	if e.Sent {
		sentence += ": the request may still arrive, and it is safe to repeat the command"
	}
	return sentence
}

// RefusedError means that a workflow rejected a message. Text is the validator's
// sentence.
type RefusedError struct{ Kind, Text string }

func (e *RefusedError) Error() string { return e.Text }

// translate returns an error of the SDK as one of this package. ctx is the
// caller's, without the deadline of the call.
func (c *Client) translate(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return ErrInterrupted
	}
	if application, ok := errors.AsType[*temporal.ApplicationError](err); ok {
		return &RefusedError{Kind: application.Type(), Text: application.Message()}
	}
	if _, ok := errors.AsType[*serviceerror.NamespaceNotFound](err); ok {
		return cli.BadInput("find namespace %s: it does not exist on this server; set TEMPORAL_NAMESPACE or create it", c.namespace)
	}
	if _, ok := errors.AsType[*serviceerror.NotFound](err); ok {
		return ErrNotManaged
	}
	if unavailable, ok := errors.AsType[*serviceerror.Unavailable](err); ok {
		return cli.Unreachable("reach Temporal: %s; try again when the server is available", unavailable.Message)
	}
	if isUnanswered(err) {
		return &NoWorkerError{TaskQueue: c.taskQueue}
	}
	if denied, ok := errors.AsType[*serviceerror.PermissionDenied](err); ok {
		return cli.Failed("use namespace %s: permission denied by Temporal%s; ask for access or check TEMPORAL_API_KEY", c.namespace, detail(denied.Message))
	}
	// The server has no error code for an unknown search attribute: "Namespace
	// default has no mapping defined for search attribute ArmType".
	if invalid, ok := errors.AsType[*serviceerror.InvalidArgument](err); ok && strings.Contains(strings.ToLower(invalid.Message), "search attribute") {
		return cli.Failed("use namespace %s: %s; run `armature setup` and try again within a minute", c.namespace, invalid.Message)
	}
	return err
}

// isUnanswered reports whether the server accepted a call and no worker completed
// it.
func isUnanswered(err error) bool {
	var (
		timeout  *client.WorkflowUpdateServiceTimeoutOrCanceledError
		deadline *serviceerror.DeadlineExceeded
		query    *serviceerror.QueryFailed
		notReady *serviceerror.WorkflowNotReady
		noPoller *serviceerror.FailedPrecondition
	)
	return errors.Is(err, context.DeadlineExceeded) || errors.As(err, &timeout) || errors.As(err, &deadline) ||
		errors.As(err, &query) || errors.As(err, &notReady) || errors.As(err, &noPoller)
}

func detail(message string) string {
	if message == "" {
		return ""
	}
	return ": " + message
}

// dialReason returns why the server was not reached.
func dialReason(err error) string {
	message := err.Error()
	switch {
	case strings.Contains(message, "connection refused"):
		return "connection refused"
	case errors.Is(err, context.DeadlineExceeded) || strings.Contains(message, "deadline exceeded"):
		return fmt.Sprintf("no answer within %s", dialTimeout)
	}
	return strings.TrimPrefix(message, "failed reaching server: ")
}

// WithExitCode returns any error of a command as a *cli.ExitError.
func WithExitCode(err error) error {
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*cli.ExitError](err); ok {
		return err
	}
	if _, ok := errors.AsType[*NoWorkerError](err); ok {
		return &cli.ExitError{Code: cli.ExitUnreachable, Err: err}
	}
	return &cli.ExitError{Code: cli.ExitFailed, Err: err}
}

// ExplainNoWorker returns why a workflow does not respond: its task fails, or no worker
// runs on its own task queue, which may differ from the one of --task-queue.
func ExplainNoWorker(ctx context.Context, reader Reader, r Record, noWorker *NoWorkerError) error {
	fresh, err := reader.Record(ctx, r.WorkflowID)
	switch {
	case err == nil && fresh.Stuck != "":
		return cli.Unreachable("%s", fresh.StuckText(cmp.Or(fresh.TaskQueue, noWorker.TaskQueue)))
	case r.TaskQueue != "" && r.TaskQueue != noWorker.TaskQueue:
		return &NoWorkerError{TaskQueue: r.TaskQueue, Sent: noWorker.Sent}
	}
	return noWorker
}
