package e2e

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/operatorservice/v1"

	"github.com/armature-io/armature/dev/internal/harness"
	"github.com/armature-io/armature/dev/temporaldev"
	"github.com/armature-io/armature/workflows"
)

// TestWorkerReports checks the health, metrics, logs and exit of a worker.
func TestWorkerReports(t *testing.T) {
	t.Parallel()
	w := harness.New(t, binaries, harness.Options{})
	worker := w.StartWorker(harness.WorkerOptions{})
	s := scenarios{w}
	r := s.start(t, "reported", "1h")
	s.putGroup("refused")
	refused := thing{group: "refused", name: "refused", interval: "1h"}
	s.refusePut(refused)
	s.apply(refused, "small")
	s.UntilPhase(20*time.Second, refused.id(), workflows.PhaseFailed)

	for path, want := range map[string]string{
		"/healthz": `{"status":"ok"}`, "/readyz": `{"arm":"ok","clock":"ok","temporal":"ok","worker":"ok"}`,
	} {
		if code, body := worker.Get(path); code != http.StatusOK || strings.TrimSpace(body) != want {
			t.Errorf("%s returns %d %s, want 200 %s", path, code, body, want)
		}
	}
	code, metrics := worker.Get("/metrics")
	if code != http.StatusOK {
		t.Fatalf("/metrics returns %d %s", code, metrics)
	}
	wellFormed(t, metrics)
	for what, pattern := range map[string]string{
		"the GETs":              `(?m)^armature_arm_requests_total\{call="[^"]+",method="GET",status="200",type="microsoft\.example/things"\} [1-9]`,
		"the PUT that succeeds": `(?m)^armature_arm_requests_total\{call="[^"]+",method="PUT",status="20[01]",type="microsoft\.example/things"\} 1$`,
		"the PUT that fails":    `(?m)^armature_arm_requests_total\{call="[^"]+",method="PUT",status="400",type="microsoft\.example/things"\} 1$`,
		"how long ARM took":     `(?m)^armature_arm_request_duration_seconds_count\{call="[^"]+",method="PUT"\} 2$`,
		"the verdicts":          `(?m)^armature_verdicts_total\{action="[^"]+",origin="[^"]+",reason="InvalidRequestContent",step="PutResource"\} 1$`,
		"the SDK's metrics":     `(?m)^temporal_[a-z_]*workflow_task[a-z_]*\{.*task_queue="armature".*\} `,
		"Go's metrics":          `(?m)^go_goroutines [1-9]`,
	} {
		if !regexp.MustCompile(pattern).MatchString(metrics) {
			t.Errorf("/metrics lacks %s (%s):\n%s", what, pattern, grep(metrics, "armature_"))
		}
	}
	for _, name := range []string{r.name, "11111111-2222"} {
		if strings.Contains(metrics, `"`+name) {
			t.Errorf("a label of /metrics names %s, so series grow with resources", name)
		}
	}
	w.Sim.Stop()
	w.Until(60*time.Second, "/readyz reports that ARM is unreachable", func() (bool, string) {
		code, body := worker.Get("/readyz")
		return code == http.StatusServiceUnavailable && strings.Contains(body, `"arm":"ArmUnreachable"`), body
	})
	if code, _ := worker.Get("/healthz"); code != http.StatusOK {
		t.Errorf("/healthz returns %d while ARM is unreachable, want 200", code)
	}
	if code := worker.Stop(); code != 0 {
		t.Errorf("after SIGTERM the exit code is %d, want 0", code)
	}
	logs(t, worker.Log(), "worker starts", "worker serves", "cannot reach server, retrying", "worker stopped")
}

