package service

import (
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/resource"
)

func TestOwnMetrics(t *testing.T) {
	m, err := newMetrics(slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	m.request(arm.Request{Call: arm.CallGet, Method: "GET", Type: "Microsoft.Kusto/Clusters", Status: 200, Duration: time.Second})
	m.request(arm.Request{Call: arm.CallGet, Method: "GET", Type: "Microsoft.Kusto/clusters", Status: 200, Duration: time.Second})
	m.verdict("PreCheck", resource.Block(resource.ReasonArmUnreachable, "not a label"))
	m.sdk.Counter("temporal_test").Inc(2)
	recorder := httptest.NewRecorder()
	m.handler().ServeHTTP(recorder, httptest.NewRequest("GET", "/metrics", nil))
	got := recorder.Body.String()
	for _, want := range []string{
		`armature_arm_requests_total{call="get",method="GET",status="200",type="microsoft.kusto/clusters"} 2`,
		`armature_arm_request_duration_seconds_sum{call="get",method="GET"} 2`,
		`armature_verdicts_total{action="`, `reason="ArmUnreachable",step="PreCheck"} 1`,
		"temporal_test_total 2",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in:\n%s", want, got)
		}
	}
	if strings.Contains(got, "not a label") {
		t.Error("a message became a label")
	}
}

// TestKnownMetrics: the SDK asks for the same handlers and instruments again with
// each task; they are made once and count where they belong.
func TestKnownMetrics(t *testing.T) {
	m, err := newMetrics(slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	count := func(queue string) {
		m.sdk.WithTags(map[string]string{"task_queue": queue, "worker_type": "x"}).Counter("temporal_known").Inc(1)
	}
	count("a")
	if n := testing.AllocsPerRun(100, func() { count("b") }); n > 5 {
		t.Errorf("%v allocations for a counter that is known, want those of the tags and their key at most", n)
	}
	recorder := httptest.NewRecorder()
	m.handler().ServeHTTP(recorder, httptest.NewRequest("GET", "/metrics", nil))
	got := recorder.Body.String()
	for _, want := range []string{
		`temporal_known_total{task_queue="a",worker_type="x"} 1`,
		`temporal_known_total{task_queue="b",worker_type="x"} 101`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in:\n%s", want, got)
		}
	}
	before, after := mapKey(map[string]string{"a": "b", "c": "d"}), mapKey(map[string]string{"a": "d", "c": "b"})
	if before == after {
		t.Errorf("one key %q for two sets of tags", before)
	}
}
