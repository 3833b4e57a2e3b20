package workflows

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.temporal.io/sdk/workflow"

	"github.com/armature-io/armature/internal/tracing"
	"github.com/armature-io/armature/resource"
)

// TestPutSummary checks the decision that the timeline of the Web UI shows beside a PUT.
func TestPutSummary(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		reason  string
		verdict resource.Verdict
		want    string
	}{
		"creation":   {"nothing was there to compare", resource.Verdict{Create: true, Differences: []resource.Difference{{Path: "tags"}}}, "PUT c1 2023-08-15: create"},
		"change":     {"each difference", resource.Verdict{Differences: []resource.Difference{{Path: "a", Observed: "1", Desired: "2"}, {Path: "b", Observed: "3", Desired: "4"}}}, "PUT c1 2023-08-15: a 1 -> 2, b 3 -> 4"},
		"uncompared": {"no difference is known", resource.Verdict{}, "PUT c1 2023-08-15"},
	} {
		p := &pass{passSpec: passSpec{desired: resource.Desired{ID: clusterID(t), APIVersion: "2023-08-15"}}}
		p.pre.Verdict = c.verdict
		if got := putSummary(p); got != c.want {
			t.Errorf("%s: %s: %q, want %q", name, c.reason, got, c.want)
		}
	}
}

func clusterID(t *testing.T) resource.ID {
	t.Helper()
	id, err := resource.ParseID("/subscriptions/11111111-2222-3333-4444-555555555555/resourceGroups/rg1/providers/Microsoft.Kusto/clusters/c1")
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// TestWasReset checks which runs may repeat a PUT that another run has sent.
func TestWasReset(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		reason   string
		original string
		want     bool
	}{
		"first run":       {"it began itself", "run-1", false},
		"reset":           {"it began in the middle of another one", "run-0", true},
		"test of the SDK": {"its runs have no original", "", false},
	} {
		info := &workflow.Info{OriginalRunID: c.original, WorkflowExecution: workflow.Execution{RunID: "run-1"}}
		if got := wasReset(info); got != c.want {
			t.Errorf("%s: %s: %t", name, c.reason, got)
		}
	}
}

// TestTimerReason checks what the summary of the timer says after a pass.
func TestTimerReason(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		reason   string
		attempts int
		wait     time.Duration
		waiting  []resource.ID
		want     string
	}{
		"first":          {"how soon it is tried again", 0, time.Minute, nil, "blocked: next try in 1m"},
		"later":          {"how often it was tried", 2, time.Minute, nil, "blocked; try 3"},
		"no retry":       {"a message has to come", 1, 0, nil, "blocked; waiting for apply, reconcile or resume"},
		"another's turn": {"or a change of the resource that blocks", 0, 0, []resource.ID{clusterID(t)}, "blocked; waiting for apply, reconcile or resume, or for a change of c1"},
	} {
		retry := Retry{Attempts: c.attempts}
		if retry.schedule(time.Time{}, c.wait, "blocked", c.waiting); retry.Reason != c.want {
			t.Errorf("%s: %s: %q, want %q", name, c.reason, retry.Reason, c.want)
		}
	}
}

// TestNoteRequest checks which request the next pass belongs to, and which traces it links.
func TestNoteRequest(t *testing.T) {
	t.Parallel()
	first, second := tracing.Parent{Traceparent: "1"}, tracing.Parent{Traceparent: "2"}
	for name, c := range map[string]struct {
		reason  string
		before  *Trace
		message string
		from    tracing.Parent
		want    *Trace
	}{
		"no trace":       {"the sender has none", nil, ApplyUpdate, tracing.Parent{}, nil},
		"first":          {"the passes belong to it", nil, ApplyUpdate, first, &Trace{Request: first}},
		"repeated":       {"it is the same trace", &Trace{Request: first, Passes: 3}, ApplyUpdate, first, &Trace{Request: first, Passes: 3}},
		"another":        {"the first one still waits", &Trace{Request: first, Passes: 3}, ApplyUpdate, second, &Trace{Request: second, Links: []tracing.Parent{first}}},
		"another, later": {"the first one was served", &Trace{Request: first, Passes: 3, Served: true}, ApplyUpdate, second, &Trace{Request: second}},
		"wake":           {"a change of another resource", &Trace{Request: first, Passes: 3}, WakeSignal, second, &Trace{Request: first, Passes: 3, Links: []tracing.Parent{second}}},
	} {
		s := &State{Trace: c.before}
		s.noteRequest(c.message, c.from)
		if diff := cmp.Diff(c.want, s.Trace); diff != "" {
			t.Errorf("%s: %s (-want +got):\n%s", name, c.reason, diff)
		}
	}
}
