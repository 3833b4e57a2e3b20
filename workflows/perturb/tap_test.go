package perturb

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/workflows"
)

const (
	// maxAttempts is the number of attempts of one activity. The test environment of the SDK has
	// 10, a server no bound.
	maxAttempts = 10_000
	// lostAfter is how soon the server notices a lost worker: the heartbeat timeout of all
	// activities.
	lostAfter = 30 * time.Second
)

// errLost is the result of a call of a worker that was lost.
var errLost = errors.New("the worker is lost")

// tap is the interceptor that sees every activity, and what the workflow sends.
type tap struct {
	interceptor.WorkerInterceptorBase
	world *world
}

// InterceptActivity returns the link that sees an activity.
func (t *tap) InterceptActivity(_ context.Context, next interceptor.ActivityInboundInterceptor) interceptor.ActivityInboundInterceptor {
	return &activityTap{ActivityInboundInterceptorBase: interceptor.ActivityInboundInterceptorBase{Next: next}, world: t.world}
}

type activityTap struct {
	interceptor.ActivityInboundInterceptorBase
	world *world
}

// Init adds the link that sees heartbeats.
func (a *activityTap) Init(next interceptor.ActivityOutboundInterceptor) error {
	return a.Next.Init(&heartbeatTap{interceptor.ActivityOutboundInterceptorBase{Next: next}})
}

// ExecuteActivity runs the attempts of an activity. The server starts the next attempt after the
// loss of a worker; a local activity is repeated with its workflow task.
func (a *activityTap) ExecuteActivity(ctx context.Context, in *interceptor.ExecuteActivityInput) (any, error) {
	info := activity.GetInfo(ctx)
	for {
		e, lost := a.attempt(ctx, info, in)
		switch {
		case !lost:
			return e.result, e.err
		case info.IsLocalActivity:
			continue
		}
		return nil, temporal.NewApplicationErrorWithOptions("heartbeat timeout", "WorkerLost", temporal.ApplicationErrorOptions{NextRetryDelay: lostAfter})
	}
}

// ended is how an attempt ended.
type ended struct {
	result any
	err    error
}

// attempt runs one attempt. It reports whether the worker was lost; then the attempt may still run.
func (a *activityTap) attempt(ctx context.Context, info activity.Info, in *interceptor.ExecuteActivityInput) (e ended, lost bool) {
	w := a.world
	own := &attempt{local: info.IsLocalActivity, stalled: make(chan struct{}), resumed: make(chan struct{}), over: make(chan struct{})}
	own.noteEnd(w.isForgotten())
	ctx, cancel := context.WithCancel(context.WithValue(ctx, attemptKey{}, own))
	if !info.IsLocalActivity {
		w.clock.Compare(w.now())
	}
	done := make(chan ended, 1)
	go func() {
		defer close(own.over)
		defer cancel()
		done <- a.execute(ctx, info, in)
	}()
	select {
	case e = <-done:
	case <-own.stalled:
		w.stall(own)
	}
	if !own.isLost() {
		w.resume()
		return e, false
	}
	if err := w.startWorker(); err != nil {
		w.violate("start a worker: %v", err)
	}
	return ended{}, true
}

// execute runs the activity. A panic is a violation.
func (a *activityTap) execute(ctx context.Context, info activity.Info, in *interceptor.ExecuteActivityInput) (e ended) {
	defer func() {
		if value := recover(); value != nil {
			a.world.violate("%s panicked: %v", info.ActivityType.Name, value)
			e.err = fmt.Errorf("%v", value)
		}
	}()
	failure := a.world.call(ctx, &call{point: point{site: siteActivity, name: info.ActivityType.Name}, execute: func() error {
		e.result, e.err = a.Next.ExecuteActivity(ctx, in)
		return nil
	}})
	e.err = errors.Join(e.err, failure)
	return e
}

// stall remembers an attempt that stopped with its worker, and continues later.
func (w *world) stall(a *attempt) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stalledAttempt = a
}

// resume lets the attempt that stopped continue, now that another one has ended.
func (w *world) resume() {
	w.mu.Lock()
	stalled := w.stalledAttempt
	w.stalledAttempt = nil
	w.mu.Unlock()
	if stalled != nil {
		close(stalled.resumed)
		<-stalled.over
	}
}

// heartbeatTap drops the heartbeats of a lost worker.
type heartbeatTap struct {
	interceptor.ActivityOutboundInterceptorBase
}

// RecordHeartbeat records a heartbeat.
func (h *heartbeatTap) RecordHeartbeat(ctx context.Context, details ...any) {
	if !attemptOf(ctx).isLost() {
		h.Next.RecordHeartbeat(ctx, details...)
	}
}

// InterceptWorkflow returns the link that sees what the workflow sends.
func (t *tap) InterceptWorkflow(_ workflow.Context, next interceptor.WorkflowInboundInterceptor) interceptor.WorkflowInboundInterceptor {
	return &workflowTap{WorkflowInboundInterceptorBase: interceptor.WorkflowInboundInterceptorBase{Next: next}, world: t.world}
}

type workflowTap struct {
	interceptor.WorkflowInboundInterceptorBase
	world *world
}

// Init adds the outbound link.
func (t *workflowTap) Init(next interceptor.WorkflowOutboundInterceptor) error {
	return t.Next.Init(&workflowOutbound{WorkflowOutboundInterceptorBase: interceptor.WorkflowOutboundInterceptorBase{Next: next}, world: t.world})
}

type workflowOutbound struct {
	interceptor.WorkflowOutboundInterceptorBase
	world *world
}

// SignalExternalWorkflow gives the end of a turn to the queue of the fleet.
func (o *workflowOutbound) SignalExternalWorkflow(ctx workflow.Context, _, _, name string, arg any) workflow.Future {
	if turn, isTurn := arg.(activities.Turn); isTurn && name == workflows.EndTurnSignal {
		o.world.fleet.endTurn(turn)
	}
	sent, settable := workflow.NewFuture(ctx)
	settable.SetValue(nil)
	return sent
}

// UpsertMemo lets the fleet read the memo.
func (o *workflowOutbound) UpsertMemo(ctx workflow.Context, memo map[string]any) error {
	o.world.fleet.noteMemo(memo)
	return o.Next.UpsertMemo(ctx, memo)
}

// ExecuteActivity schedules an activity with more attempts, if it has no bound.
func (o *workflowOutbound) ExecuteActivity(ctx workflow.Context, name string, args ...any) workflow.Future {
	options := workflow.GetActivityOptions(ctx)
	policy := temporal.RetryPolicy{}
	if options.RetryPolicy != nil {
		policy = *options.RetryPolicy
	}
	if policy.MaximumAttempts == 0 {
		policy.MaximumAttempts = maxAttempts
		options.RetryPolicy = &policy
		ctx = workflow.WithActivityOptions(ctx, options)
	}
	return o.Next.ExecuteActivity(ctx, name, args...)
}
