package workflows_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/activities/writing"
	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/extensions/azure"
	"github.com/armature-io/armature/internal/extensionhost"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/secrets"
	"github.com/armature-io/armature/workflows"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"
)

// simulated is a run with the real activities against the simulator, on the clock of the
// test environment, which skips time.
type simulated struct {
	*run
	sim *armsim.Simulator
}

// builtIn is the registry of the built-in extensions. It is slow to make, and tests share it.
var builtIn = sync.OnceValues(func() (*extensionhost.Registry, error) { return extensionhost.New(azure.BuiltIn()...) })

func newSimulated(t *testing.T, spec resource.Desired, change ...func(*armsim.Options)) *simulated {
	t.Helper()
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(log.NewStructuredLogger(slog.New(slog.DiscardHandler)))
	s := &simulated{run: &run{t: t, script: newScript(), counted: map[string]int64{}, recorded: map[string][]time.Duration{}}}
	suite.SetMetricsHandler(counters{client.MetricsNopHandler, s.run, ""})
	s.TestWorkflowEnvironment = suite.NewTestWorkflowEnvironment()
	s.SetStartWorkflowOptions(client.StartWorkflowOptions{ID: spec.ID.WorkflowID()})
	s.SetStartTime(time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC))
	s.SetTestTimeout(time.Minute)
	s.SetWorkerOptions(worker.Options{DeadlockDetectionTimeout: deadlockTimeout})
	must(t, s.SetTypedSearchAttributesOnStart(workflows.IdentityAttributes(spec)))
	options := armsim.Options{Clock: s.Now}
	for _, c := range change {
		c(&options)
	}
	s.sim = armsim.New(options)
	server := httptest.NewServer(s.sim)
	t.Cleanup(server.Close)
	cloud, err := arm.CloudConfiguration(arm.CloudOptions{Name: "custom", Endpoint: server.URL, Audience: server.URL, AuthorityHost: "https://login.invalid"})
	must(t, err)
	connection, err := arm.NewClient(arm.Options{Cloud: cloud, Clock: s.Now})
	must(t, err)
	registry, err := builtIn()
	must(t, err)
	temporal := alone{}
	workflows.Register(s)
	workflows.RegisterActivities(s, activities.New(activities.Dependencies{
		Client: connection, Registry: registry, Fleet: temporal, Waker: temporal, Turns: temporal, Freezer: temporal,
		Budgets: temporal, Memory: temporal, Secrets: secrets.New(secrets.Options{EnvPrefix: "ARMATURE_SECRET_", Vault: connection}),
		Masker: secrets.NewMasker([]byte("0123456789abcdef")), Log: slog.New(slog.DiscardHandler),
	}, activities.Options{Now: s.Now, HashKey: []byte("hash key"), Rotation: true, MaxSlotWait: -1}))
	s.recordEnds()
	must(t, s.sim.Put(group, map[string]any{"location": "westus2"}))
	return s
}

// after runs a function of the simulator at a time of the run.
func (s *simulated) after(delay time.Duration, change func(*armsim.Simulator)) {
	s.RegisterDelayedCallback(func() { change(s.sim) }, delay)
}

// requests returns the number of requests for a resource with a method.
func (s *simulated) requests(method string, id resource.ID) int {
	n := 0
	for _, r := range s.sim.Requests() {
		if r.Method == method && resource.ID.Equal(id, parsedID(r.ID)) {
			n++
		}
	}
	return n
}

func parsedID(text string) resource.ID {
	id, _ := resource.ParseID(text)
	return id
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// specOf returns the spec of a resource in the group of the tests.
func specOf(typeAndName, apiVersion, body string) resource.Desired {
	spec := desired()
	spec.ID = mustID(group + "/providers/" + typeAndName)
	spec.Name, spec.APIVersion, spec.Body = spec.ID.Name(), apiVersion, json.RawMessage(body)
	return spec
}

// alone is a Temporal without other workflows.
type alone struct{}

func (alone) Dependents(context.Context, resource.ID) (activities.Dependents, error) {
	return activities.Dependents{}, nil
}

func (alone) Managed(context.Context, resource.ID) (activities.Managed, bool, error) {
	return activities.Managed{}, false, nil
}
func (alone) Delete(context.Context, resource.ID, activities.Cascade) error { return nil }
func (alone) Release(context.Context, resource.ID, string, string) error    { return nil }

func (alone) Apply(context.Context, resource.Desired, string) error { return nil }

func (alone) Abort(context.Context, activities.Cascade) (activities.Aborted, error) {
	return activities.Aborted{}, nil
}
func (alone) Wake(context.Context, activities.Change) (int, error) { return 0, nil }
func (alone) WakeDeleting(context.Context, activities.Change, []resource.ID) (int, error) {
	return 0, nil
}

func (alone) WakeFallen(context.Context, activities.Change, []resource.ID) (int, error) {
	return 0, nil
}

func (alone) Awaited(context.Context, resource.ID) (bool, error) { return true, nil }

func (alone) Take(context.Context, activities.Turn) (activities.Position, error) {
	return activities.Position{Granted: true}, nil
}
func (alone) KnownFreeze(map[string]string) (writing.Freeze, bool) { return writing.Freeze{}, false }

func (alone) Frozen(context.Context, map[string]string) (writing.Freeze, bool, error) {
	return writing.Freeze{}, false, nil
}

func (alone) Spend(context.Context, writing.Expense) (writing.Grant, error) {
	return writing.Grant{Granted: true}, nil
}
func (alone) Spent(context.Context, string) (int, error) { return 0, nil }
func (alone) ReadMemory(context.Context, resource.ID) (activities.WorkflowMemory, bool, error) {
	return activities.WorkflowMemory{}, false, nil
}
