package workflows_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/activities/contents"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/stretchr/testify/mock"
)

// script is the results of the activities of one run, as functions that a test may
// replace. The defaults are a resource in sync. It records the calls in order.
type script struct {
	// mu guards calls: an activity that was canceled runs on beside the next one.
	mu       sync.Mutex
	calls    []string
	owner    func(activities.CheckOwnerInput) activities.CheckOwnerResult
	get      func(activities.GetResourceInput) activities.GetResourceResult
	look     error // the outcome of every read and request of a turn within a workflow task
	pre      func(activities.PreCheckInput) resource.Verdict
	put      func(activities.PutResourceInput) (activities.PutResourceResult, error)
	poll     func(activities.PollOperationInput) (activities.PollOperationResult, error)
	post     func(activities.PostCheckInput) activities.PostCheckResult
	contents func(contents.Request) resource.Verdict
	export   func(activities.ExportValuesInput) activities.ExportValuesResult
	// wakes are the inputs of WakeDependents, which runs beside the passes and is not in
	// calls.
	dependents func(activities.CheckDependentsInput) resource.Verdict
	turn       func(activities.TakeTurnInput) resource.Verdict
	provider   func(activities.RegisterProviderInput) resource.Verdict
	serialised resource.ID
	// falling is in results of CheckDependents, and overdueAfter their limit.
	falling      []resource.ID
	overdueAfter time.Duration
	// audits is set if CheckDependents finds an audit trail.
	audits bool
	adopt  bool
	// verify is what PreCheck returns for an accepted PUT.
	verify func(activities.PreCheckInput) bool
	wakes  []activities.WakeDependentsInput
	// wake is the result of WakeDependents, turns are those of TakeTurn and of the signals that end
	// one.
	wake  func(activities.WakeDependentsInput) error
	turns []activities.Turn
	// later are the inputs of WakeLater, wakeLater its error.
	later     []activities.WakeDependentsInput
	wakeLater error
	abort     func() (resource.Verdict, error)
	delete    func(activities.DeleteResourceInput) activities.DeleteResourceResult
	purge     func(activities.PurgeResourceInput) activities.PurgeResourceResult
}

// errDeferred makes a step an ordinary activity, which messages reach while it runs.
var errDeferred = temporal.NewNonRetryableApplicationError("no slot", activities.LookDeferred, nil)

func newScript() *script {
	return &script{
		owner: func(activities.CheckOwnerInput) activities.CheckOwnerResult {
			return activities.CheckOwnerResult{Verdict: resource.Proceed("")}
		},
		get: func(activities.GetResourceInput) activities.GetResourceResult { return present() },
		pre: func(activities.PreCheckInput) resource.Verdict {
			return resource.Verdict{Action: resource.ActionSkip, Reason: resource.ReasonInSync}
		},
		put: func(activities.PutResourceInput) (activities.PutResourceResult, error) {
			return activities.PutResourceResult{Verdict: resource.Proceed("accepted"), Done: true, Sent: true}, nil
		},
		poll: func(activities.PollOperationInput) (activities.PollOperationResult, error) {
			return activities.PollOperationResult{Verdict: resource.Verdict{Action: resource.ActionSuccess}}, nil
		},
		post: func(activities.PostCheckInput) activities.PostCheckResult {
			return activities.PostCheckResult{Verdict: resource.Verdict{Action: resource.ActionSuccess}}
		},
		verify:     func(activities.PreCheckInput) bool { return false },
		contents:   func(contents.Request) resource.Verdict { return resource.Proceed("") },
		dependents: func(activities.CheckDependentsInput) resource.Verdict { return resource.Proceed("") },
		export: func(in activities.ExportValuesInput) activities.ExportValuesResult {
			return activities.ExportValuesResult{Verdict: resource.Verdict{Action: resource.ActionSuccess}, Exports: in.Known}
		},
		turn:  func(activities.TakeTurnInput) resource.Verdict { return resource.Proceed("") },
		wake:  func(activities.WakeDependentsInput) error { return nil },
		abort: func() (resource.Verdict, error) { return resource.Proceed("took back 2"), nil },
		delete: func(activities.DeleteResourceInput) activities.DeleteResourceResult {
			return activities.DeleteResourceResult{Verdict: resource.Proceed("accepted"), Done: true}
		},
	}
}

func present() activities.GetResourceResult {
	return activities.GetResourceResult{Verdict: resource.Proceed(""), Exists: true, Observed: json.RawMessage(`{"properties":{}}`)}
}

func absent() activities.GetResourceResult {
	return activities.GetResourceResult{Verdict: resource.Proceed("")}
}

