package perturb

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/activities/writing"
	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/extensions/azure"
	"github.com/armature-io/armature/internal/extensionhost"
	"github.com/armature-io/armature/internal/servertime"
	"github.com/armature-io/armature/internal/testonly/cells"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/secrets"
	"github.com/armature-io/armature/workflows"
)

const (
	// maxRealTime bounds the real time without progress: what takes longer hangs.
	maxRealTime = time.Minute
	// pointTime is how long after its beginning a kind has points. The routine passes afterwards
	// belong to the kind of routine passes.
	pointTime = 20 * time.Minute
	// settleTime follows the last point: each retry, freeze and delay has ended after it.
	settleTime = 5 * time.Hour
)

// begin is when each run begins.
var begin = time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)

// builtIn is the registry of the built-in extensions, which all runs share.
var builtIn = sync.OnceValues(func() (*extensionhost.Registry, error) { return extensionhost.New(azure.BuiltIn()...) })

// world is one run of a kind of pass.
type world struct {
	kind *kind
	// cell is the disturbance, nil for the undisturbed run.
	cell  *cell
	sim   *armsim.Simulator
	azure *transport
	fleet *fleet

	// mu guards the fields below: activities run beside the workflow.
	mu  sync.Mutex
	env *testsuite.TestWorkflowEnvironment
	// ended is closed at the end of a run of the workflow, before the next one.
	ended chan struct{}
	// runs counts the runs of the workflow: more than one after continue-as-new.
	runs   int
	worker *activities.Activities
	clock  *servertime.Clock
	// skew is how far the clock of the workers is ahead, paused how long activities waited.
	skew, paused time.Duration
	// hiddenUntil is until when reads of the resource find nothing.
	hiddenUntil time.Time
	// stalledAttempt is the attempt of a worker that stopped, nil for none.
	stalledAttempt *attempt
	// points are the points of the run in order, counts their number by name.
	points []point
	counts map[string]int
	// fired is set once the disturbance happened.
	fired bool
	// messages are the events that did not happen yet, last the last message of a user.
	events []*event
	last   *message
	// spec is the last one that a user applied.
	spec resource.Desired
	user user
	// status is what users saw last, before what Azure had when the points began.
	status workflows.Status
	before map[string]any
	// completed is set once the workflow has ended by itself.
	completed  bool
	violations []string
}

// user is what users want last, as the workflow accepted it, and what other clients changed.
type user struct {
	generation int64
	deleted    bool
	forgotten  bool
	// stated are merge patches of the body by new generations, foreign those of other clients.
	stated, foreign []string
	// mayStay is a change of another client that stays if the status names it among the values
	// that Azure keeps: between a PUT and the first read after it, such a change looks like
	// Azure's own choice, and only a feed of changes shows the difference.
	mayStay string
	// refused are the messages that the workflow refused, with the type of the error.
	refused []string
}

// newWorld returns the world of a kind with its resources in Azure.
func newWorld(k *kind, c *cell) (*world, error) {
	w := &world{kind: k, cell: c, counts: map[string]int{}, spec: k.desired}
	for _, e := range k.events {
		w.events = append(w.events, &e)
	}
	if k.from > 0 {
		w.events = append(w.events, &event{k.from - time.Second, func(w *world) { w.before = w.snapshot() }})
	}
	w.fleet = newFleet(w)
	options := armsim.Options{Clock: w.now, VaultSuffix: vaultSuffix}
	if k.options != nil {
		k.options(&options)
	}
	if c != nil && c.disturbance.options != nil {
		c.disturbance.options(&options)
	}
	// The simulator asks for the time before the first run of the workflow.
	w.newEnvironment(begin)
	w.sim = armsim.New(options)
	w.azure = &transport{world: w, older: map[string]*answers{}}
	for _, r := range append([]initial{{group, `{"location":"westus2"}`}}, k.azure...) {
		if err := w.sim.Put(r.id, cells.Decoded(r.body)); err != nil {
			return nil, fmt.Errorf("put %s: %w", r.id, err)
		}
	}
	return w, w.startWorker()
}

