package corpus

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/extensions/azure"
	"github.com/armature-io/armature/internal/extensionhost"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/secrets"
)

// world is the real client and the real activities against the current server, on
// one fake clock.
type world struct {
	server *httptest.Server
	client *arm.Client
	acts   *activities.Activities

	mu      sync.Mutex
	time    time.Time
	play    http.Handler
	details []byte
}

// builtIn is the registry of the built-in extensions. It is slow to make, and tests share it.
var builtIn = sync.OnceValues(func() (*extensionhost.Registry, error) { return extensionhost.New(azure.BuiltIn()...) })

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{time: time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)}
	w.server = httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) { w.play.ServeHTTP(rw, r) }))
	t.Cleanup(w.server.Close)
	cloud, err := arm.CloudConfiguration(arm.CloudOptions{
		Name: arm.CloudCustom, Endpoint: w.server.URL, Audience: w.server.URL, AuthorityHost: "https://login.invalid",
	})
	must(t, err)
	w.client, err = arm.NewClient(arm.Options{Cloud: cloud, Clock: w.now})
	must(t, err)
	registry, err := builtIn()
	must(t, err)
	w.acts = activities.New(activities.Dependencies{
		Client: w.client, Registry: registry, Fleet: emptyFleet{}, Log: slog.New(slog.DiscardHandler),
		Secrets: secrets.New(secrets.Options{}), Masker: secrets.NewMasker([]byte("0123456789abcdef")),
	}, activities.Options{Now: w.now, Pause: func(_ context.Context, delay time.Duration) bool {
		w.advance(delay)
		return true
	}})
	return w
}

// emptyFleet is a fleet without resources.
type emptyFleet struct{}

func (emptyFleet) Dependents(context.Context, resource.ID) (activities.Dependents, error) {
	return activities.Dependents{}, nil
}

func (emptyFleet) Managed(context.Context, resource.ID) (activities.Managed, bool, error) {
	return activities.Managed{}, false, nil
}

func (emptyFleet) Delete(context.Context, resource.ID, activities.Cascade) error { return nil }

func (emptyFleet) Release(context.Context, resource.ID, string, string) error { return nil }

func (emptyFleet) Apply(context.Context, resource.Desired, string) error { return nil }

func (emptyFleet) Abort(context.Context, activities.Cascade) (activities.Aborted, error) {
	return activities.Aborted{}, nil
}

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

// attemptsMax is more than any recorded operation needs.
const attemptsMax = 2000

// finish repeats an activity as Temporal does until it has a result.
func finish[In, Out any](w *world, fn func(context.Context, In) (Out, error), in In) (Out, error) {
	w.details = nil
	var out Out
	for range attemptsMax {
		var suite testsuite.WorkflowTestSuite
		suite.SetLogger(quiet{})
		env := suite.NewTestActivityEnvironment()
		env.SetWorkerOptions(worker.Options{Interceptors: []interceptor.WorkerInterceptor{&beats{world: w}}})
		env.RegisterActivity(fn)
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
	return out, fmt.Errorf("the activity did not end in %d attempts", attemptsMax)
}

type quiet struct{}

func (quiet) Debug(string, ...any) {}
func (quiet) Info(string, ...any)  {}
func (quiet) Warn(string, ...any)  {}
func (quiet) Error(string, ...any) {}

// beats keeps the heartbeat of an attempt for the next one.
type beats struct {
	interceptor.WorkerInterceptorBase
	world *world
}

func (b *beats) InterceptActivity(_ context.Context, next interceptor.ActivityInboundInterceptor) interceptor.ActivityInboundInterceptor {
	in := &beatsIn{world: b.world}
	in.Next = next
	return in
}

type beatsIn struct {
	interceptor.ActivityInboundInterceptorBase
	world *world
}

func (i *beatsIn) Init(next interceptor.ActivityOutboundInterceptor) error {
	out := &beatsOut{world: i.world}
	out.Next = next
	return i.Next.Init(out)
}

type beatsOut struct {
	interceptor.ActivityOutboundInterceptorBase
	world *world
}

func (o *beatsOut) GetInfo(ctx context.Context) activity.Info { return o.Next.GetInfo(ctx) }

func (o *beatsOut) RecordHeartbeat(_ context.Context, details ...any) {
	raw, err := json.Marshal(details[0])
	o.world.mu.Lock()
	defer o.world.mu.Unlock()
	if err == nil {
		o.world.details = raw
	}
}

func (o *beatsOut) HasHeartbeatDetails(context.Context) bool { return o.world.details != nil }

func (o *beatsOut) GetHeartbeatDetails(_ context.Context, d ...any) error {
	return json.Unmarshal(o.world.details, d[0])
}
