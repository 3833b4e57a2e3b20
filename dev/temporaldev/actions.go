package temporaldev

import (
	"maps"
	"sync"

	"go.temporal.io/server/common/metrics"
)

// Actions counts the billed actions of a server in [Namespace], as the server's own metric
// "action" does. The zero value is ready.
type Actions struct {
	mu     sync.Mutex
	counts map[string]int
}

// Counts returns the numbers of actions since the last [Actions.Reset], by the server's name
// of their type, such as command_COMMAND_TYPE_START_TIMER.
func (a *Actions) Counts() map[string]int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return maps.Clone(a.counts)
}

// Sum returns the number of actions since the last [Actions.Reset].
func (a *Actions) Sum() int {
	sum := 0
	for _, count := range a.Counts() {
		sum += count
	}
	return sum
}

// Reset sets all counts to zero.
func (a *Actions) Reset() {
	a.mu.Lock()
	defer a.mu.Unlock()
	clear(a.counts)
}

func (a *Actions) record(n int64, tags []metrics.Tag) {
	kind := tagOf(tags, "action_type")
	if tagOf(tags, "namespace") != Namespace {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.counts == nil {
		a.counts = map[string]int{}
	}
	a.counts[kind] += int(n)
}

// tagOf returns the value of the last tag with a key, "" without one.
func tagOf(tags []metrics.Tag, key string) string {
	value := ""
	for _, tag := range tags {
		if tag.Key == key {
			value = tag.Value
		}
	}
	return value
}

// actionsHandler passes the metric of actions on, and drops the others.
type actionsHandler struct {
	metrics.Handler
	actions *Actions
	tags    []metrics.Tag
}

func (a *Actions) handler() metrics.Handler {
	return actionsHandler{metrics.NoopMetricsHandler, a, nil}
}

// WithTags returns the handler for metrics with further tags.
func (h actionsHandler) WithTags(tags ...metrics.Tag) metrics.Handler {
	h.tags = append(h.tags[:len(h.tags):len(h.tags)], tags...)
	return h
}

// Counter returns the counter with a name.
func (h actionsHandler) Counter(name string) metrics.CounterIface {
	if name != metrics.ActionCounter.Name() {
		return h.Handler.Counter(name)
	}
	return metrics.CounterFunc(func(n int64, tags ...metrics.Tag) {
		h.actions.record(n, append(h.tags[:len(h.tags):len(h.tags)], tags...))
	})
}
