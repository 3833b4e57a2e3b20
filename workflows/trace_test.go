package workflows_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/internal/tracing"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/contrib/opentelemetry"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
)

// traced is a run with traces: the test environment sends no headers with updates, so
// messages comes with the trace context of sender.
type traced struct {
	*run
	workflow.ContextPropagator
	spans  *tracetest.SpanRecorder
	tracer *tracing.Tracer
	sender tracing.Parent
}

// RecordPass makes the span of a pass.
func (r *traced) RecordPass(pass tracing.Pass) { r.tracer.Pass(pass) }

// header is the header of a message.
type header map[string]*commonpb.Payload

func (h header) Get(key string) (*commonpb.Payload, bool) {
	payload, sent := h[key]
	return payload, sent
}

func (h header) ForEachKey(func(string, *commonpb.Payload) error) error { return nil }

func (r *traced) ExtractToWorkflow(ctx workflow.Context, _ workflow.HeaderReader) (workflow.Context, error) {
	payload, err := converter.GetDefaultDataConverter().ToPayload(r.sender)
	if err != nil {
		return nil, err
	}
	return r.ContextPropagator.ExtractToWorkflow(ctx, header{"_tracer-data": payload})
}

// newTraced returns a run whose spans are recorded. Outer interceptors come before
// Armature's.
func newTraced(t *testing.T, sampler sdktrace.Sampler, outer func(trace.TracerProvider) interceptor.WorkerInterceptor) *traced {
	t.Helper()
	r := &traced{run: newRun(t), spans: tracetest.NewSpanRecorder()}
	provider := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(r.spans), sdktrace.WithIDGenerator(tracing.IDs{}), sdktrace.WithSampler(sampler))
	r.tracer = tracing.New(provider)
	r.ContextPropagator = tracing.NewPropagator(r.tracer, r)
	r.SetContextPropagators([]workflow.ContextPropagator{r})
	interceptors := []interceptor.WorkerInterceptor{tracing.NewActivityInterceptor(r.tracer, activities.TraceFacts)}
	if outer != nil {
		interceptors = slices.Insert(interceptors, 0, outer(provider))
	}
	r.SetWorkerOptions(worker.Options{Interceptors: interceptors})
	return r
}

// request returns the trace context of a command; the number tells requests apart.
func request(number int, sampled bool) tracing.Parent {
	return tracing.Parent{Traceparent: fmt.Sprintf("00-%032x-%016x-%02x", number, number, map[bool]int{true: 1}[sampled])}
}

// passes returns the spans of passes in order.
func (r *traced) passes() []sdktrace.ReadOnlySpan { return r.named("pass") }

func (r *traced) named(names ...string) []sdktrace.ReadOnlySpan {
	return slices.DeleteFunc(r.spans.Ended(), func(s sdktrace.ReadOnlySpan) bool { return !slices.Contains(names, s.Name()) })
}

// TestTraceOfRequest checks that the passes until a resource is Ready belong to the trace of
// the command that requested them, each with its activities as children, and that the passes
// after it are traces of their own with a link to it.
func TestTraceOfRequest(t *testing.T) {
	r := newTraced(t, sdktrace.ParentBased(sdktrace.AlwaysSample()), nil)
	r.sender, r.input = request(7, true), existing()
	r.script.owner = func(activities.CheckOwnerInput) activities.CheckOwnerResult {
		if r.count("CheckOwner") == 1 {
			return activities.CheckOwnerResult{Verdict: resource.Block(resource.ReasonWaitingForOwner, "busy")}
		}
		return activities.CheckOwnerResult{Verdict: resource.Proceed("")}
	}
	r.apply(desired())
	r.start(3 * time.Hour)
	passes := r.passes()
	if len(passes) < 3 {
		t.Fatalf("%d passes, want a blocked one, a good one and a resync", len(passes))
	}
	sender := r.sender.SpanContext()
	for i, pass := range passes {
		of := i < 2
		if got := pass.SpanContext().TraceID() == sender.TraceID(); got != of {
			t.Errorf("pass %d is in the trace of the request: %v, want %v", i+1, got, of)
		}
		if got := pass.Parent().SpanID() == sender.SpanID(); got != of {
			t.Errorf("pass %d is a child of the request: %v, want %v", i+1, got, of)
		}
		linked := slices.ContainsFunc(pass.Links(), func(l sdktrace.Link) bool { return l.SpanContext.TraceID() == sender.TraceID() })
		if linked == of {
			t.Errorf("pass %d has a link to the request: %v, want %v", i+1, linked, !of)
		}
		children := 0
		for _, step := range r.named("CheckOwner", "GetResource", "PreCheck", "PostCheck") {
			if step.Parent().SpanID() == pass.SpanContext().SpanID() && step.SpanContext().TraceID() == pass.SpanContext().TraceID() {
				children++
			}
		}
		if want := map[bool]int{true: 1, false: 4}[i == 0]; children != want {
			t.Errorf("pass %d has %d steps, want %d", i+1, children, want)
		}
	}
	// The test environment encodes the results of local activities, as of looks, before
	// interceptors see them.
	if read := attributes(r.named("GetResource")[0]); read["armature.action"] != "Proceed" || read["armature.resource.id"] != desired().ID.String() {
		t.Errorf("the step states %v, want its resource and action", read)
	}
	if first := attributes(passes[0]); first["armature.cause"] != "apply" || first["armature.reason"] != string(resource.ReasonWaitingForOwner) {
		t.Errorf("the first pass states %v, want cause apply and why it is blocked", first)
	}
	if last := attributes(passes[2]); last["armature.cause"] != "timer" || last["armature.ready"] != "true" {
		t.Errorf("the resync states %v, want cause timer and ready", last)
	}
}

