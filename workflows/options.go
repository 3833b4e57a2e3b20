package workflows

import (
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/armature-io/armature/internal/text"
)

// Every timeout and retry policy of the activities stands here.
const (
	// checkTimeout bounds a local activity: its reads take 3 s at most, and
	// messages wait while one runs.
	checkTimeout = 5 * time.Second
	// requestTimeout bounds one attempt at ARM, which gives up on a provider
	// after 60 s with a 504.
	requestTimeout = 90 * time.Second
	// heartbeatTimeout is how soon a lost worker is noticed; the activities
	// heartbeat every 5 s, from the tenth second on.
	heartbeatTimeout = 15 * time.Second
	// wakeTimeout is as long as the longest wait that a wake cuts short, with some
	// room.
	wakeTimeout = 5 * time.Minute
	// planTimeout is how long a plan of one resource may wait for ARM.
	planTimeout = 4 * time.Minute
)

// retries are unlimited for the server: the activities count their faults and
// give up by themselves, and each of their errors carries its own delay. What
// is left to this policy is a worker that died.
func retries() *temporal.RetryPolicy {
	return &temporal.RetryPolicy{InitialInterval: time.Second, BackoffCoefficient: 2, MaximumInterval: 30 * time.Second}
}

// checkOptions are those of CheckOwner, PreCheck and PostCheck: one attempt.
func checkOptions(ctx workflow.Context, summary string) workflow.Context {
	return workflow.WithLocalActivityOptions(ctx, workflow.LocalActivityOptions{
		ScheduleToCloseTimeout: checkTimeout,
		RetryPolicy:            &temporal.RetryPolicy{MaximumAttempts: 1},
		Summary:                text.Cut(summary, maxSummaryRunes),
	})
}

// requestOptions are those of an activity that makes a request to ARM.
func requestOptions(ctx workflow.Context, summary string) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: requestTimeout,
		HeartbeatTimeout:    heartbeatTimeout,
		RetryPolicy:         retries(),
		Summary:             text.Cut(summary, maxSummaryRunes),
	})
}

// pollOptions are those of PollOperation: one poll an attempt, for as long as
// the manifest allows.
func pollOptions(ctx workflow.Context, summary string, timeout time.Duration) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		ScheduleToCloseTimeout: timeout,
		StartToCloseTimeout:    requestTimeout,
		HeartbeatTimeout:       heartbeatTimeout,
		RetryPolicy:            retries(),
		Summary:                text.Cut(summary, maxSummaryRunes),
	})
}

// wakeOptions are those of WakeDependents: an owner of thousands tells for
// minutes, and a wake that is too late is none.
func wakeOptions(ctx workflow.Context, summary string) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		ScheduleToCloseTimeout: wakeTimeout,
		HeartbeatTimeout:       heartbeatTimeout,
		RetryPolicy:            retries(),
		Summary:                text.Cut(summary, maxSummaryRunes),
	})
}

// planOptions are those of an activity of a dry run, for whose result somebody
// waits.
func planOptions(ctx workflow.Context, summary string) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		ScheduleToCloseTimeout: planTimeout,
		StartToCloseTimeout:    requestTimeout,
		HeartbeatTimeout:       heartbeatTimeout,
		RetryPolicy:            retries(),
		Summary:                text.Cut(summary, maxSummaryRunes),
	})
}

// maxSummaryRunes is the length of a summary that the Web UI shows.
const maxSummaryRunes = 120
