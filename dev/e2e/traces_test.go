package e2e

import (
	"bytes"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/dev/internal/collector"
	"github.com/armature-io/armature/dev/internal/harness"
	"github.com/armature-io/armature/internal/payload"
	"github.com/armature-io/armature/internal/tracing"
	"github.com/armature-io/armature/workflows"
)

// Places of the trace of a creation in the docs.
const (
	tracePage    = "../../docs/contributing/tracing.md"
	tracePicture = "../../docs/images/trace.svg"
)

// planted is a value of the body of traced resources, which no span may have.
const planted = "planted-4711"

// TestTraceOfCreation creates a resource with an operation, with CLI and worker as processes
// that export to one collector: the worker by HTTP, the CLI by gRPC. One creation is one
// trace from the command to the PUT. UPDATE_DOCS=1 writes it into the docs.
func TestTraceOfCreation(t *testing.T) {
	t.Parallel()
	w := harness.New(t, binaries, harness.Options{})
	w.Sim.Call(http.MethodPost, "/operations", armsim.OperationRule{
		On: "put", Spec: armsim.OperationSpec{Shape: armsim.ShapeAsync, Polls: 2, RetryAfter: []float64{60}},
	}, nil)
	spans := collector.Start(t)
	k := w.StartWorker(harness.WorkerOptions{Env: spans.HTTP()})
	w.Env = append(w.Env, spans.GRPC()...)
	s := scenarios{w}
	r := thing{group: "traces", name: "creation", interval: "1h"}
	s.putGroup(r.group)
	s.apply(r, planted)
	s.UntilPhase(60*time.Second, r.id(), workflows.PhaseReady)
	put := untilSpan(w, spans, "the PUT", func(c collector.Span) bool { return c.Name == "PUT Microsoft.Example/things" })
	ready := func(c collector.Span) bool { return c.Name == "pass" && c.Attributes["armature.ready"] == "true" }
	untilSpan(w, spans, "the end of the pass", func(c collector.Span) bool { return ready(c) && c.TraceID == put.TraceID })
	untilSpan(w, spans, "what follows a creation", func(c collector.Span) bool { return c.Name == "WakeLater" && c.TraceID == put.TraceID })
	creation := spans.Trace(put.TraceID)

	checkChain(t, creation, put)
	checkCorrelation(w, r, put)
	compareDocs(t, creation)

	w.SetInterval(filepath.Join(w.Folder, r.name+".yaml"), 2*time.Second)
	resync := untilSpan(w, spans, "a resync", func(c collector.Span) bool { return ready(c) && c.Attributes["armature.cause"] == "timer" })
	if resync.TraceID == put.TraceID || resync.Parent != "" {
		t.Errorf("the resync %+v is in the trace of the creation, want its own", resync)
	}
	if !slices.ContainsFunc(resync.Links, func(l collector.Link) bool { return l.TraceID == put.TraceID }) {
		t.Errorf("the resync has the links %v, want one to the trace of the command", resync.Links)
	}
	if bytes.Contains(spans.Raw(), []byte(planted)) || bytes.Contains(spans.Raw(), []byte(harness.ClientSecret)) {
		t.Error("a span has a value of the body")
	}
	exemplars(t, k.OpenMetrics(), put.TraceID)
}

// untilSpan waits for a span.
func untilSpan(w *harness.World, spans *collector.Collector, what string, wanted func(collector.Span) bool) collector.Span {
	w.T.Helper()
	var found collector.Span
	w.Until(60*time.Second, what+" was exported", func() (bool, string) {
		all := spans.Spans()
		i := slices.IndexFunc(all, wanted)
		if i < 0 {
			return false, collector.Tree(all)
		}
		found = all[i]
		return true, ""
	})
	return found
}