func attributes(span sdktrace.ReadOnlySpan) map[string]string {
	found := map[string]string{}
	for _, a := range span.Attributes() {
		found[string(a.Key)] = a.Value.String()
	}
	return found
}

// TestTraceIsBounded checks that a resource that waits for days does not make a trace of
// thousands of spans.
func TestTraceIsBounded(t *testing.T) {
	r := newTraced(t, sdktrace.AlwaysSample(), nil)
	r.sender = request(7, true)
	r.script.owner = func(activities.CheckOwnerInput) activities.CheckOwnerResult {
		return activities.CheckOwnerResult{Verdict: resource.Block(resource.ReasonWaitingForOwner, "busy")}
	}
	r.apply(desired())
	r.start(6 * time.Hour)
	passes := r.passes()
	of := 0
	for _, pass := range passes {
		if pass.SpanContext().TraceID() == r.sender.SpanContext().TraceID() {
			of++
		}
	}
	if len(passes) <= 20 || of != 20 {
		t.Errorf("%d of %d passes are in the trace of the request, want 20 of more", of, len(passes))
	}
}

// TestTraceSampling checks that passes follow the decision of their request, and that the
// sampler of the worker decides once for a pass that nothing requested.
func TestTraceSampling(t *testing.T) {
	for name, c := range map[string]struct {
		reason  string
		sampler sdktrace.Sampler
		sender  tracing.Parent
		want    int
	}{
		"sampled request":     {"sampling follows the parent", sdktrace.ParentBased(sdktrace.NeverSample()), request(7, true), 4},
		"dropped request":     {"sampling follows the parent", sdktrace.ParentBased(sdktrace.AlwaysSample()), request(7, false), 0},
		"no request, sampled": {"its own trace", sdktrace.ParentBased(sdktrace.AlwaysSample()), tracing.Parent{}, 4},
		"no request, dropped": {"the steps follow the pass", sdktrace.ParentBased(sdktrace.NeverSample()), tracing.Parent{}, 0},
		"broken request":      {"a bad header must not stop an apply", sdktrace.ParentBased(sdktrace.AlwaysSample()), tracing.Parent{Traceparent: "x"}, 4},
	} {
		t.Run(name, func(t *testing.T) {
			r := newTraced(t, c.sampler, nil)
			r.sender = c.sender
			r.apply(desired())
			r.start(time.Minute)
			passes, steps := r.passes(), r.named("CheckOwner", "GetResource", "PreCheck", "PostCheck")
			if len(steps) != c.want || len(passes) != min(c.want, 1) {
				t.Fatalf("%d passes with %d steps, want %d with %d: %s", len(passes), len(steps), min(c.want, 1), c.want, c.reason)
			}
			for _, step := range steps {
				if step.Parent().SpanID() != passes[0].SpanContext().SpanID() {
					t.Errorf("%s is a child of %s, want the pass: %s", step.Name(), step.Parent().SpanID(), c.reason)
				}
			}
		})
	}
}

