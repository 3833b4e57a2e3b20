package service

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/armature-io/armature/fleet"
	"github.com/prometheus/client_golang/prometheus"
)

const (
	// firstTally is the wait of a worker before it counts: Temporal has to see it poll.
	firstTally = 10 * time.Second
	// tallyTimeout bounds one count.
	tallyTimeout = 10 * time.Minute
	// minTallyPause is the wait after a count, as a multiple of what the count took: a large
	// namespace is counted less often.
	minTallyPause = 20
	// maxTallyAge is how many waits a count is shown for.
	maxTallyAge = 3
	// budgetInterval is the time between two readings of the budgets. Each is a query, which
	// Temporal Cloud bills as an action.
	budgetInterval = 5 * time.Minute
	// maxLabelValues is the number of values of the label that become series of their own.
	maxLabelValues = 100
)

// tallier is the part of fleet.Fleet that the state metrics need.
type tallier interface {
	Leads(ctx context.Context, process string) (leads bool, checks int, err error)
	Tally(ctx context.Context, label string) (fleet.Tally, error)
	Spent(ctx context.Context, budget string) (int, error)
}

// stateMetrics are the gauges of the state of all resources of the task queue. One of its
// workers counts them; the others have no such series, so that no resource counts twice. It
// is safe for concurrent use.
type stateMetrics struct {
	interval time.Duration
	label    string
	// budgets are the limits of the budgets by their names; 0 is unlimited.
	budgets map[string]int
	now     func() time.Time

	resources, oldest, left, different *prometheus.Desc

	mu        sync.Mutex
	tally     fleet.Tally
	checks    int            // the fingerprints of one version
	shownTo   time.Time      // the tally is too old after it
	spent     map[string]int // by budget
	spentRead time.Time
}

// newStateMetrics returns the gauges, which have no series before the first count.
func newStateMetrics(interval time.Duration, label string, budgets map[string]int, now func() time.Time) *stateMetrics {
	return &stateMetrics{
		interval: interval, label: label, budgets: budgets, now: now,
		resources: prometheus.NewDesc("armature_resources",
			"Managed resources, by phase, class (what ends the state: nothing, time, person, unknown), reason and the value of the label that metrics.label names. One worker of a task queue has these series.",
			[]string{"phase", "class", "reason", "label"}, nil),
		oldest: prometheus.NewDesc("armature_oldest_not_ready_seconds",
			"How long the resource has not been Ready that has not been for the longest time, in seconds, by class; paused resources do not count.",
			[]string{"class"}, nil),
		left: prometheus.NewDesc("armature_budget_left",
			"Resources that the workers of the task queue may still write within the hour without a user's request, by budget (put, disappearance); absent where a budget is unlimited.",
			[]string{"budget"}, nil),
		different: prometheus.NewDesc("armature_worker_checks",
			"Different fingerprints of links and rules among the live workers of the task queue and one deployment version, of the version with the most; more than 1 means that the worker that takes a task decides which checks run. One worker of a task queue has this series.",
			nil, nil),
	}
}

// Describe implements prometheus.Collector.
func (m *stateMetrics) Describe(to chan<- *prometheus.Desc) {
	to <- m.resources
	to <- m.oldest
	to <- m.left
	to <- m.different
}

// Collect implements prometheus.Collector: the last count, as long as it is not too old.
func (m *stateMetrics) Collect(to chan<- prometheus.Metric) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.now().After(m.shownTo) {
		return
	}
	to <- prometheus.MustNewConstMetric(m.different, prometheus.GaugeValue, float64(m.checks))
	for group, n := range bounded(m.tally.Groups) {
		phase := string(group.Phase)
		if group.Class == fleet.EndedByUnknown {
			phase = "unknown"
		}
		to <- prometheus.MustNewConstMetric(m.resources, prometheus.GaugeValue, float64(n),
			phase, string(group.Class), string(group.Reason), group.Label)
	}
	for class, age := range m.tally.Oldest {
		to <- prometheus.MustNewConstMetric(m.oldest, prometheus.GaugeValue, age.Seconds(), string(class))
	}
	for name, spent := range m.spent {
		to <- prometheus.MustNewConstMetric(m.left, prometheus.GaugeValue, float64(max(m.budgets[name]-spent, 0)), name)
	}
}