// checkChain checks that the PUT is below its step, its pass, the update and the command.
func checkChain(t *testing.T, creation []collector.Span, put collector.Span) {
	t.Helper()
	byID := map[string]collector.Span{}
	for _, s := range creation {
		byID[s.SpanID] = s
	}
	var chain []string
	for s, more := put, true; more; s, more = byID[s.Parent] {
		chain = append(chain, s.Service+": "+s.Name)
	}
	want := []string{
		"armature-worker: PUT Microsoft.Example/things", "armature-worker: PutResource", "armature-worker: pass",
		"armature: update apply", "armature: armature apply",
	}
	if !slices.Equal(chain, want) {
		t.Errorf("the PUT is below %q, want %q in\n%s", chain, want, collector.Tree(creation))
	}
	step := byID[put.Parent]
	if step.Attributes["armature.action"] != "Proceed" || !strings.HasSuffix(step.Attributes["armature.resource.id"], "/creation") {
		t.Errorf("the step states %v, want its action and resource", step.Attributes)
	}
	checked := slices.IndexFunc(creation, func(s collector.Span) bool { return s.Name == "PostCheck" })
	if checked < 0 || creation[checked].Attributes["armature.action"] != "Success" {
		t.Errorf("no PostCheck with action Success in\n%s", collector.Tree(creation))
	}
}

// checkCorrelation checks that the span of the PUT has the correlation ID that the service
// logged.
func checkCorrelation(w *harness.World, r thing, put collector.Span) {
	w.T.Helper()
	logged := map[string]bool{}
	for _, request := range w.Sim.Requests("?id=" + r.id()) {
		if request.Method == http.MethodPut {
			logged[request.CorrelationID] = true
		}
	}
	if id := put.Attributes["az.correlation_id"]; !logged[id] || len(logged) != 1 {
		w.T.Errorf("the span has the correlation ID %q, the service logged %v", id, slices.Collect(maps.Keys(logged)))
	}
	if put.Attributes["http.response.status_code"] == "" || put.Attributes["az.service_request_id"] == "" || strings.Contains(put.Attributes["url.path"], "?") {
		w.T.Errorf("the span states %v, want status and request ID", put.Attributes)
	}
}

// exemplars checks that both histograms have the IDs of a trace.
func exemplars(t *testing.T, metrics, traceID string) {
	t.Helper()
	for _, name := range []string{"armature_arm_request_duration_seconds_bucket", "armature_pass_duration_seconds_bucket"} {
		if !regexp.MustCompile(name + `\{[^\n]*# \{[^\n]*trace_id="[0-9a-f]{32}"`).MatchString(metrics) {
			t.Errorf("%s has no exemplar", name)
		}
	}
	if !strings.Contains(metrics, traceID) {
		t.Errorf("no exemplar names the trace of the creation %s", traceID)
	}
}

