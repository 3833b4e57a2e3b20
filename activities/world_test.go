package activities

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"

	"github.com/armature-io/armature/activities/writing"
	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/extensions/azure"
	"github.com/armature-io/armature/internal/extensionhost"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/secrets"
)

const (
	groupText    = "/subscriptions/11111111-1111-1111-1111-111111111111/resourceGroups/rg1"
	clusterText  = groupText + "/providers/Microsoft.Kusto/clusters/c1"
	databaseText = clusterText + "/databases/db1"
	thingText    = groupText + "/providers/Contoso.Things/things/t1"
	planted      = "pl4nted-s3cret-value"
)

// world is the real ARM client against the simulator, on one fake clock. Each
// call of run is one attempt of one activity; what an attempt recorded is what
// the next one starts with.
type world struct {
	t        *testing.T
	sim      *armsim.Simulator
	server   *httptest.Server
	acts     *Activities
	stop     chan struct{}
	fleet    fakeFleet
	verdicts []resource.Verdict
	log      bytes.Buffer

	mu      sync.Mutex
	time    time.Time
	attempt int32
	details []byte
	before  []byte
	beats   int
}

// setup changes a world before it is built.
type setup struct {
	sim     armsim.Options
	options Options
	entries []extensions.Entry
	handler func(http.Handler) http.Handler
	// others are further simulators by the names of their credentials.
	others map[string]http.Handler
	// client changes the options of the ARM client.
	client func(*arm.Options)
}

// kindIf returns one of two kinds of PUTs.
func kindIf(condition bool, yes, no PutKind) PutKind {
	if condition {
		return yes
	}
	return no
}

// builtIn is the registry of the built-in extensions. It is slow to make, and tests share it.
var builtIn = sync.OnceValues(func() (*extensionhost.Registry, error) { return extensionhost.New(azure.BuiltIn()...) })

func newWorld(t *testing.T, change ...func(*setup)) *world {
	t.Helper()
	s := setup{
		options: Options{RereadWindow: 20 * time.Second, AbsentWindow: time.Minute, HashKey: []byte("hash key"), MaxSlotWait: -1},
		entries: azure.BuiltIn(), handler: func(h http.Handler) http.Handler { return h },
	}
	w := &world{t: t, stop: make(chan struct{}), time: time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)}
	s.sim.Clock, s.options.Now = w.now, w.now
	s.options.StartTime = func(context.Context) time.Time { return w.now() }
	for _, c := range change {
		c(&s)
	}
	s.options.Observe = func(_ string, v resource.Verdict) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.verdicts = append(w.verdicts, v)
	}
	w.sim = armsim.New(s.sim)
	server := httptest.NewServer(s.handler(w.sim))
	w.server = server
	t.Cleanup(server.Close)
	t.Cleanup(func() { w.sim.RemoveFault("") })
	cloud, err := arm.CloudConfiguration(arm.CloudOptions{Name: "custom", Endpoint: server.URL, Audience: server.URL, AuthorityHost: "https://login.invalid"})
	must(t, err)
	connections := map[string]arm.Connection{}
	for name, handler := range s.others {
		other := httptest.NewServer(handler)
		t.Cleanup(other.Close)
		at, err := arm.CloudConfiguration(arm.CloudOptions{Name: "custom", Endpoint: other.URL, AuthorityHost: "https://login.invalid"})
		must(t, err)
		connections[name] = arm.Connection{Options: arm.Options{Cloud: at}}
	}
	connect := arm.Options{Cloud: cloud, Clock: w.now, Connections: connections, MayWrite: writing.MayWrite, Journal: writing.Journal}
	if s.client != nil {
		s.client(&connect)
	}
	client, err := arm.NewClient(connect)
	must(t, err)
	registry, err := builtIn()
	if len(s.entries) != len(azure.BuiltIn()) {
		registry, err = extensionhost.New(s.entries...)
	}
	must(t, err)
	w.acts = New(Dependencies{
		Client: client, Registry: registry, Fleet: w, Waker: w, Turns: w, Freezer: w, Budgets: w, Memory: w, Attempts: w,
		Secrets: secrets.New(secrets.Options{EnvPrefix: "ARMATURE_SECRET_", Vault: client}),
		Masker:  secrets.NewMasker([]byte("0123456789abcdef")),
		Log:     slog.New(slog.NewTextHandler(&lockedWriter{w: w}, &slog.HandlerOptions{Level: slog.LevelDebug})),
	}, s.options)
	t.Cleanup(w.checkBodies)
	return w
}

type lockedWriter struct{ w *world }

