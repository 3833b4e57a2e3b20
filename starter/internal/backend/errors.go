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
	"github.com/armature-io/armature/workflows"
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
	// StepSince is when a worker took the workflow task that it still holds, zero if none
	// does: the worker runs a step, and responds after it.
	StepSince time.Time
	// OtherQueue is set when the workflow has another task queue than the command: the
	// error says nothing about the workers of other workflows.
	OtherQueue bool
}

// ServerError is an error of the Temporal server that every other call would have too:
// it is unavailable, or it refuses the namespace.
type ServerError struct{ Err error }

func (e *ServerError) Error() string { return e.Err.Error() }
func (e *ServerError) Unwrap() error { return e.Err }

func (e *NoWorkerError) Error() string {
	sentence := fmt.Sprintf("no worker responds on task queue %s; start a worker or set its queue with --task-queue, then try again", e.TaskQueue)
	if !e.StepSince.IsZero() {
		sentence = fmt.Sprintf("a worker on task queue %s runs a step of the resource since %s and responds after it; try again in a few seconds",
			e.TaskQueue, text.Time(e.StepSince))
	}
	if e.Busy {
		sentence = fmt.Sprintf("a worker polls task queue %s and did not respond within %s: it is overloaded; "+
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
	application, refused := errors.AsType[*temporal.ApplicationError](err)
	unavailable, down := errors.AsType[*serviceerror.Unavailable](err)
	denied, isDenied := errors.AsType[*serviceerror.PermissionDenied](err)
	encrypted := unreadable(err)
	invalid, isInvalid := errors.AsType[*serviceerror.InvalidArgument](err)
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ErrInterrupted
	case encrypted != nil:
		return encrypted
	case refused:
		return &RefusedError{Kind: application.Type(), Text: application.Message()}
	case is[*serviceerror.NamespaceNotFound](err):
		return &ServerError{cli.BadInput("find namespace %s: it does not exist on this server; set TEMPORAL_NAMESPACE or create it", c.namespace)}
	case is[*serviceerror.NotFound](err):
		return ErrNotManaged
	case down:
		return &ServerError{cli.Unreachable("reach Temporal: %s; try again when the server is available", unavailable.Message)}
	case is[*serviceerror.ResourceExhausted](err):
		return &ServerError{cli.Unreachable("use namespace %s: Temporal limits its requests, and several tries did not pass%s; try again later", c.namespace, detail(err.Error()))}
	case isUnanswered(err):
		return &NoWorkerError{TaskQueue: c.taskQueue}
	case isDenied:
		return &ServerError{cli.Failed("use namespace %s: permission denied by Temporal%s; ask for access or check TEMPORAL_API_KEY", c.namespace, detail(denied.Message))}
	case isInvalid && strings.Contains(strings.ToLower(invalid.Message), "search attribute"):
		// The server has no error code for an unknown search attribute: "Namespace
		// default has no mapping defined for search attribute ArmType".
		return &ServerError{cli.Failed("use namespace %s: %s; run `armature setup` and try again within a minute", c.namespace, invalid.Message)}
	}
	return err
}

// IsNotManaged reports whether an update found no workflow, or one whose management is
// ending.
func IsNotManaged(err error) bool {
	refusal, ok := errors.AsType[*RefusedError](err)
	return errors.Is(err, ErrNotManaged) || ok && refusal.Kind == workflows.RefusedNotManaged
}

// isUnanswered reports whether the server accepted a call and no worker completed
// it.
func isUnanswered(err error) bool {
	return errors.Is(err, context.DeadlineExceeded) || is[*client.WorkflowUpdateServiceTimeoutOrCanceledError](err) ||
		is[*serviceerror.DeadlineExceeded](err) || is[*serviceerror.QueryFailed](err) ||
		is[*serviceerror.WorkflowNotReady](err) || is[*serviceerror.FailedPrecondition](err)
}

// is reports whether an error wraps one of type T.
func is[T error](err error) bool {
	_, ok := errors.AsType[T](err)
	return ok
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
		return fmt.Sprintf("no response within %s", dialTimeout)
	}
	return strings.TrimPrefix(message, "failed reaching server: ")
}

// WithExitCode returns any error of a command as a *cli.ExitError.
func WithExitCode(err error) error {
	switch {
	case err == nil || is[*cli.ExitError](err):
		return err
	case is[*NoWorkerError](err):
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
	case r.TaskQueue != "" && r.TaskQueue != noWorker.TaskQueue && noWorker.StepSince.IsZero():
		return &NoWorkerError{TaskQueue: r.TaskQueue, Sent: noWorker.Sent, OtherQueue: true}
	}
	return noWorker
}
