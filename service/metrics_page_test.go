package service

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/internal/audit"
	"github.com/armature-io/armature/internal/servertime"
	"github.com/armature-io/armature/internal/tracing"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"go.opentelemetry.io/otel/trace"
)

// sampled returns the metrics of Armature by name, each with a sample.
func sampled(t *testing.T) map[string]*dto.MetricFamily {
	t.Helper()
	m, err := newMetrics(slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	m.observeClock(servertime.New(time.Now))
	m.observeRules(func() activities.RulesState { return activities.RulesState{} })
	m.observeBudget(func() map[string]float64 { return map[string]float64{"reads": 1} })
	m.passes.WithLabelValues("Ready").Observe(1)
	m.observeAudit(nil)
	m.countAudit("file", audit.OutcomeWritten, 1)
	m.countRequest(arm.Request{Call: arm.CallGet, Method: "GET"})
	m.countPass(tracing.Pass{Phase: string(workflows.PhaseReady)}, trace.SpanContext{})
	m.countVerdict("PreCheck", resource.Block(resource.ReasonArmUnreachable, ""))
	m.countVerdict("PreCheck", resource.Verdict{Authorship: resource.Authorship{ChangedBy: resource.ReportedAuthor{Type: "User"}, ChangedAt: time.Now()}})
	m.observeFeed("default", activities.FeedState{Source: "resource-graph", Through: time.Now()}, time.Now())
	m.sdk.WithTags(map[string]string{"namespace": "default", "reason": "Failed"}).Counter(workflows.OverdueMetric).Inc(1)
	m.sdk.WithTags(map[string]string{"namespace": "default"}).Counter(workflows.ForeignMetric).Inc(1)
	m.sdk.WithTags(map[string]string{"namespace": "default"}).Timer(workflows.TimeToReadyMetric).Record(time.Second)
	state := newStateMetrics(time.Minute, "stack", budgetsOf(), time.Now)
	if err := state.read(context.Background(), &fakeTallier{tally: someTally()}, "1@a"); err != nil {
		t.Fatal(err)
	}
	m.registry.MustRegister(state)
	families, err := m.registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]*dto.MetricFamily{}
	for _, family := range families {
		if strings.HasPrefix(family.GetName(), "armature_") {
			found[family.GetName()] = family
		}
	}
	for _, name := range described(m.registry) {
		if found[name] == nil {
			t.Errorf("sampled adds no sample of %s", name)
		}
	}
	return found
}

// described returns the names of Armature's metrics that a registry describes.
func described(registry *prometheus.Registry) []string {
	all := make(chan *prometheus.Desc, 1000)
	registry.Describe(all)
	close(all)
	var names []string
	for one := range all {
		_, rest, _ := strings.Cut(one.String(), `fqName: "`)
		if name, _, _ := strings.Cut(rest, `"`); strings.HasPrefix(name, "armature_") {
			names = append(names, name)
		}
	}
	return names
}

// labelNames returns the labels of a metric, sorted.
func labelNames(family *dto.MetricFamily) []string {
	var names []string
	for _, label := range family.GetMetric()[0].GetLabel() {
		names = append(names, label.GetName())
	}
	slices.Sort(names)
	return names
}

// TestReferenceOfMetrics compares docs/metrics.md with the metrics of a worker; `make docs`
// writes its table.
func TestReferenceOfMetrics(t *testing.T) {
	const begin, end = "<!-- Table of all metrics: written by `make docs`; a test fails when it is stale. -->\n\n", "\n<!-- End of the table. -->"
	path := filepath.Join("..", "docs", "metrics.md")
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(page), begin)
	table, after, ended := strings.Cut(rest, end)
	if !found || !ended {
		t.Fatalf("%s has no place for the table", path)
	}
	got := metricTable(sampled(t))
	if os.Getenv("UPDATE_DOCS") != "" {
		if err := os.WriteFile(path, []byte(before+begin+got+end+after), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(table, got); diff != "" {
		t.Errorf("docs/metrics.md is stale; run `make docs` (-page +metrics):\n%s", diff)
	}
}

func metricTable(families map[string]*dto.MetricFamily) string {
	var table strings.Builder
	table.WriteString("| metric | kind | labels | meaning |\n|---|---|---|---|\n")
	for _, name := range slices.Sorted(maps.Keys(families)) {
		family := families[name]
		labels := "-"
		if names := labelNames(family); len(names) > 0 {
			labels = "`" + strings.Join(names, "`, `") + "`"
		}
		fmt.Fprintf(&table, "| `%s` | %s | %s | %s |\n", name, strings.ToLower(family.GetType().String()), labels, family.GetHelp())
	}
	return table.String()
}