// wellFormed checks Prometheus' text format: comments, and lines of a name,
// labels and a number.
func wellFormed(t *testing.T, metrics string) {
	t.Helper()
	sample := regexp.MustCompile(`^[a-zA-Z_:][a-zA-Z0-9_:]*(\{[a-zA-Z_][a-zA-Z0-9_]*="[^"]*"(,[a-zA-Z_][a-zA-Z0-9_]*="[^"]*")*\})? (NaN|[+-]?Inf|[-+0-9.e]+)$`)
	for _, line := range strings.Split(strings.TrimSuffix(metrics, "\n"), "\n") {
		if !strings.HasPrefix(line, "# HELP ") && !strings.HasPrefix(line, "# TYPE ") && !sample.MatchString(line) {
			t.Errorf("/metrics has a line that is not a sample: %q", line)
		}
	}
}

// grep returns the lines that contain a text.
func grep(text, part string) string {
	var lines []string
	for _, line := range strings.Split(text, "\n") {
		if strings.Contains(line, part) {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}

// logs checks that each line is a JSON object with time, level and message, and
// that each of the messages occurs once.
func logs(t *testing.T, log string, messages ...string) {
	t.Helper()
	seen := map[string]int{}
	for _, line := range strings.Split(strings.TrimSuffix(log, "\n"), "\n") {
		var entry struct {
			Time       time.Time
			Level, Msg string
		}
		if err := json.Unmarshal([]byte(line), &entry); err != nil || entry.Time.IsZero() || entry.Level == "" || entry.Msg == "" {
			t.Errorf("a log line is no entry (%v): %s", err, line)
		}
		seen[entry.Msg]++
	}
	for _, message := range messages {
		if seen[message] != 1 {
			t.Errorf("the log has %q %d times, want once:\n%s", message, seen[message], log)
		}
	}
}

// TestSearchAttributes starts a worker in a namespace without search attributes: it
// registers the missing ones, and exits with an explanation where an attribute has
// another type.
func TestSearchAttributes(t *testing.T) {
	t.Parallel()
	w := harness.New(t, binaries, harness.Options{NoSearchAttributes: true})
	operator := w.Client.OperatorService()
	wrong := &operatorservice.AddSearchAttributesRequest{
		Namespace: temporaldev.Namespace, SearchAttributes: map[string]enumspb.IndexedValueType{"ArmType": enumspb.INDEXED_VALUE_TYPE_INT},
	}
	if _, err := operator.AddSearchAttributes(t.Context(), wrong); err != nil {
		t.Fatal(err)
	}
	for name, end := range map[string]func() (int, string){
		"worker": func() (int, string) {
			worker := w.StartWorker(harness.WorkerOptions{NotReady: true})
			return worker.WaitExit(30 * time.Second), worker.Log()
		},
		"setup": func() (int, string) { result := w.CLI("setup"); return result.Code, result.Err },
	} {
		code, stderr := end()
		if code != 1 || !strings.Contains(stderr, "search attribute ArmType of namespace default has type Int and must have type Keyword") {
			t.Errorf("%s exits with %d and prints %s\nwant 1 and the remedy for ArmType", name, code, stderr)
		}
	}
	if _, err := operator.RemoveSearchAttributes(t.Context(), &operatorservice.RemoveSearchAttributesRequest{
		Namespace: temporaldev.Namespace, SearchAttributes: []string{"ArmType"},
	}); err != nil {
		t.Fatal(err)
	}

	worker := w.StartWorker(harness.WorkerOptions{})
	logs(t, worker.Log(), "search attributes registered")
	have, err := operator.ListSearchAttributes(t.Context(), &operatorservice.ListSearchAttributesRequest{Namespace: temporaldev.Namespace})
	if err != nil {
		t.Fatal(err)
	}
	for name, kind := range workflows.SearchAttributes() {
		if have.GetCustomAttributes()[name] != kind {
			t.Errorf("%s is %s after the start of the worker, want %s", name, have.GetCustomAttributes()[name], kind)
		}
	}
	s := scenarios{w}
	r := s.start(t, "attributed", "1h")
	if list := w.MustCLI("get", r.name); !strings.Contains(list.Out, "Ready") {
		t.Errorf("get does not list the resource:\n%s", list)
	}
}
