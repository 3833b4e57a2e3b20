package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
)

// errNotManaged: no workflow runs for the resource.
var errNotManaged = errors.New("it is not managed")

// errInterrupted: Ctrl-C.
var errInterrupted = errors.New("interrupted")

// noWorkerError: the server took the message, and no worker answered in time.
type noWorkerError struct {
	taskQueue string
	// busy: a worker asked for work meanwhile, so one is there; waited is how long
	// it had.
	busy   bool
	waited time.Duration
}

func (e *noWorkerError) Error() string {
	if e.busy {
		return fmt.Sprintf("a worker is there on task queue %s and did not answer within %s: it is overloaded; "+
			"give it longer with --worker-timeout, or start more workers, and try again: a message that was sent may still arrive, and every command may be repeated",
			e.taskQueue, span(e.waited))
	}
	return fmt.Sprintf("no worker answers on task queue %s; start one (go run ./worker) or give its queue with --task-queue, then try again: "+
		"a message that was sent may still arrive, and every command may be repeated", e.taskQueue)
}

// refusedError: the workflow refused the message; the text is the validator's.
type refusedError struct{ kind, text string }

func (e *refusedError) Error() string { return e.text }

// translate turns an error of the SDK into one of ours. ctx is the caller's,
// without the deadline of the call.
func (t *temporalClient) translate(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	var (
		application *temporal.ApplicationError
		timeout     *client.WorkflowUpdateServiceTimeoutOrCanceledError
		notFound    *serviceerror.NotFound
		deadline    *serviceerror.DeadlineExceeded
		query       *serviceerror.QueryFailed
		notReady    *serviceerror.WorkflowNotReady
		noPoller    *serviceerror.FailedPrecondition
		space       *serviceerror.NamespaceNotFound
		denied      *serviceerror.PermissionDenied
		invalid     *serviceerror.InvalidArgument
		away        *serviceerror.Unavailable
	)
	switch {
	case ctx.Err() != nil:
		return errInterrupted
	case errors.As(err, &application):
		return &refusedError{kind: application.Type(), text: application.Message()}
	case errors.As(err, &space):
		return badInput("find namespace %s: Temporal does not know it; set TEMPORAL_NAMESPACE or create it", t.namespace)
	case errors.As(err, &notFound):
		return errNotManaged
	case errors.As(err, &away):
		return unreachable("reach Temporal: %s; try again when it is back", away.Message)
	case errors.As(err, &timeout), errors.As(err, &deadline), errors.Is(err, context.DeadlineExceeded),
		errors.As(err, &query), errors.As(err, &notReady), errors.As(err, &noPoller):
		return &noWorkerError{taskQueue: t.taskQueue}
	case errors.As(err, &denied):
		return failed("use namespace %s: Temporal refuses: %s; ask for the rights or check TEMPORAL_API_KEY", t.namespace, reasonOr(denied.Message))
	case errors.As(err, &invalid) && strings.Contains(strings.ToLower(invalid.Message), "search attribute"):
		// The server has no code of its own for it: "Namespace default has no
		// mapping defined for search attribute ArmType".
		return failed("use namespace %s: %s; run `armature setup` and try again within a minute", t.namespace, invalid.Message)
	}
	return err
}

func reasonOr(text string) string {
	if text == "" {
		return "no right"
	}
	return text
}

// dialReason says in words why the server was not reached.
func dialReason(err error) string {
	text := err.Error()
	switch {
	case strings.Contains(text, "connection refused"):
		return "nobody listens there"
	case errors.Is(err, context.DeadlineExceeded) || strings.Contains(text, "deadline exceeded"):
		return fmt.Sprintf("no answer within %s", dialTimeout)
	}
	return strings.TrimPrefix(text, "failed reaching server: ")
}

// asFault gives any error of a command its exit code.
func asFault(err error) error {
	var (
		f        *fault
		noWorker *noWorkerError
	)
	switch {
	case err == nil || errors.As(err, &f):
		return err
	case errors.As(err, &noWorker):
		return &fault{code: exitUnreachable, err: err}
	}
	return &fault{code: exitFailed, err: err}
}
