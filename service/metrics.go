package service

import (
	"cmp"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/internal/audit"
	"github.com/armature-io/armature/internal/servertime"
	"github.com/armature-io/armature/internal/tracing"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"go.opentelemetry.io/otel/attribute"
	otelprometheus "go.opentelemetry.io/otel/exporters/prometheus"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/trace"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/contrib/opentelemetry"
)

// metrics is a Prometheus registry with the metrics of the SDK (temporal_*), Go, the
// process and Armature (armature_*). No label contains the name or the ID of a resource, so
// the number of series does not grow with the number of resources.
type metrics struct {
	registry *prometheus.Registry
	sdk      client.MetricsHandler
	requests *prometheus.CounterVec
	duration *prometheus.HistogramVec
	verdicts *prometheus.CounterVec
	passes   *prometheus.HistogramVec
	audit    *prometheus.CounterVec
	// feedLag and feedFollows are of the feeds by credential, authors of the changes that verdicts
	// are about.
	feedLag, feedFollows *prometheus.GaugeVec
	authors              *prometheus.CounterVec
	origins, clients     origins
}

// readyBuckets are the bounds of the time to Ready, in seconds: some resources take a
// second, others hours.
var readyBuckets = []float64{1, 2, 5, 10, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 14400, 28800, 86400}

func newMetrics(log *slog.Logger) (*metrics, error) {
	m := &metrics{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "armature_arm_requests_total",
			Help: "Requests sent to ARM, by call, method, resource type and status (0: no response).",
		}, []string{"call", "method", "type", "status"}),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "armature_arm_request_duration_seconds",
			Help:    "Time until the response of ARM, in seconds.",
			Buckets: []float64{.05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60},
		}, []string{"call", "method"}),
		verdicts: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "armature_verdicts_total",
			Help: "Verdicts of the steps of a pass, by step, action, reason and origin (the rule or extension that decided, armature for none).",
		}, []string{"step", "action", "reason", "origin"}),
		audit: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "armature_audit_lines_total",
			Help: "Lines of the audit trail, by sink and result: written, failed (tried again) or lost (in the log only).",
		}, []string{"sink", "result"}),
	}
	m.passes = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "armature_pass_duration_seconds",
		Help:    "Duration of the passes that ended, with their waits for operations, in seconds, by the phase after the pass.",
		Buckets: []float64{.05, .1, .25, .5, 1, 2.5, 5, 15, 60, 300, 1800, 7200},
	}, []string{"phase"})
	m.feedLag = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "armature_feed_lag_seconds",
		Help: "How far the feed of changes of a credential is behind, in seconds. The worker reads it each minute, and the feed tells it every ten minutes while nothing is wrong.",
	}, []string{"credential"})
	m.feedFollows = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "armature_feed_follows",
		Help: "1 while the feed of changes of a credential follows; 0 while it is refused or late, and resources are read at the interval of their manifests.",
	}, []string{"credential"})
	m.authors = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "armature_reported_drift_total",
		Help: "Verdicts about drift of which Azure reported the author, by the kind of the author (User, Application) and the client (Azure Portal).",
	}, []string{"kind", "client"})
	m.registry.MustRegister(m.feedLag, m.feedFollows, m.authors, m.requests, m.duration, m.verdicts, m.audit, m.passes,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	exporter, err := otelprometheus.New(otelprometheus.WithRegisterer(m.registry),
		otelprometheus.WithoutScopeInfo(), otelprometheus.WithoutTargetInfo())
	if err != nil {
		return nil, fmt.Errorf("set up metrics: %w", err)
	}
	// Workflows count through the SDK, which does not count during a replay. The view
	// drops its tags.
	overdue := metric.NewView(metric.Instrument{Name: workflows.OverdueMetric}, metric.Stream{
		Description:     "Verdicts on resources that have not been ready for longer than overdue-after, by reason.",
		AttributeFilter: attribute.NewAllowKeysFilter("reason"),
	})
	ready := metric.NewView(metric.Instrument{Name: workflows.TimeToReadyMetric}, metric.Stream{
		Description:     "Time from the apply that changed a spec until the resource was Ready with it, in seconds.",
		AttributeFilter: attribute.NewAllowKeysFilter(),
		Aggregation:     metric.AggregationExplicitBucketHistogram{Boundaries: readyBuckets},
	})
	foreign := metric.NewView(metric.Instrument{Name: workflows.ForeignMetric}, metric.Stream{
		Description:     "Changes of values in Azure that no manifest contains; armature drift --foreign shows them.",
		AttributeFilter: attribute.NewAllowKeysFilter(),
	})
	provider := metric.NewMeterProvider(metric.WithReader(exporter), metric.WithView(overdue, ready, foreign))
	m.sdk = opentelemetry.NewMetricsHandler(opentelemetry.MetricsHandlerOptions{
		Meter:                provider.Meter("temporal"),
		OnError:              func(err error) { log.Warn("cannot record SDK metric", "error", err) },
		UseMonotonicCounters: true,
	})
	return m, nil
}

// observeClock adds the difference between the worker's clock and the server's.
func (m *metrics) observeClock(clock *servertime.Clock) {
	m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "armature_clock_ahead_seconds",
		Help: "How far the worker's clock is ahead of the Temporal server's, in seconds; negative when it is behind, 0 before the first activity.",
	}, func() float64 {
		ahead, _ := clock.Ahead()
		return ahead.Seconds()
	}))
}

