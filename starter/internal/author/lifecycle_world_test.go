package author_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/activities/writing"
	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/extensions/azure"
	"github.com/armature-io/armature/internal/extensionhost"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/secrets"
)

// world is the simulator, the real client and the real activities, on one fake clock.
type world struct {
	sim  *armsim.Simulator
	acts *activities.Activities

	mu      sync.Mutex
	time    time.Time
	attempt int32
	details []byte
}

// builtIn is the registry of the built-in extensions. It is slow to make, and tests share it.
var builtIn = sync.OnceValues(func() (*extensionhost.Registry, error) { return extensionhost.New(azure.BuiltIn()...) })

func newWorld(t *testing.T) (*world, func()) {
	t.Helper()
	w := &world{time: time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)}
	w.sim = armsim.New(armsim.Options{Clock: w.now})
	server := httptest.NewServer(w.sim)
	cloud, err := arm.CloudConfiguration(arm.CloudOptions{Name: arm.CloudCustom, Endpoint: server.URL, Audience: server.URL, AuthorityHost: "https://login.invalid"})
	must(t, err)
	client, err := arm.NewClient(arm.Options{Cloud: cloud, Clock: w.now})
	must(t, err)
	registry, err := builtIn()
	must(t, err)
	w.acts = activities.New(activities.Dependencies{
		Client: client, Registry: registry, Fleet: noFleet{}, Freezer: noFleet{}, Budgets: noFleet{}, Log: slog.New(slog.DiscardHandler),
		Secrets: secrets.New(secrets.Options{EnvPrefix: "ARMATURE_SECRET_"}), Masker: secrets.NewMasker([]byte("0123456789abcdef")),
	}, activities.Options{Now: w.now, HashKey: []byte("hash key"), Pause: func(_ context.Context, delay time.Duration) bool {
		w.advance(delay)
		return true
	}})
	return w, server.Close
}

// noFleet is a fleet without other resources, freezes and budgets.
type noFleet struct{}

func (noFleet) Dependents(context.Context, resource.ID) (activities.Dependents, error) {
	return activities.Dependents{}, nil
}

func (noFleet) Managed(context.Context, resource.ID) (activities.Managed, bool, error) {
	return activities.Managed{}, false, nil
}

func (noFleet) Delete(context.Context, resource.ID, activities.Cascade) error { return nil }

func (noFleet) Release(context.Context, resource.ID, string, string) error { return nil }

func (noFleet) Apply(context.Context, resource.Desired, string) error { return nil }

func (noFleet) Abort(context.Context, activities.Cascade) (activities.Aborted, error) {
	return activities.Aborted{}, nil
}

func (noFleet) KnownFreeze(map[string]string) (writing.Freeze, bool) { return writing.Freeze{}, false }

func (noFleet) Frozen(context.Context, map[string]string) (writing.Freeze, bool, error) {
	return writing.Freeze{}, false, nil
}

func (noFleet) Spend(context.Context, writing.Expense) (writing.Grant, error) {
	return writing.Grant{Granted: true}, nil
}

func (noFleet) Spent(context.Context, string) (int, error) { return 0, nil }

func (w *world) now() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.time
}

func (w *world) advance(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.time = w.time.Add(d)
}

// maxAttempts is more than any activity of the walk needs.
const maxAttempts = 200

// finish repeats an activity as Temporal does until it has a result.
func finish[In, Out any](w *world, fn func(context.Context, In) (Out, error), in In) (Out, error) {
	w.details, w.attempt = nil, 0
	var out Out
	for range maxAttempts {
		var suite testsuite.WorkflowTestSuite
		suite.SetLogger(quiet{})
		env := suite.NewTestActivityEnvironment()
		env.SetWorkerOptions(worker.Options{Interceptors: []interceptor.WorkerInterceptor{&beats{world: w}}})
		env.RegisterActivity(fn)
		w.attempt++
		encoded, err := env.ExecuteActivity(fn, in)
		if err == nil {
			return out, encoded.Get(&out)
		}
		var again *temporal.ApplicationError
		if !errors.As(err, &again) || again.NextRetryDelay() <= 0 {
			return out, err
		}
		w.advance(again.NextRetryDelay())
	}
	return out, fmt.Errorf("the activity did not end in %d attempts", maxAttempts)
}

// local runs a local activity.
func local[In, Out any](fn func(context.Context, In) (Out, error), in In) (Out, error) {
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(quiet{})
	var out Out
	encoded, err := suite.NewTestActivityEnvironment().ExecuteLocalActivity(fn, in)
	if err != nil {
		return out, err
	}
	return out, encoded.Get(&out)
}

type quiet struct{}

func (quiet) Debug(string, ...any) {}
func (quiet) Info(string, ...any)  {}
func (quiet) Warn(string, ...any)  {}
func (quiet) Error(string, ...any) {}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// encode returns a body as JSON.
func encode(body map[string]any) []byte {
	raw, _ := json.Marshal(body) // it was decoded from JSON
	return raw
}