func create(activities.PreCheckInput) resource.Verdict {
	return resource.Verdict{Action: resource.ActionProceed, Create: true, Message: "it does not exist"}
}

// run is a workflow run in the test environment, which skips time.
type run struct {
	*testsuite.TestWorkflowEnvironment
	t      *testing.T
	script *script
	timers []time.Duration
	// mu guards the recorded calls, because WakeDependents runs beside the passes.
	mu sync.Mutex
	// watched are the search attributes with recorded lists.
	watched []watched
	// errors is the log at level error, counted the counters by name and reason.
	errors  bytes.Buffer
	counted map[string]int64
	// recorded are the durations of timers by name.
	recorded map[string][]time.Duration
	input    workflows.ReconcileResourceInput
}

// deadlockTimeout is how long a workflow may run without a yield. A busy machine may stop it for
// longer than the second that the SDK allows.
const deadlockTimeout = 20 * time.Second

func newRun(t *testing.T) *run {
	t.Helper()
	var suite testsuite.WorkflowTestSuite
	r := &run{t: t, script: newScript(), counted: map[string]int64{}, recorded: map[string][]time.Duration{}}
	suite.SetLogger(log.NewStructuredLogger(slog.New(slog.NewTextHandler(&r.errors, &slog.HandlerOptions{Level: slog.LevelError}))))
	suite.SetMetricsHandler(counters{client.MetricsNopHandler, r, ""})
	r.TestWorkflowEnvironment = suite.NewTestWorkflowEnvironment()
	r.SetWorkerOptions(worker.Options{DeadlockDetectionTimeout: deadlockTimeout})
	r.SetStartWorkflowOptions(client.StartWorkflowOptions{ID: desired().ID.WorkflowID()})
	r.SetStartTime(time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC))
	if err := r.SetTypedSearchAttributesOnStart(workflows.IdentityAttributes(desired())); err != nil {
		t.Fatal(err)
	}
	workflows.Register(r)
	r.register()
	r.recordEnds()
	r.SetOnTimerScheduledListener(func(_ string, d time.Duration) { r.timers = append(r.timers, d) })
	return r
}

// recordEnds records the signals that end a turn among the calls.
func (r *run) recordEnds() {
	r.OnSignalExternalWorkflow(mock.Anything, mock.Anything, "", workflows.EndTurnSignal, mock.Anything).Maybe().Return(
		func(_, workflowID, _, _ string, arg any) error {
			turn, isTurn := arg.(activities.Turn)
			if !isTurn || workflowID != workflows.SiblingsWorkflowID(turn.Parent) {
				r.t.Errorf("signal %+v to %s", arg, workflowID)
			}
			r.recordCall(endTurn)
			r.script.turns = append(r.script.turns, turn)
			return nil
		})
}

// counters is a metrics handler that counts by name and reason.
type counters struct {
	client.MetricsHandler
	run    *run
	reason string
}

func (c counters) WithTags(tags map[string]string) client.MetricsHandler {
	if reason, ok := tags["reason"]; ok {
		c.reason = reason
	}
	return c
}

func (c counters) Counter(name string) client.MetricsCounter {
	return counter{c.run, name + " " + c.reason}
}

type counter struct {
	run *run
	key string
}

func (c counter) Inc(n int64) {
	c.run.mu.Lock()
	defer c.run.mu.Unlock()
	c.run.counted[c.key] += n
}

func (c counters) Timer(name string) client.MetricsTimer { return timer{c.run, name} }

type timer struct {
	run  *run
	name string
}

func (t timer) Record(d time.Duration) {
	t.run.mu.Lock()
	defer t.run.mu.Unlock()
	t.run.recorded[t.name] = append(t.run.recorded[t.name], d)
}