// compareDocs compares the shape of a trace with that in the docs.
func compareDocs(t *testing.T, creation []collector.Span) {
	t.Helper()
	page, err := os.ReadFile(tracePage)
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile("(?s)(<!-- trace -->\n```text\n).*?```")
	tree := collector.Tree(creation)
	documented := block.ReplaceAllLiteral(page, []byte("<!-- trace -->\n```text\n"+tree+"```"))
	picture := collector.Picture(creation)
	if os.Getenv("UPDATE_DOCS") != "" {
		for path, content := range map[string][]byte{tracePage: documented, tracePicture: []byte(picture)} {
			if err := os.WriteFile(filepath.Clean(path), content, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		return
	}
	if !bytes.Equal(page, documented) {
		t.Errorf("docs/contributing/tracing.md shows another trace; write it with UPDATE_DOCS=1. It is now\n%s", tree)
	}
	drawn, err := os.ReadFile(tracePicture)
	if err != nil {
		t.Fatal(err)
	}
	labels := regexp.MustCompile(`class="(?:span|service)"[^>]*>([^<]*)<`)
	if got, want := labels.FindAllString(string(drawn), -1), labels.FindAllString(picture, -1); !slices.Equal(got, want) {
		t.Errorf("docs/images/trace.svg has the labels %q, want %q; draw it with UPDATE_DOCS=1", got, want)
	}
}

// TestTraceContinuesThatOfThePipeline checks that a command is a part of the trace of its
// caller, and that one that its caller does not sample exports nothing, on the worker either.
func TestTraceContinuesThatOfThePipeline(t *testing.T) {
	t.Parallel()
	w := harness.New(t, binaries, harness.Options{})
	spans := collector.Start(t)
	w.StartWorker(harness.WorkerOptions{Env: spans.HTTP()})
	w.Env = append(w.Env, spans.HTTP()...)
	s := scenarios{w}
	r := s.start(t, "pipeline", "1h")
	const dropped, sampled = "0af7651916cd43dd8448eb211c80319c", "1af7651916cd43dd8448eb211c80319c"
	for _, traceparent := range []string{"00-" + dropped + "-b7ad6b7169203331-00", "00-" + sampled + "-b7ad6b7169203331-01"} {
		if result := w.CLIWith("", []string{"TRACEPARENT=" + traceparent}, "reconcile", r.id(), "--wait"); result.Code != 0 {
			t.Fatal(result)
		}
	}
	command := untilSpan(w, spans, "the command", func(c collector.Span) bool { return c.Name == "armature reconcile" })
	if command.TraceID != sampled || command.Parent != "b7ad6b7169203331" {
		t.Errorf("the command is %+v, want it below the span of the pipeline", command)
	}
	untilSpan(w, spans, "its pass", func(c collector.Span) bool { return c.Name == "pass" && c.TraceID == sampled })
	if found := spans.Trace(dropped); len(found) > 0 {
		t.Errorf("the trace that the pipeline dropped has\n%s", collector.Tree(found))
	}
}

// TestTracesSwitchOnAndOff checks that a workflow continues on workers with traces and
// without, and that the history of each replays with the other.
func TestTracesSwitchOnAndOff(t *testing.T) {
	t.Parallel()
	w := harness.New(t, binaries, harness.Options{})
	spans := collector.Start(t)
	s := scenarios{w}
	k := w.StartWorker(harness.WorkerOptions{Env: spans.HTTP()})
	w.Env = append(w.Env, spans.HTTP()...)
	on := s.start(t, "switch", "1h")
	for _, env := range [][]string{{"OTEL_SDK_DISABLED=true"}, nil, {"OTEL_TRACES_EXPORTER=none"}, nil} {
		k.Stop()
		k = w.StartWorker(harness.WorkerOptions{Env: append(spans.HTTP(), env...)})
		s.MustCLI("reconcile", on.id(), "--wait")
	}
	w.Record(on.id(), "traced")
	if lines := w.HistoryLines(on.id()); strings.Contains(lines, "WORKFLOW_TASK_FAILED") {
		t.Errorf("a workflow task failed:\n%s", lines)
	}
	if !strings.Contains(w.History(on.id()).String(), "armature-trace") {
		t.Error("no activity has the header: the test shows nothing")
	}
	for name, propagators := range map[string][]workflow.ContextPropagator{"without traces": nil, "with traces": {tracing.NewPropagator(nil, nil)}} {
		replayer, err := worker.NewWorkflowReplayerWithOptions(worker.WorkflowReplayerOptions{DataConverter: payload.DataConverter(), ContextPropagators: propagators})
		if err != nil {
			t.Fatal(err)
		}
		workflows.Register(replayer)
		if err := replayer.ReplayWorkflowHistory(nil, w.History(on.id())); err != nil {
			t.Errorf("replay %s: %v", name, err)
		}
	}
}

// TestTracesWithoutCollector checks that a command does its work without a collector, and
// states once that the traces are lost.
func TestTracesWithoutCollector(t *testing.T) {
	t.Parallel()
	w := harness.New(t, binaries, harness.Options{})
	env := []string{"OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:1"}
	k := w.StartWorker(harness.WorkerOptions{Env: append(env, "OTEL_BSP_SCHEDULE_DELAY=200")})
	w.Env = append(w.Env, env...)
	s := scenarios{w}
	r := s.start(t, "uncollected", "1h")
	result := s.CLI("reconcile", r.id(), "--wait")
	if result.Code != 0 || strings.Count(result.Err, "traces were not exported") != 1 {
		t.Errorf("want exit code 0 and one note about traces of %s", result)
	}
	w.Until(90*time.Second, "the worker logs it", func() (bool, string) {
		return strings.Contains(k.Log(), "cannot export traces"), k.Log()
	})
}