// bounded returns the groups with the reasons and values of the label that may become
// series: the values with the most resources, the others as otherReason.
func bounded(groups map[fleet.Group]int) map[fleet.Group]int {
	sizes := map[string]int{}
	for group, n := range groups {
		sizes[group.Label] += n
	}
	values := slices.SortedFunc(maps.Keys(sizes), func(a, b string) int {
		if sizes[a] != sizes[b] {
			return sizes[b] - sizes[a]
		}
		return strings.Compare(a, b)
	})
	kept := values[:min(len(values), maxLabelValues)]
	result := map[fleet.Group]int{}
	for group, n := range groups {
		if !slices.Contains(kept, group.Label) {
			group.Label = otherReason
		}
		// A reason may be a code of a server.
		if reason := reasonLabel(group.Reason); reason != string(group.Reason) {
			group.Reason = otherReason
		}
		result[group] += n
	}
	return result
}

// watch counts until ctx is done.
func (m *stateMetrics) watch(ctx context.Context, from tallier, identity string, log *slog.Logger) {
	logged, differed := "", false
	sleep(ctx, firstTally)
	for ctx.Err() == nil {
		began := m.now()
		err := m.read(ctx, from, identity)
		if err != nil && ctx.Err() == nil && !isUnreachable(err) && err.Error() != logged {
			logged = err.Error()
			log.Warn("cannot count the resources for the metrics, retrying", "error", err)
		}
		differed = m.warnOfChecks(log, differed)
		sleep(ctx, m.pause(m.now().Sub(began)))
	}
}

// warnOfChecks logs once that workers have different checks, and returns whether they do.
func (m *stateMetrics) warnOfChecks(log *slog.Logger, before bool) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.checks > 1 && !before {
		log.Warn("workers of one task queue and version have different checks", "fingerprints", m.checks, "advice", "`armature doctor` names them")
	}
	return m.checks > 1
}

// pause returns the wait after a count that took some time.
func (m *stateMetrics) pause(took time.Duration) time.Duration {
	return max(m.interval, minTallyPause*took)
}

// read counts once, if this worker is the one that counts.
func (m *stateMetrics) read(ctx context.Context, from tallier, identity string) error {
	ctx, cancel := context.WithTimeout(ctx, tallyTimeout)
	defer cancel()
	leads, checks, err := from.Leads(ctx, identity)
	if err != nil || !leads {
		m.mu.Lock()
		defer m.mu.Unlock()
		if err == nil {
			m.shownTo, m.checks = time.Time{}, 0 // another worker shows them now
		}
		return err
	}
	began := m.now()
	tally, err := from.Tally(ctx, m.label)
	if err != nil {
		return err
	}
	spent, err := m.readBudgets(ctx, from)
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.now()
	m.tally, m.checks, m.shownTo = tally, checks, now.Add(maxTallyAge*m.pause(now.Sub(began)))
	if spent != nil {
		m.spent, m.spentRead = spent, now
	}
	return err
}

// readBudgets returns what was spent of each limited budget, nil where it was read less than
// budgetInterval ago.
func (m *stateMetrics) readBudgets(ctx context.Context, from tallier) (map[string]int, error) {
	m.mu.Lock()
	recent := !m.spentRead.IsZero() && m.now().Sub(m.spentRead) < budgetInterval
	m.mu.Unlock()
	if recent {
		return nil, nil //nolint:nilnil // nil leaves the last reading in force
	}
	spent := map[string]int{}
	for name, limit := range m.budgets {
		if limit == 0 {
			continue
		}
		n, err := from.Spent(ctx, name)
		if err != nil {
			return nil, err
		}
		spent[name] = n
	}
	return spent, nil
}
