package backend

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/workflows"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
)

const (
	// probeTimeout is how long the workflow of a dry run waits for a worker that has not taken
	// the activity: one that lives takes a workflow task although all of its activity slots
	// are taken.
	probeTimeout = 5 * time.Second
	// cancelTimeout bounds the request that cancels an activity after Ctrl-C.
	cancelTimeout = 2 * time.Second
	// errorNotRegistered is the type of the SDK's error for an activity that a worker does not
	// have.
	errorNotRegistered = "ActivityNotRegisteredError"
)

var (
	// errNeedsWorkflow means that server or worker runs no activity without a workflow.
	errNeedsWorkflow = errors.New("the activity needs its workflow")
	// errUntaken means that no worker took an activity, although one polled within two
	// minutes: it is gone, or all of its activity slots are taken.
	errUntaken = errors.New("no worker took the activity")
)

// standalone remembers whether server and workers run activities without a workflow. The
// zero value does not know it.
type standalone struct {
	mu sync.Mutex
	// known is set once the server started one, refused once it or a worker refused one.
	known, refused bool
}

func (s *standalone) isRefused() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.refused
}

func (s *standalone) refuse() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refused = true
	return errNeedsWorkflow
}

// try starts an activity. Until one start has shown whether the server has standalone
// activities, others wait for it: a server without them is asked once.
func (s *standalone) try(start func() (client.ActivityHandle, error)) (client.ActivityHandle, error) {
	s.mu.Lock()
	if s.known || s.refused {
		refused := s.refused
		s.mu.Unlock()
		if refused {
			return nil, errNeedsWorkflow
		}
		return start()
	}
	defer s.mu.Unlock()
	handle, err := start()
	s.known, s.refused = err == nil, needsWorkflow(err)
	return handle, err
}

// needsWorkflow reports whether an error means that activities need a workflow here: an
// older server, one that has them switched off or allows them to others only, or a worker
// that does not have the activity or runs it for workflows only.
func needsWorkflow(err error) bool {
	if application, ok := errors.AsType[*temporal.ApplicationError](err); ok {
		return slices.Contains(needWorkflow(), application.Type())
	}
	return is[*serviceerror.Unimplemented](err) || is[*serviceerror.PermissionDenied](err)
}

// needWorkflow returns the types of the errors of such workers.
func needWorkflow() []string { return []string{errorNotRegistered, activities.ErrorNeedsWorkflow} }

// runAlone runs the activity of a dry run without its workflow and waits for its result. It
// returns errNeedsWorkflow, or errUntaken, where its workflow has to run.
func (c *Client) runAlone(ctx context.Context, d dryRun, result any) error {
	begun := time.Now()
	handle, err := c.standalone.try(func() (client.ActivityHandle, error) { return c.startAlone(ctx, d) })
	switch {
	case err == nil:
	case needsWorkflow(err):
		return c.standalone.refuse()
	case errors.Is(err, errNeedsWorkflow):
		return err
	default:
		return c.translateRead(ctx, err)
	}
	waiting, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- handle.Get(waiting, result) }()
	select {
	case err = <-ended:
	case <-time.After(c.workerTimeout):
		if c.isUntaken(ctx, handle) && !c.hasPollSince(ctx, begun) {
			stop()
			if err := <-ended; err == nil {
				return nil // a worker completed it in the meantime
			}
			return c.endUntaken(ctx, handle)
		}
		err = <-ended
	}
	switch {
	case ctx.Err() != nil:
		cancelAlone(ctx, handle)
	case needsWorkflow(err):
		return c.standalone.refuse()
	case d.failed != nil && (is[*temporal.ApplicationError](err) || is[*temporal.TimeoutError](err)):
		d.failed(err)
		return nil
	}
	return err
}

// startAlone starts the activity of a dry run with the options that its workflow uses.
func (c *Client) startAlone(ctx context.Context, d dryRun) (client.ActivityHandle, error) {
	deadline, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	options := workflows.DryRunOptions(d.name)
	if options.ScheduleToCloseTimeout == 0 {
		options.ScheduleToCloseTimeout = d.timeout
	}
	retries := *options.RetryPolicy
	retries.NonRetryableErrorTypes = needWorkflow()
	return c.client.ExecuteActivity(deadline, client.StartActivityOptions{ //nolint:wrapcheck // the callers look for its type
		ID: d.id, TaskQueue: c.taskQueue, Summary: d.summary,
		ScheduleToCloseTimeout: options.ScheduleToCloseTimeout, StartToCloseTimeout: options.StartToCloseTimeout,
		HeartbeatTimeout: options.HeartbeatTimeout, RetryPolicy: &retries,
		Priority: temporal.Priority{PriorityKey: workflows.PriorityUser},
	}, d.name, d.in)
}

// isUntaken reports whether no worker has taken an activity.
func (c *Client) isUntaken(ctx context.Context, handle client.ActivityHandle) bool {
	deadline, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	described, err := handle.Describe(deadline, client.DescribeActivityOptions{})
	return err == nil && described.Attempt <= 1 && described.RunState == enumspb.PENDING_ACTIVITY_STATE_SCHEDULED
}

// endUntaken terminates an activity that no worker took.
func (c *Client) endUntaken(ctx context.Context, handle client.ActivityHandle) error {
	deadline, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	_ = handle.Terminate(deadline, client.TerminateActivityOptions{Reason: unstartedReason}) // it ends by its timeout, too
	if c.Polled(ctx, c.taskQueue) {
		return errUntaken
	}
	return &NoWorkerError{TaskQueue: c.taskQueue}
}

// cancelAlone cancels an activity whose user pressed Ctrl-C: a worker that has not taken it
// never does.
func cancelAlone(ctx context.Context, handle client.ActivityHandle) {
	deadline, cancel := context.WithTimeout(context.WithoutCancel(ctx), cancelTimeout)
	defer cancel()
	_ = handle.Cancel(deadline, client.CancelActivityOptions{Reason: "interrupted by the user"}) // it ends by its timeout, too
}
