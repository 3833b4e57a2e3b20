package passtest

import (
	"bytes"
	"context"
	"log/slog"
	"maps"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/activities/writing"
	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/extensions/azure"
	"github.com/armature-io/armature/internal/extensionhost"
	"github.com/armature-io/armature/internal/servertime"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/secrets"
	"github.com/armature-io/armature/workflows"
)

const (
	defaultTime = time.Hour
	// maxRealTime bounds the real time without progress.
	maxRealTime = time.Minute
)

// Run manages the resource of a script for its time, with the entry in the registry, and
// returns what happened. The test fails if the manifest or an event is refused.
func Run(t testing.TB, entry extensions.Entry, script Script) *Result {
	t.Helper()
	r := newRun(t, entry, script)
	r.env.RegisterDelayedCallback(func() {
		r.update(workflows.ApplyUpdate, workflows.ApplyInput{Desired: r.desired, By: user})
	}, 0)
	for _, event := range script.Events {
		r.env.RegisterDelayedCallback(func() { r.happen(event) }, event.After)
	}
	if script.For == 0 {
		script.For = defaultTime
	}
	r.env.RegisterDelayedCallback(func() {
		r.readStatus()
		r.env.CancelWorkflow()
	}, script.For)
	r.env.ExecuteWorkflow(workflows.ReconcileResourceWorkflow, workflows.ReconcileResourceInput{})
	r.finish()
	return r.result
}

// run is a script that runs.
type run struct {
	t       testing.TB
	env     *testsuite.TestWorkflowEnvironment
	sim     *armsim.Simulator
	desired resource.Desired

	// mu guards what activities write beside the workflow.
	mu     sync.Mutex
	paused time.Duration
	log    bytes.Buffer
	result *Result
	// managed are the Ready conditions of others, by ID in lower case.
	managed map[string]resource.Managed
}

func newRun(t testing.TB, entry extensions.Entry, script Script) *run {
	t.Helper()
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(log.NewStructuredLogger(slog.New(slog.DiscardHandler)))
	r := &run{t: t, env: suite.NewTestWorkflowEnvironment(), desired: desired(t, script.Manifest), managed: map[string]resource.Managed{}}
	for id, managed := range script.Managed {
		r.managed[strings.ToLower(id)] = managed
	}
	for _, event := range script.Events {
		id := strings.ToLower(event.ID)
		if _, known := r.managed[id]; event.Wakes && !known {
			r.managed[id] = resource.Managed{Ready: true}
		}
	}
	r.env.SetStartWorkflowOptions(client.StartWorkflowOptions{ID: r.desired.ID.WorkflowID()})
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	r.env.SetStartTime(start)
	r.result = &Result{Start: start}
	r.env.SetTestTimeout(maxRealTime)
	if err := r.env.SetTypedSearchAttributesOnStart(workflows.IdentityAttributes(r.desired)); err != nil {
		t.Fatal(err)
	}
	r.env.SetOnTimerScheduledListener(func(string, time.Duration) {
		r.env.RegisterDelayedCallback(r.readStatus, 0) // the workflow cannot be asked inside its task
	})
	r.startSimulator(script)
	registry, err := extensionhost.New(append(append(azure.BuiltIn(), entry), script.More...)...)
	if err != nil {
		t.Fatal(err)
	}
	r.register(registry)
	return r
}

// startSimulator starts the simulator with the resources of the script, the shorter IDs
// first: a resource with a body of its own is not one that a child needs.
func (r *run) startSimulator(script Script) {
	r.t.Helper()
	options := script.Simulator
	options.Clock = r.now
	r.sim = armsim.New(options)
	ids := slices.SortedFunc(maps.Keys(script.Azure), func(a, b string) int { return len(a) - len(b) })
	for _, id := range ids {
		if err := r.sim.Put(id, body(r.t, id, script.Azure[id])); err != nil {
			r.t.Fatalf("Azure of the script: %v", err)
		}
	}
	owner := r.desired.Owner
	if script.OwnerAbsent || owner.IsZero() || len(r.sim.Resources(owner.String(), "")) > 0 {
		return
	}
	// One that is no resource, such as a subscription, exists without it.
	_ = r.sim.Put(owner.String(), map[string]any{"location": "westus2"})
}