// startWorker replaces the worker by another process: it has no memory of the one before.
func (w *world) startWorker() error {
	registry, err := builtIn()
	if err != nil {
		return err
	}
	cloud, err := arm.CloudConfiguration(arm.CloudOptions{
		Name: arm.CloudCustom, Endpoint: "https://" + armHost, Audience: "https://" + armHost, AuthorityHost: "https://login.invalid",
	})
	if err != nil {
		return err
	}
	connection, err := arm.NewClient(arm.Options{
		Cloud: cloud, Clock: w.workerNow, MayWrite: writing.MayWrite, Transport: w.azure, Credential: constantToken("own"), VaultSuffix: vaultSuffix,
	})
	if err != nil {
		return err
	}
	clock := servertime.New(w.workerNow)
	options := activities.Options{
		Clock: clock, Now: w.workerNow, HashKey: []byte("perturb"), Rotation: true, MaxSlotWait: -1, Pause: w.pause,
		StartTime: func(context.Context) time.Time { return w.now() },
		Exports:   map[string][]resource.VaultPattern{"default": {exportable}},
	}
	started := activities.New(activities.Dependencies{
		Client: connection, Registry: registry, Log: slog.New(slog.DiscardHandler),
		Fleet: w.fleet, Waker: w.fleet, Turns: w.fleet, Freezer: w.fleet, Budgets: w.fleet, Memory: w.fleet, Attempts: w.fleet,
		Secrets: secrets.New(secrets.Options{EnvPrefix: "ARMATURE_SECRET_", Vault: connection}),
		Masker:  secrets.NewMasker([]byte("perturb masks 16")),
	}, options)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.worker, w.clock = started, clock
	return nil
}

// now is the time of the server and of Azure.
func (w *world) now() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.env.Now().Add(w.paused)
}

// workerNow is the time that the clock of a worker shows.
func (w *world) workerNow() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.env.Now().Add(w.paused + w.skew)
}

// pause is a wait of an activity that keeps its slot. It takes no real time.
func (w *world) pause(ctx context.Context, delay time.Duration) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.paused += delay
	return ctx.Err() == nil
}

func (w *world) violate(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.violations = append(w.violations, fmt.Sprintf(format, args...))
}

// run runs the workflow, and its runs after continue-as-new, until the end of the kind.
func (w *world) run() {
	input := workflows.ReconcileResourceInput{}
	for w.runWorkflow(input) {
		next, err := w.nextInput()
		if err != nil {
			w.violate("continue as new: %v", err)
			return
		}
		input = next
		w.newEnvironment(w.now())
	}
}

// newEnvironment makes the environment of the next run of the workflow.
func (w *world) newEnvironment(start time.Time) {
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(log.NewStructuredLogger(slog.New(slog.DiscardHandler)))
	env := suite.NewTestWorkflowEnvironment()
	env.SetStartTime(start)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.env, w.ended, w.runs = env, make(chan struct{}), w.runs+1
}