func (r *run) register() {
	for name, function := range map[string]any{
		"CheckOwner": func(_ context.Context, in activities.CheckOwnerInput) (activities.CheckOwnerResult, error) {
			r.recordCall("CheckOwner")
			return r.script.owner(in), nil
		},
		"GetResource": func(ctx context.Context, in activities.GetResourceInput) (activities.GetResourceResult, error) {
			if r.script.look != nil && activity.GetInfo(ctx).IsLocalActivity {
				return activities.GetResourceResult{}, r.script.look
			}
			r.recordCall("GetResource")
			return r.script.get(in), nil
		},
		"PreCheck": func(_ context.Context, in activities.PreCheckInput) (activities.PreCheckResult, error) {
			r.recordCall("PreCheck")
			return activities.PreCheckResult{Verdict: r.script.pre(in), Turn: r.script.serialised, Adopt: r.script.adopt, Verify: r.script.verify(in)}, nil
		},
		"PutResource": func(_ context.Context, in activities.PutResourceInput) (activities.PutResourceResult, error) {
			r.recordCall("PutResource")
			return r.script.put(in)
		},
		"PollOperation": func(_ context.Context, in activities.PollOperationInput) (activities.PollOperationResult, error) {
			r.recordCall("PollOperation")
			return r.script.poll(in)
		},
		"PostCheck": func(_ context.Context, in activities.PostCheckInput) (activities.PostCheckResult, error) {
			r.recordCall("PostCheck")
			return r.script.post(in), nil
		},
		"ExportValues": func(_ context.Context, in activities.ExportValuesInput) (activities.ExportValuesResult, error) {
			r.recordCall("ExportValues")
			return r.script.export(in), nil
		},
		"CheckContents": func(_ context.Context, in contents.Request) (activities.CheckContentsResult, error) {
			r.recordCall("CheckContents")
			return activities.CheckContentsResult{Verdict: r.script.contents(in), Turn: r.script.serialised}, nil
		},
		"CheckDependents": func(_ context.Context, in activities.CheckDependentsInput) (activities.CheckDependentsResult, error) {
			r.recordCall("CheckDependents")
			return activities.CheckDependentsResult{Verdict: r.script.dependents(in), OverdueAfter: r.script.overdueAfter, Falling: r.script.falling, Audits: r.script.audits}, nil
		},
		"TakeTurn": func(ctx context.Context, in activities.TakeTurnInput) (activities.TakeTurnResult, error) {
			if r.script.look != nil && activity.GetInfo(ctx).IsLocalActivity {
				return activities.TakeTurnResult{}, r.script.look
			}
			r.recordCall("TakeTurn")
			r.script.turns = append(r.script.turns, in.Turn)
			return activities.TakeTurnResult{Verdict: r.script.turn(in)}, nil
		},
		"RegisterProvider": func(_ context.Context, in activities.RegisterProviderInput) (activities.RegisterProviderResult, error) {
			r.recordCall("RegisterProvider")
			return activities.RegisterProviderResult{Verdict: r.script.provider(in)}, nil
		},
		"WakeDependents": func(_ context.Context, in activities.WakeDependentsInput) (activities.WakeDependentsResult, error) {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.script.wakes = append(r.script.wakes, in)
			return activities.WakeDependentsResult{}, r.script.wake(in)
		},
		"WakeLater": func(_ context.Context, in activities.WakeDependentsInput) (activities.WakeLaterResult, error) {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.script.later = append(r.script.later, in)
			return activities.WakeLaterResult{}, r.script.wakeLater
		},
		"AbortDependents": func(_ context.Context, in activities.AbortDependentsInput) (activities.AbortDependentsResult, error) {
			r.recordCall("AbortDependents")
			verdict, err := r.script.abort()
			return activities.AbortDependentsResult{Verdict: verdict}, err
		},
		"PurgeResource": func(_ context.Context, in activities.PurgeResourceInput) (activities.PurgeResourceResult, error) {
			r.recordCall("PurgeResource")
			return r.script.purge(in), nil
		},
		"DeleteResource": func(_ context.Context, in activities.DeleteResourceInput) (activities.DeleteResourceResult, error) {
			r.recordCall("DeleteResource")
			return r.script.delete(in), nil
		},
	} {
		r.RegisterActivityWithOptions(function, activity.RegisterOptions{Name: name})
	}
}

// endTurn stands for the signal to the queue among the calls of a run.
const endTurn = "EndTurn"

func (r *run) recordCall(name string) {
	r.script.mu.Lock()
	defer r.script.mu.Unlock()
	r.script.calls = append(r.script.calls, name)
}

// updateResult is the result of an update.
type updateResult struct {
	rejected error
	result   any
	err      error
	complete bool
}

func (a *updateResult) callbacks() *testsuite.TestUpdateCallback {
	return &testsuite.TestUpdateCallback{
		OnAccept:   func() {},
		OnReject:   func(err error) { a.rejected = err },
		OnComplete: func(result any, err error) { a.result, a.err, a.complete = result, err, true },
	}
}

// at sends an update after a delay from the start.
func (r *run) at(delay time.Duration, update string, input any) *updateResult {
	got := &updateResult{}
	r.RegisterDelayedCallback(func() { r.UpdateWorkflow(update, "", got.callbacks(), input) }, delay)
	return got
}

// apply sends the first apply with the start of the run.
func (r *run) apply(spec resource.Desired) *updateResult {
	return r.at(0, workflows.ApplyUpdate, workflows.ApplyInput{Desired: spec, By: "ada@host"})
}

