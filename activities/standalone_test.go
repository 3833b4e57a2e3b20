package activities

import (
	"context"
	"errors"
	"net/http"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/armature-io/armature/payload"
)

// alone makes activities look as if no workflow ran them.
type alone struct {
	interceptor.WorkerInterceptorBase
}

func (*alone) InterceptActivity(_ context.Context, next interceptor.ActivityInboundInterceptor) interceptor.ActivityInboundInterceptor {
	return &aloneInbound{interceptor.ActivityInboundInterceptorBase{Next: next}}
}

type aloneInbound struct {
	interceptor.ActivityInboundInterceptorBase
}

func (i *aloneInbound) Init(next interceptor.ActivityOutboundInterceptor) error {
	return i.Next.Init(&aloneOutbound{interceptor.ActivityOutboundInterceptorBase{Next: next}})
}

type aloneOutbound struct {
	interceptor.ActivityOutboundInterceptorBase
}

func (o *aloneOutbound) GetInfo(ctx context.Context) activity.Info {
	info := o.Next.GetInfo(ctx)
	info.WorkflowExecution, info.ActivityRunID = workflow.Execution{}, "alone-1"
	return info
}

// aloneEnvironment runs activities as a worker does, without a workflow.
func (w *world) aloneEnvironment() *testsuite.TestActivityEnvironment {
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(quiet{})
	env := suite.NewTestActivityEnvironment()
	env.SetWorkerOptions(worker.Options{Interceptors: []interceptor.WorkerInterceptor{&alone{}, NewInterceptor(w.acts, payload.DataConverter())}})
	return env
}

// TestGuardStandalone checks of every activity whether a worker runs it without a workflow:
// only dry runs, each for a bounded time.
//
//guard:activities-need-their-workflow
func TestGuardStandalone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	methods := reflect.TypeOf(w.acts)
	dryRuns := map[string]bool{"PlanResource": true, "ImportResource": true, "MoveResource": true, "Diagnose": true}
	for i := range methods.NumMethod() {
		name := methods.Method(i).Name
		env, ran, bound := w.aloneEnvironment(), false, time.Duration(0)
		step := func(ctx context.Context) error {
			deadline, _ := ctx.Deadline()
			ran, bound = true, time.Until(deadline)
			return nil
		}
		env.RegisterActivityWithOptions(step, activity.RegisterOptions{Name: name})
		_, err := env.ExecuteActivity(step)
		if dryRuns[name] {
			if err != nil || !ran || bound > maxStandaloneTime {
				t.Errorf("%s: ran %v for %s at most, %v", name, ran, bound, err)
			}
			continue
		}
		failure, ok := errors.AsType[*temporal.ApplicationError](err)
		if !ok || failure.Type() != ErrorNeedsWorkflow || !failure.NonRetryable() || ran {
			t.Errorf("%s without a workflow: ran %v, %v", name, ran, err)
		}
	}
}

// TestGuardStandaloneWrite sends PutResource and DeleteResource without a workflow: nothing
// reaches Azure.
//
//guard:activities-need-their-workflow
func TestGuardStandaloneWrite(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put(groupText, `{"location":"westus2"}`)
	w.put(thingText, `{"location":"westus2"}`)
	w.sim.ResetCounters()
	spec := desired(t, thingText, `{"location":"westus2","properties":{"size":2}}`)
	env := w.aloneEnvironment()
	env.RegisterActivity(w.acts)
	for name, call := range map[string]func() error{
		"PUT": func() error {
			_, err := env.ExecuteActivity(w.acts.PutResource, PutResourceInput{Desired: spec, ObservedAt: w.now()})
			return err
		},
		"DELETE": func() error {
			_, err := env.ExecuteActivity(w.acts.DeleteResource, DeleteResourceInput{Desired: spec})
			return err
		},
	} {
		if err := call(); err == nil || !strings.Contains(err.Error(), "needs its workflow") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if sent := w.requests(); len(sent) > 0 {
		t.Errorf("requests to Azure: %v", sent)
	}
}

// TestStandalonePlanIsTraced checks that ARM logs the requests of a plan without a workflow
// with the ID of its run.
func TestStandalonePlanIsTraced(t *testing.T) {
	t.Parallel()
	var (
		mu  sync.Mutex
		ids = map[string]bool{}
	)
	w := newWorld(t, func(s *setup) {
		s.handler = func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(out http.ResponseWriter, request *http.Request) {
				mu.Lock()
				ids[request.Header.Get("x-ms-correlation-request-id")] = true
				mu.Unlock()
				next.ServeHTTP(out, request)
			})
		}
	})
	w.put(groupText, `{"location":"westus2"}`)
	w.put(thingText, `{"location":"westus2"}`)
	env := w.aloneEnvironment()
	env.RegisterActivity(w.acts)
	encoded, err := env.ExecuteActivity(w.acts.PlanResource, PlanResourceInput{Desired: desired(t, thingText, `{"location":"westus2"}`)})
	must(t, err)
	var result PlanResourceResult
	must(t, encoded.Get(&result))
	mu.Lock()
	defer mu.Unlock()
	if result.Action != PlanNone || len(ids) != 1 || !ids["alone-1"] {
		t.Errorf("the plan is %+v, with the correlation IDs %v", result, ids)
	}
}