// runWorkflow runs the workflow once. It reports whether the run continues as new.
func (w *world) runWorkflow(input workflows.ReconcileResourceInput) (continues bool) {
	env := w.env
	defer close(w.ended)
	defer func() {
		if failure := recover(); failure != nil {
			w.violate("it hangs: %.600v", failure)
		}
	}()
	env.SetStartWorkflowOptions(client.StartWorkflowOptions{ID: w.kind.desired.ID.WorkflowID()})
	env.SetTestTimeout(maxRealTime)
	if err := env.SetTypedSearchAttributesOnStart(workflows.IdentityAttributes(w.kind.desired)); err != nil {
		w.violate("search attributes: %v", err)
		return false
	}
	env.SetWorkerOptions(worker.Options{
		Interceptors: []interceptor.WorkerInterceptor{&tap{world: w}}, DeadlockDetectionTimeout: maxRealTime,
	})
	workflows.Register(env)
	w.registerActivities(env)
	env.SetOnTimerScheduledListener(func(string, time.Duration) { env.RegisterDelayedCallback(w.observe, 0) })
	now := env.Now().Sub(begin)
	for _, e := range w.events {
		env.RegisterDelayedCallback(func() { w.happen(e) }, max(e.at-now, 0))
	}
	end := w.kind.from + pointTime + settleTime
	env.RegisterDelayedCallback(func() {
		w.observe()
		env.CancelWorkflow()
	}, end-now)
	env.ExecuteWorkflow(workflows.ReconcileResourceWorkflow, input)
	var final workflows.Status
	err := env.GetWorkflowResult(&final)
	switch {
	case err == nil:
		w.conclude(final, true)
		w.completed = true
	case workflow.IsContinueAsNewError(err):
		return true
	case !temporal.IsCanceledError(err):
		w.violate("the workflow failed: %v", err)
	}
	return false
}

// nextInput returns the input of the run after continue-as-new.
func (w *world) nextInput() (input workflows.ReconcileResourceInput, err error) {
	next, ok := errors.AsType[*workflow.ContinueAsNewError](w.env.GetWorkflowError())
	if !ok {
		return input, errors.New("no input")
	}
	return input, converter.GetDefaultDataConverter().FromPayloads(next.Input, &input)
}

// registerActivities registers every activity with a function that calls the present worker.
func (w *world) registerActivities(env *testsuite.TestWorkflowEnvironment) {
	all := reflect.TypeFor[*activities.Activities]()
	for i := range all.NumMethod() {
		name := all.Method(i).Name
		method := reflect.ValueOf(w.worker).Method(i)
		env.RegisterActivityWithOptions(reflect.MakeFunc(method.Type(), func(args []reflect.Value) []reflect.Value {
			w.mu.Lock()
			current := w.worker
			w.mu.Unlock()
			return reflect.ValueOf(current).MethodByName(name).Call(args)
		}).Interface(), activity.RegisterOptions{Name: name})
	}
}

// observe takes the status as users see it.
func (w *world) observe() {
	if w.env.IsWorkflowCompleted() {
		return
	}
	var status workflows.Status
	value, err := w.env.QueryWorkflow(workflows.StatusQuery)
	if err == nil {
		err = value.Get(&status)
	}
	if err != nil {
		w.violate("query status: %v", err)
		return
	}
	w.conclude(status, false)
}

// conclude checks that a status explains itself, and that something follows.
func (w *world) conclude(status workflows.Status, final bool) {
	now := w.now()
	w.mu.Lock()
	w.status = status
	w.mu.Unlock()
	switch c := status.Condition; {
	case status.Generation == 0 || c.Ready:
	case c.Reason == "" || c.Message == "":
		w.violate("at %s the condition explains nothing: %+v", now.Sub(begin), c)
	case !final && !status.InPass && !status.Paused && status.NextTry.IsZero() && c.Reason != resource.ReasonReconciling:
		w.violate("at %s nothing follows after %s: %s", now.Sub(begin), c.Reason, c.Message)
	}
}

// event happens at a time since the beginning of the run.
type event struct {
	at time.Duration
	do func(*world)
}

// happen makes an event happen once, also if the workflow continued as new before. The caller is
// the main loop of the environment.
func (w *world) happen(e *event) {
	w.mu.Lock()
	w.events = slices.DeleteFunc(w.events, func(other *event) bool { return other == e })
	w.mu.Unlock()
	e.do(w)
}

// during calls a function in the main loop of the environment and waits for its end.
func (w *world) during(do func(done func())) {
	w.mu.Lock()
	env, ended := w.env, w.ended
	w.mu.Unlock()
	done := make(chan struct{})
	env.RegisterDelayedCallback(func() { do(sync.OnceFunc(func() { close(done) })) }, 0)
	timer := time.NewTimer(maxRealTime)
	defer timer.Stop()
	select {
	case <-done:
	case <-ended:
	case <-timer.C:
		w.violate("a message was not handled")
	}
}