// TestTraceLinksTheWaker checks that a pass that a wake requested links the trace of the
// resource that changed, and that the change is stored without it.
func TestTraceLinksTheWaker(t *testing.T) {
	r := newTraced(t, sdktrace.AlwaysSample(), nil)
	waker := request(9, true)
	var changes []activities.Change
	r.script.owner = func(in activities.CheckOwnerInput) activities.CheckOwnerResult {
		if r.count("CheckOwner") == 1 {
			return activities.CheckOwnerResult{Verdict: resource.Block(resource.ReasonWaitingForOwner, "busy")}
		}
		changes = in.Changes
		return activities.CheckOwnerResult{Verdict: resource.Proceed("")}
	}
	r.RegisterDelayedCallback(func() {
		r.SignalWorkflow(workflows.WakeSignal, workflows.WakeInput{ID: mustID(group), State: "Ready", At: startTime, Trace: waker.Traceparent})
	}, time.Second)
	r.apply(desired())
	r.start(time.Minute)
	woken := r.passes()[1]
	if got := attributes(woken)["armature.cause"]; got != workflows.WakeSignal {
		t.Errorf("the cause is %q, want the wake", got)
	}
	if links := woken.Links(); len(links) != 1 || links[0].SpanContext.TraceID() != waker.SpanContext().TraceID() {
		t.Errorf("the pass has the links %v, want one to the trace of the waker", links)
	}
	if len(changes) != 1 || changes[0].Trace != "" {
		t.Errorf("the changes are %+v, want one without a trace", changes)
	}
}

// TestTraceWithTheStandardInterceptor checks that a worker with the SDK's tracing interceptor
// has one span for each activity, which states what Armature's would.
func TestTraceWithTheStandardInterceptor(t *testing.T) {
	r := newTraced(t, sdktrace.AlwaysSample(), func(provider trace.TracerProvider) interceptor.WorkerInterceptor {
		standard, err := opentelemetry.NewTracingInterceptor(opentelemetry.TracerOptions{Tracer: provider.Tracer("embedder")})
		if err != nil {
			t.Fatal(err)
		}
		return standard
	})
	r.sender = request(7, true)
	r.apply(desired())
	r.start(time.Minute)
	var activitySpans []sdktrace.ReadOnlySpan
	for _, span := range r.spans.Ended() {
		if strings.HasSuffix(span.Name(), "CheckOwner") && !strings.HasPrefix(span.Name(), "StartActivity") {
			activitySpans = append(activitySpans, span)
		}
	}
	if len(activitySpans) != 1 || activitySpans[0].Name() != "RunActivity:CheckOwner" {
		t.Fatalf("the spans of one activity are %v, want one of the SDK", activitySpans)
	}
	stated := activitySpans[0]
	if attributes(stated)["armature.resource.id"] != desired().ID.String() {
		t.Errorf("the span states %v, want the resource", attributes(stated))
	}
	pass := r.passes()[0].SpanContext()
	if !slices.ContainsFunc(stated.Links(), func(l sdktrace.Link) bool { return l.SpanContext.SpanID() == pass.SpanID() }) {
		t.Errorf("the span has the links %v, want one to its pass %v", stated.Links(), pass)
	}
}

// TestTraceInState checks that a run that continues as new keeps the trace of a request that
// has not been served, and that a state of a worker without traces has no trace.
func TestTraceInState(t *testing.T) {
	encoded, err := json.Marshal(workflows.State{})
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(encoded), "trace") {
		t.Errorf("a state without a trace is %s, want no field for it", encoded)
	}
	r := newTraced(t, sdktrace.AlwaysSample(), nil)
	spec := desired()
	sender := request(7, true)
	r.input.State = &workflows.State{Spec: workflows.Spec{Desired: &spec, Generation: 1}, Requests: workflows.Requests{Pass: true}, Trace: &workflows.Trace{Request: sender, Passes: 3}}
	r.start(time.Minute)
	passes := r.passes()
	if len(passes) == 0 || passes[0].SpanContext().TraceID() != sender.SpanContext().TraceID() {
		t.Fatalf("the pass after continue-as-new is %v, want it in the trace of the request", passes)
	}
	if got := attributes(passes[0])["armature.cause"]; got != "message" {
		t.Errorf("the cause is %q, want message", got)
	}
}
