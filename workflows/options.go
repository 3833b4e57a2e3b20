package workflows

import (
	"context"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/internal/text"
)

// The timeouts of all activities.
const (
	// checkTimeout bounds a local activity: its reads take 3 s at most, and
	// messages wait while one runs.
	checkTimeout = 5 * time.Second
	// lookTimeout bounds a read within the workflow task, a local activity. What takes longer
	// is read by an ordinary one.
	lookTimeout = 3 * time.Second
	// requestTimeout bounds one attempt at ARM, which gives up on a provider
	// after 60 s with a 504.
	requestTimeout = 90 * time.Second
	// stepTimeout bounds all attempts of a step, with the time until a worker takes it.
	// The activities end much earlier by themselves, in words: it is for workers that die
	// of a step.
	stepTimeout = 30 * time.Minute
	// heartbeatTimeout is how soon a lost worker is noticed. A heartbeat that a slow Temporal or
	// a busy machine delays costs no attempt.
	heartbeatTimeout = 3 * activities.HeartbeatInterval
	// wakeTimeout is a little longer than the longest wait that a wake shortens: an
	// owner with thousands of dependents may need minutes, and a later wake is useless.
	wakeTimeout = 5 * time.Minute
	// abortTimeout is how long the deletions of dependents are taken back, all attempts
	// together: later they have been sent.
	abortTimeout = 5 * time.Minute
	// planTimeout is how long a dry run of one resource, for which a user waits, may
	// wait for ARM.
	planTimeout = 4 * time.Minute
)

// maxSummaryRunes is the length of a summary that the Web UI shows.
const maxSummaryRunes = 120

// summarize cuts a summary to the length that the Web UI shows.
func summarize(summary string) string { return text.Cut(inert(summary), maxSummaryRunes) }

// checkOptions returns the context for CheckOwner, PreCheck and PostCheck: local
// activities with one attempt.
func checkOptions(ctx workflow.Context, summary string) workflow.Context {
	return localOptions(ctx, checkTimeout, summary)
}

// lookOptions returns the context for GetResource as a local activity.
func lookOptions(ctx workflow.Context, summary string) workflow.Context {
	return localOptions(ctx, lookTimeout, summary)
}

// localOptions returns the context for a local activity with one attempt.
func localOptions(ctx workflow.Context, timeout time.Duration, summary string) workflow.Context {
	return workflow.WithLocalActivityOptions(ctx, workflow.LocalActivityOptions{
		ScheduleToCloseTimeout: timeout,
		RetryPolicy:            &temporal.RetryPolicy{MaximumAttempts: 1},
		Summary:                summarize(summary),
	})
}

// requestOptions returns the context for an activity that sends a request to ARM.
func requestOptions(ctx workflow.Context, summary string) workflow.Context {
	return activityOptions(ctx, summary, requestTimeout, stepTimeout)
}

// pollOptions returns the context for PollOperation: one poll per attempt, until the
// manifest's timeout.
func pollOptions(ctx workflow.Context, summary string, timeout time.Duration) workflow.Context {
	return activityOptions(ctx, summary, requestTimeout, timeout)
}

// wakeOptions returns the context for WakeDependents.
func wakeOptions(ctx workflow.Context, summary string) workflow.Context {
	return activityOptions(ctx, summary, 0, wakeTimeout)
}

// activityOptions returns the context for an activity with a timeout for each attempt, 0
// for none, and one for all attempts together. The number of attempts has no limit: the
// activities count their failures and give up by themselves, and each of their errors
// carries its own delay. The retry policy only matters after a worker died.
func activityOptions(ctx workflow.Context, summary string, attempt, total time.Duration) workflow.Context {
	options := retriedOptions(attempt, total)
	options.Priority, options.Summary = workflow.GetActivityOptions(ctx).Priority, summarize(summary)
	return workflow.WithActivityOptions(ctx, options)
}

func retriedOptions(attempt, total time.Duration) workflow.ActivityOptions {
	return workflow.ActivityOptions{
		StartToCloseTimeout:    attempt,
		ScheduleToCloseTimeout: total,
		HeartbeatTimeout:       heartbeatTimeout,
		RetryPolicy:            &temporal.RetryPolicy{InitialInterval: time.Second, BackoffCoefficient: 2, MaximumInterval: 30 * time.Second},
	}
}

// execute runs an activity and returns its result.
func execute[In, Out any](ctx workflow.Context, activity func(context.Context, In) (Out, error), in In) (out Out, err error) {
	err = workflow.ExecuteActivity(ctx, activity, in).Get(ctx, &out)
	return out, err
}

// executeLocal runs a local activity and returns its result.
func executeLocal[In, Out any](ctx workflow.Context, activity func(context.Context, In) (Out, error), in In) (out Out, err error) {
	err = workflow.ExecuteLocalActivity(ctx, activity, in).Get(ctx, &out)
	return out, err
}