// observeRules adds the number of rules in force, and whether their last reload failed; both
// are 0 without rules.
func (m *metrics) observeRules(state func() activities.RulesState) {
	if state == nil {
		state = func() activities.RulesState { return activities.RulesState{} }
	}
	m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "armature_rules",
		Help: "Rules in force.",
	}, func() float64 { return float64(state().Count) }), prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "armature_rules_reload_failed",
		Help: "1 while the rule files are invalid: the rules from before stay in force, and a worker that starts now would refuse the files.",
	}, func() float64 {
		if state().Err != nil {
			return 1
		}
		return 0
	}))
}

// observeBudget adds what is left of ARM's request budgets.
func (m *metrics) observeBudget(remaining func() map[string]float64) {
	m.registry.MustRegister(armBudget{
		remaining: remaining,
		desc: prometheus.NewDesc("armature_arm_requests_left",
			"Requests that the scarcest budget of a subscription allows now, by verb (reads, writes, deletes), as ARM reported it within the last minute; 0 after a 429.",
			[]string{"verb"}, nil),
	})
}

// armBudget is the collector of ARM's request budgets.
type armBudget struct {
	remaining func() map[string]float64
	desc      *prometheus.Desc
}

// Describe implements prometheus.Collector.
func (b armBudget) Describe(to chan<- *prometheus.Desc) { to <- b.desc }

// Collect implements prometheus.Collector.
func (b armBudget) Collect(to chan<- prometheus.Metric) {
	for verb, left := range b.remaining() {
		to <- prometheus.MustNewConstMetric(b.desc, prometheus.GaugeValue, left, verb)
	}
}

// observeAudit adds the number of lines of the audit trail that are not written yet.
func (m *metrics) observeAudit(journal *audit.Journal) {
	m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "armature_audit_pending",
		Help: "Lines of the audit trail that a sink has not written yet, of the sink with the most; writes to Azure wait for them.",
	}, func() float64 { return float64(journal.Pending()) }))
}

// countAudit counts lines of the audit trail.
func (m *metrics) countAudit(sink string, outcome audit.Outcome, lines int) {
	m.audit.WithLabelValues(sink, string(outcome)).Add(float64(lines))
}

// countRequest counts a request to ARM.
func (m *metrics) countRequest(r arm.Request) {
	m.requests.WithLabelValues(string(r.Call), r.Method, strings.ToLower(r.Type), strconv.Itoa(r.Status)).Inc()
	observe(m.duration.WithLabelValues(string(r.Call), r.Method), r.Duration, r.Span)
}

// countPass counts a pass that has ended.
func (m *metrics) countPass(pass tracing.Pass, span trace.SpanContext) {
	observe(m.passes.WithLabelValues(pass.Phase), pass.Ended.Sub(pass.Begun), span)
}

// countVerdict counts a verdict of a step.
func (m *metrics) countVerdict(step string, v resource.Verdict) {
	m.verdicts.WithLabelValues(step, string(v.Action), reasonLabel(v.Reason), m.origins.label(v.Origin)).Inc()
	if v.AuthorKnown() {
		m.authors.WithLabelValues(m.clients.label(cmp.Or(v.ChangedBy.Type, "unknown")), m.clients.label(cmp.Or(v.ChangedBy.Client, "unknown"))).Inc()
	}
}

// observeFeed shows the state of the feed of a credential.
func (m *metrics) observeFeed(credential string, state activities.FeedState, now time.Time) {
	if state.Through.IsZero() {
		return
	}
	m.feedLag.WithLabelValues(credential).Set(now.Sub(state.Through).Seconds())
	follows := 0.0
	if state.Follows(now) {
		follows = 1
	}
	m.feedFollows.WithLabelValues(credential).Set(follows)
}

// otherReason is the label of codes that no table has: servers choose them, and each would
// be a series of its own.
const otherReason = "other"

// The labels of the verdicts that no extension made, and of origins beyond maxOrigins.
const (
	ownOrigin   = "armature"
	otherOrigin = "other"
)

// maxOrigins is the number of origins that become labels of their own.
const maxOrigins = 300

// origins are the labels of the extensions that made verdicts, at most maxOrigins. The zero
// value is empty.
type origins struct {
	mu    sync.Mutex
	known map[string]bool
}

// label returns the origin of a verdict as a label: without the file and line of a rule,
// which move whenever its file is edited.
func (o *origins) label(origin string) string {
	if origin == "" {
		return ownOrigin
	}
	origin, _, _ = strings.Cut(origin, " (")
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case o.known[origin]:
		return origin
	case len(o.known) >= maxOrigins:
		return otherOrigin
	case o.known == nil:
		o.known = map[string]bool{}
	}
	o.known[origin] = true
	return origin
}

// reasonLabel returns a reason as a label of a metric: one of Armature's own, a code of the
// error table, or otherReason.
func reasonLabel(reason resource.Reason) string {
	own := slices.ContainsFunc(resource.Reasons(), func(info resource.ReasonInfo) bool { return info.Reason == reason })
	if reason == "" || own || arm.KnownCode(string(reason)) {
		return string(reason)
	}
	return otherReason
}

func (m *metrics) handler() http.Handler {
	// Exemplars exist in the OpenMetrics format only, which a scraper asks for.
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{EnableOpenMetrics: true})
}
