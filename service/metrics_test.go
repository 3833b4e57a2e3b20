package service

import (
	"fmt"
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
)

func TestMetrics(t *testing.T) {
	m, err := newMetrics(slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	m.countRequest(arm.Request{Call: arm.CallGet, Method: "GET", Type: "Microsoft.Kusto/Clusters", Status: 200, Duration: time.Second})
	m.countRequest(arm.Request{Call: arm.CallGet, Method: "GET", Type: "Microsoft.Kusto/clusters", Status: 200, Duration: time.Second})
	m.countVerdict("PreCheck", resource.Block(resource.ReasonArmUnreachable, "not a label"))
	ruled := resource.Block(resource.ReasonReconciliationBlocked, "busy")
	ruled.Origin = "rule busy (/etc/rules/busy.yaml:4)"
	m.countVerdict("PreCheck", ruled)
	m.sdk.Counter("temporal_test").Inc(2)
	m.sdk.WithTags(map[string]string{"namespace": "default", "reason": "WaitingForOwner"}).Counter(workflows.OverdueMetric).Inc(1)
	recorder := httptest.NewRecorder()
	m.handler().ServeHTTP(recorder, httptest.NewRequest("GET", "/metrics", nil))
	got := recorder.Body.String()
	for _, want := range []string{
		`armature_arm_requests_total{call="get",method="GET",status="200",type="microsoft.kusto/clusters"} 2`,
		`armature_arm_request_duration_seconds_sum{call="get",method="GET"} 2`,
		`armature_verdicts_total{action="`, `origin="armature",reason="ArmUnreachable",step="PreCheck"} 1`,
		`origin="rule busy",reason="ReconciliationBlocked",step="PreCheck"} 1`,
		"temporal_test_total 2",
		`armature_overdue_verdicts_total{reason="WaitingForOwner"} 1`,
		"# HELP armature_overdue_verdicts_total Verdicts on resources that have not been ready for longer than overdue-after, by reason.",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in:\n%s", want, got)
		}
	}
	if strings.Contains(got, "not a label") {
		t.Error("a message is a label")
	}
}

// The number of series does not grow with what extensions call themselves.
func TestOriginsAreBounded(t *testing.T) {
	var o origins
	labels := map[string]bool{}
	for i := range 10 * maxOrigins {
		labels[o.label(fmt.Sprintf("extension for resource %d", i))] = true
	}
	if len(labels) != maxOrigins+1 || !labels[otherOrigin] {
		t.Errorf("got %d labels, want %d and %q", len(labels), maxOrigins, otherOrigin)
	}
	if got := o.label("extension for resource 0"); got != "extension for resource 0" {
		t.Errorf("a known origin became %q", got)
	}
	if first, second := o.label("rule r (a.yaml:1)"), o.label("rule r (a.yaml:9)"); first != second {
		t.Errorf("an edit of the file makes another series: %q and %q", first, second)
	}
}