// message is an update or a signal to the workflow.
type message struct {
	name   string
	input  any
	signal bool
	// shown is a merge patch of what Azure shows in the end, if the message is accepted.
	shown string
}

// send sends a message. The caller is the main loop of the environment.
func (w *world) send(m message, done func()) {
	w.mu.Lock()
	w.last = &m
	w.mu.Unlock()
	if m.signal {
		w.env.SignalWorkflow(m.name, m.input)
		w.env.RegisterDelayedCallback(done, 0)
		return
	}
	w.env.UpdateWorkflow(m.name, "", &testsuite.TestUpdateCallback{
		OnAccept: func() {},
		OnReject: func(err error) {
			w.refuse(m, err)
			done()
		},
		OnComplete: func(result any, err error) {
			if err == nil {
				w.accept(m, result)
			} else {
				w.refuse(m, err)
			}
			done()
		},
	}, m.input)
}

// accept records what the user wants now.
func (w *world) accept(m message, result any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if applied, isApply := result.(workflows.ApplyResult); isApply {
		w.user.generation, w.user.deleted = applied.Generation, false
	}
	if m.shown != "" {
		w.user.stated = append(w.user.stated, m.shown)
	}
	w.user.deleted = w.user.deleted || m.name == workflows.DeleteUpdate
	w.user.forgotten = w.user.forgotten || m.name == workflows.ForgetUpdate
}

func (w *world) refuse(m message, err error) {
	reason := err.Error()
	if known, ok := errors.AsType[*temporal.ApplicationError](err); ok {
		reason = known.Type()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.user.refused = append(w.user.refused, m.name+": "+reason)
}

// constantToken is a credential with one token.
type constantToken string

type attemptKey struct{}

// attempt is an attempt of an activity.
type attempt struct {
	// local is set for a local activity.
	local bool
	// stalled is closed when the worker stops, resumed when it continues, over at the end.
	stalled, resumed, over chan struct{}

	// dead is set once the worker is gone, lost once the server believes so, unmanaged if the user
	// had ended the management when the attempt began, or when it asked whether it may write.
	dead, lost, unmanaged atomic.Bool
}

// attemptOf returns the attempt of a context, nil for one outside of all activities.
func attemptOf(ctx context.Context) *attempt {
	a, _ := ctx.Value(attemptKey{}).(*attempt)
	return a
}

// die ends the worker.
func (a *attempt) die() {
	if a == nil {
		return
	}
	a.lost.Store(true)
	a.dead.Store(true)
}

// stall stops the worker until another attempt has ended.
func (a *attempt) stall() {
	a.lost.Store(true)
	close(a.stalled)
	<-a.resumed
}

// isDead reports whether the worker is gone.
func (a *attempt) isDead() bool { return a != nil && a.dead.Load() }

// isLost reports whether the server believes that the worker is gone.
func (a *attempt) isLost() bool { return a != nil && a.lost.Load() }

// isUnmanaged reports whether the attempt may write nothing, because the management has ended.
func (a *attempt) isUnmanaged() bool { return a != nil && a.unmanaged.Load() }

// noteEnd notes whether the user has ended the management.
func (a *attempt) noteEnd(ended bool) {
	if a != nil && ended {
		a.unmanaged.Store(true)
	}
}

func (w *world) isForgotten() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.user.forgotten
}

// checkWrite checks that a write may be sent now.
func (w *world) checkWrite(request *http.Request, c *call) {
	switch {
	case w.fleet.forbids(c):
		w.violate("%s of %s while frozen", request.Method, request.URL.Path)
	case c.attempt.isUnmanaged():
		w.violate("%s of %s after the management ended", request.Method, request.URL.Path)
	}
}

// isHidden reports whether reads find no resource now.
func (w *world) isHidden() bool {
	now := w.now()
	w.mu.Lock()
	defer w.mu.Unlock()
	return now.Before(w.hiddenUntil)
}