// register connects the activities to the simulator and registers them.
func (r *run) register(registry *extensionhost.Registry) {
	r.t.Helper()
	server := httptest.NewServer(r.sim)
	r.t.Cleanup(server.Close)
	cloud, err := arm.CloudConfiguration(arm.CloudOptions{
		Name: arm.CloudCustom, Endpoint: server.URL, Audience: server.URL, AuthorityHost: "https://login.invalid",
	})
	if err != nil {
		r.t.Fatal(err)
	}
	connection, err := arm.NewClient(arm.Options{Cloud: cloud, Clock: r.now, MayWrite: writing.MayWrite})
	if err != nil {
		r.t.Fatal(err)
	}
	temporal := alone{r}
	a := activities.New(activities.Dependencies{
		Client: connection, Registry: registry, Log: slog.New(slog.NewTextHandler(r, &slog.HandlerOptions{ReplaceAttr: r.virtualTime})),
		Fleet: temporal, Waker: temporal, Turns: temporal, Freezer: temporal, Budgets: temporal, Memory: temporal, Attempts: temporal,
		Secrets: secrets.New(secrets.Options{EnvPrefix: "ARMATURE_SECRET_", Vault: connection}),
		Masker:  secrets.NewMasker([]byte("passtest masks 16")),
	}, activities.Options{Clock: servertime.New(r.now), Now: r.now, HashKey: []byte("passtest"), MaxSlotWait: -1, Pause: r.pause, Observe: r.observe})
	// Without the interceptor of a worker, which compares the clock with that of the server:
	// activities of the test environment start in real time.
	r.env.SetWorkerOptions(worker.Options{
		Interceptors:             []interceptor.WorkerInterceptor{&patience{}},
		DeadlockDetectionTimeout: maxRealTime, // a busy machine is no deadlock
	})
	workflows.Register(r.env)
	workflows.RegisterActivities(r.env, a)
}

// now is the virtual clock: that of the workflow, and what activities waited.
func (r *run) now() time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.env.Now().Add(r.paused)
}

// pause is a wait inside of an activity, which takes no real time.
func (r *run) pause(ctx context.Context, delay time.Duration) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.paused += delay
	return ctx.Err() == nil
}

// virtualTime replaces the time of a line of the log.
func (r *run) virtualTime(groups []string, a slog.Attr) slog.Attr {
	if len(groups) == 0 && a.Key == slog.TimeKey {
		a.Value = slog.DurationValue(r.now().Sub(r.result.Start))
	}
	return a
}

// Write records the log of the worker.
func (r *run) Write(line []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.log.Write(line)
}

// observe records a verdict. A pass begins with the check of the owner, that of a deletion
// with the check of the dependents.
func (r *run) observe(step string, verdict resource.Verdict) {
	at := r.now().Sub(r.result.Start)
	r.mu.Lock()
	defer r.mu.Unlock()
	passes := &r.result.Passes
	inDeletion := len(*passes) > 0 && (*passes)[len(*passes)-1].Of("CheckDependents").Action != ""
	if step == "CheckDependents" || step == "CheckOwner" && !inDeletion || len(*passes) == 0 {
		*passes = append(*passes, Pass{At: at})
	}
	last := &(*passes)[len(*passes)-1]
	last.Verdicts = append(last.Verdicts, Verdict{Step: step, Verdict: verdict})
}

// readStatus records the state after a pass.
func (r *run) readStatus() {
	if r.env.IsWorkflowCompleted() {
		return
	}
	value, err := r.env.QueryWorkflow(workflows.StatusQuery)
	if err != nil {
		return // before the first apply there is no status
	}
	var status workflows.Status
	if err := value.Get(&status); err != nil {
		r.t.Errorf("decode status: %v", err)
		return
	}
	r.conclude(status)
}

func (r *run) conclude(status workflows.Status) {
	now := r.env.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.result.Status = status
	if n := len(r.result.Passes); n > 0 && !status.InPass {
		last := &r.result.Passes[n-1]
		if last.Phase == "" && !status.NextTry.IsZero() {
			last.Wait = status.NextTry.Sub(now)
		}
		last.Phase, last.Condition = status.Phase, status.Condition
	}
}

// finish collects what the simulator and the log have.
func (r *run) finish() {
	r.t.Helper()
	var status workflows.Status
	err := r.env.GetWorkflowResult(&status)
	switch {
	case err == nil:
		r.conclude(status)
	case !r.env.IsWorkflowCompleted():
		r.t.Fatalf("the script made no progress for %s:\n%s", maxRealTime, r.result)
	case !temporal.IsCanceledError(err):
		r.t.Errorf("the workflow failed: %v", err)
	}
	r.result.Requests, r.result.Writes = r.sim.Requests(), r.sim.Writes()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.result.Log = r.log.String()
}