// start runs the workflow, and cancels it after the given time unless that is 0.
func (r *run) start(end time.Duration) {
	r.t.Helper()
	if end > 0 {
		r.RegisterDelayedCallback(r.CancelWorkflow, end)
	}
	r.ExecuteWorkflow(workflows.ReconcileResourceWorkflow, r.input)
	if !r.IsWorkflowCompleted() {
		r.t.Fatal("the workflow did not end")
	}
}

// nextRun returns the input with which an ended run continues as new.
func nextRun[Input any](t *testing.T, ended interface{ GetWorkflowError() error }) (input Input) {
	t.Helper()
	next, ok := errors.AsType[*workflow.ContinueAsNewError](ended.GetWorkflowError())
	if !ok {
		t.Fatalf("ended with %v, want continue-as-new", ended.GetWorkflowError())
	}
	if err := converter.GetDefaultDataConverter().FromPayloads(next.Input, &input); err != nil {
		t.Fatal(err)
	}
	return input
}

// startUntil runs the workflow until a time, and returns the state with which it continues as new.
func (r *run) startUntil(end time.Duration) *workflows.State {
	r.t.Helper()
	r.RegisterDelayedCallback(func() {
		r.SetContinueAsNewSuggested(true)
		r.SignalWorkflow("nonsense", nil)
	}, end)
	r.start(0)
	return nextRun[workflows.ReconcileResourceInput](r.t, r).State
}

// statusAt returns the status at a time of the run, once the run has ended.
func (r *run) statusAt(delay time.Duration) *workflows.Status {
	status := &workflows.Status{}
	r.RegisterDelayedCallback(func() {
		value, err := r.QueryWorkflow(workflows.StatusQuery)
		if err != nil {
			r.t.Errorf("query status: %v", err)
			return
		}
		if err := value.Get(status); err != nil {
			r.t.Errorf("decode status: %v", err)
		}
	}, delay)
	return status
}

func (r *run) wantCalls(want ...string) {
	r.t.Helper()
	if !slices.Equal(r.script.calls, want) {
		r.t.Errorf("activities ran as\n%v, want\n%v", r.script.calls, want)
	}
}

// count returns the number of calls of an activity.
func (r *run) count(name string) int {
	r.script.mu.Lock()
	defer r.script.mu.Unlock()
	return countOf(r.script.calls, name)
}

func mustID(text string) resource.ID {
	id, err := resource.ParseID(text)
	if err != nil {
		panic(err)
	}
	return id
}

const group = "/subscriptions/11111111-2222-3333-4444-555555555555/resourceGroups/rg1"

// desired returns the spec of the tests.
func desired() resource.Desired {
	id := mustID(group + "/providers/Microsoft.Kusto/clusters/c1")
	return resource.Desired{
		ID: id, APIVersion: "2023-08-15", Name: "adx", Body: json.RawMessage(`{"location":"westus2"}`),
		Owner: id.Owner(), OwnerAPIVersion: resource.ResourceGroupAPIVersion,
		Policy: resource.PolicyManage, Interval: time.Hour, Timeout: resource.DefaultTimeout,
	}
}

// lists records the values that are written to a search attribute of type list.
func (r *run) lists(name string) *[][]string {
	r.watched = append(r.watched, watched{temporal.NewSearchAttributeKeyKeywordList(name), &[][]string{}})
	if len(r.watched) == 1 {
		r.OnUpsertTypedSearchAttributes(mock.Anything).Return(nil).Run(func(args mock.Arguments) {
			written := args.Get(0).(temporal.SearchAttributes)
			for _, w := range r.watched {
				if list, ok := written.GetKeywordList(w.key); ok {
					*w.lists = append(*w.lists, list)
				}
			}
		})
	}
	return r.watched[len(r.watched)-1].lists
}

// phases returns the phases that are written to the search attributes.
func (r *run) phases() *[]string {
	var phases []string
	key := temporal.NewSearchAttributeKeyKeyword("ReconcilePhase")
	r.OnUpsertTypedSearchAttributes(mock.Anything).Return(nil).Run(func(args mock.Arguments) {
		if phase, ok := args.Get(0).(temporal.SearchAttributes).GetKeyword(key); ok {
			phases = append(phases, phase)
		}
	})
	return &phases
}

// keys returns the values that are written to ReconcileWaitingFor.
func (r *run) keys() *[][]string { return r.lists("ReconcileWaitingFor") }

type watched struct {
	key   temporal.SearchAttributeKeyKeywordList
	lists *[][]string
}
