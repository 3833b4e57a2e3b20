package bench

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/armsim"
)

// plannedCount is the number of planned resources.
const plannedCount = 1000

// TestPlan measures a plan of resources that equal their manifests.
func TestPlan(t *testing.T) {
	s := newTestbed(t, requirePart(t, "plan"), armsim.Options{MaxRequests: 100})
	c := crowd{count: plannedCount, subscriptions: 4, kind: thingType + "@2024-01-01", body: fiveKilobytes}
	file := c.manifests(s.World)
	for i := range c.count {
		s.Sim.Call(http.MethodPut, "/resources", map[string]any{"id": c.id(i), "body": json.RawMessage(c.body(i))}, nil)
	}
	s.Sim.Reset()
	before, begun := s.spent(), time.Now()
	result := s.MustCLI("plan", "-f", file)
	all := figures{"plan.1000.seconds": time.Since(begun).Seconds()}
	if !strings.HasPrefix(result.Out, "No changes: 1000 in sync") {
		t.Errorf("the plan finds changes: %s", result)
	}
	counters := s.Sim.Counters()
	for id, methods := range counters.ByID {
		to := "owners_"
		if strings.Contains(id, "/providers/") {
			to = ""
		}
		for method, n := range methods {
			all["plan.1000."+to+strings.ToLower(method)] += float64(n)
		}
	}
	// With and without a plan, the worker checks by HEAD that ARM is reachable.
	gets := all["plan.1000.get"] + all["plan.1000.owners_get"]
	if all["plan.1000.get"] != plannedCount || float64(counters.Total) != gets+float64(counters.ByMethod[http.MethodHead]) || all["plan.1000.head"] != 0 {
		t.Errorf("the plan made %v; want only %d GETs of resources and the GETs of their owners", counters.ByMethod, plannedCount)
	}
	worker, since := s.usage(s.worker.PID()), s.spentSince(before)
	all["plan.1000.cli_rss_mb"], all["plan.1000.cli_cpu_seconds"] = s.cli.megabytes(), result.CPU.Seconds()
	all["plan.1000.worker_rss_mb"], all["plan.1000.worker_rss_most_mb"] = worker.rss/mega, worker.maxRSS/mega
	all["plan.1000.worker_cpu_seconds"], all["plan.1000.temporal_cpu_seconds"] = since.worker.Seconds(), since.temporal.Seconds()
	all.print(t)
	if !t.Failed() {
		all.merge(t)
	}
}