func (l *lockedWriter) Write(p []byte) (int, error) {
	l.w.mu.Lock()
	defer l.w.mu.Unlock()
	return l.w.log.Write(p)
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

// fresh begins another activity.
func (w *world) fresh() { w.attempt, w.details, w.before = 0, nil, nil }

// killed drops the heartbeats of the last attempt, as when its worker dies.
func (w *world) killed() { w.details = w.before }

// run is one attempt.
func run[In, Out any](w *world, fn func(context.Context, In) (Out, error), in In) (Out, error) {
	w.t.Helper()
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(quiet{})
	env := suite.NewTestActivityEnvironment()
	env.SetWorkerStopChannel(w.stop)
	env.SetWorkerOptions(worker.Options{Interceptors: []interceptor.WorkerInterceptor{&attempts{world: w}}})
	env.RegisterActivity(fn)
	w.attempt++
	w.before = w.details
	var out Out
	encoded, err := env.ExecuteActivity(fn, in)
	if err == nil {
		must(w.t, encoded.Get(&out))
		w.fresh()
	}
	return out, err
}

// local runs a local activity.
func local[In, Out any](w *world, fn func(context.Context, In) (Out, error), in In) Out {
	w.t.Helper()
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(quiet{})
	env := suite.NewTestActivityEnvironment()
	// The timeout of workflows/options.go is 5 s. The race detector needs longer to read the published
	// types on a busy machine; what the steps bound themselves is in their own contexts.
	env.SetTestTimeout(time.Minute)
	encoded, err := env.ExecuteLocalActivity(fn, in)
	must(w.t, err)
	var out Out
	must(w.t, encoded.Get(&out))
	return out
}

// finish repeats an activity as Temporal does until it has a result, and returns
// the errors before it.
func finish[In, Out any](w *world, fn func(context.Context, In) (Out, error), in In) (Out, []*temporal.ApplicationError) {
	w.t.Helper()
	return finishWithin(w, 0, fn, in)
}

// finishWithin is finish with a time limit for each attempt.
func finishWithin[In, Out any](
	w *world, limit time.Duration, fn func(context.Context, In) (Out, error), in In,
) (Out, []*temporal.ApplicationError) {
	w.t.Helper()
	var failures []*temporal.ApplicationError
	var out Out
	for range 200 {
		var err error
		out, err = run(w, limited(limit, fn), in)
		if err == nil {
			return out, failures
		}
		failure := applicationError(w.t, err)
		failures = append(failures, failure)
		w.advance(failure.NextRetryDelay())
	}
	w.t.Fatalf("the activity did not end in 200 attempts, the last: %v", failures[len(failures)-1])
	return out, failures
}

// limited shortens the deadline of an activity.
func limited[In, Out any](limit time.Duration, fn func(context.Context, In) (Out, error)) func(context.Context, In) (Out, error) {
	if limit == 0 {
		return fn
	}
	return func(ctx context.Context, in In) (Out, error) {
		ctx, cancel := context.WithTimeout(ctx, limit)
		defer cancel()
		return fn(ctx, in)
	}
}

// applicationError is an error of an activity, which must carry its own delay.
func applicationError(t *testing.T, err error) *temporal.ApplicationError {
	t.Helper()
	var failure *temporal.ApplicationError
	if !errors.As(err, &failure) {
		t.Fatalf("error %v is no application error", err)
	}
	if failure.NextRetryDelay() < time.Second {
		t.Errorf("error %q has delay %s, want at least 1s: without one Temporal backs off by the number of attempts",
			failure, failure.NextRetryDelay())
	}
	return failure
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

func id(t *testing.T, text string) resource.ID {
	t.Helper()
	parsed, err := resource.ParseID(text)
	must(t, err)
	return parsed
}

// desired is a manifest as package manifest makes it.
func desired(t *testing.T, text, body string) resource.Desired {
	t.Helper()
	parsed := id(t, text)
	d := resource.Desired{
		ID: parsed, APIVersion: "2023-08-15", Name: parsed.Name(), Body: json.RawMessage(body),
		Owner: parsed.Owner(), OwnerAPIVersion: "2023-08-15", Policy: resource.PolicyManage,
		Interval: time.Hour, Timeout: 6 * time.Hour,
	}
	if version := resource.ContainerAPIVersion(d.Owner); version != "" {
		d.OwnerAPIVersion = version
	}
	return d
}

// put stores a resource as another tool would.
func (w *world) put(text, body string) {
	w.t.Helper()
	var object map[string]any
	must(w.t, json.Unmarshal([]byte(body), &object))
	must(w.t, w.sim.Put(text, object))
}

// requests returns "METHOD name" of all requests since the last reset, polls of
// operation URLs as "POLL".
func (w *world) requests() []string {
	all := []string{}
	for _, r := range w.sim.Requests() {
		if r.ID == "" || strings.Contains(strings.ToLower(r.Kind), "operation") {
			all = append(all, "POLL")
			continue
		}
		all = append(all, r.Method+" "+r.ID[strings.LastIndex(r.ID, "/")+1:])
	}
	return all
}

func (w *world) puts(text string) int { return w.sim.Counters().Writes[strings.ToLower(text)] }

// leaks fails the test when a text is in a value, the log or the heartbeats.
func (w *world) leaks(secret string, values ...any) {
	w.t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, value := range values {
		if strings.Contains(fmt.Sprintf("%+v", value), secret) || strings.Contains(jsonOf(value), secret) {
			w.t.Errorf("the secret is in %T: %+v", value, value)
		}
	}
	if strings.Contains(w.log.String(), secret) {
		w.t.Errorf("the secret is in the log: %s", w.log.String())
	}
	if bytes.Contains(w.details, []byte(secret)) {
		w.t.Errorf("the secret is in the heartbeat: %s", w.details)
	}
}

func jsonOf(value any) string {
	raw, _ := json.Marshal(value)
	return string(raw)
}

// want compares action, reason, class and parts of the message of a verdict.
func want(t *testing.T, got resource.Verdict, action resource.Action, reason resource.Reason, class resource.RetryClass, parts ...string) {
	t.Helper()
	if got.Action != action || got.Reason != reason || got.Class != class {
		t.Errorf("verdict is %s %s %s (%s), want %s %s %s", got.Action, got.Reason, got.Class, got.Message, action, reason, class)
	}
	for _, part := range parts {
		if !strings.Contains(got.Message, part) {
			t.Errorf("message %q does not contain %q", got.Message, part)
		}
	}
}
