package service

import (
	"sync"

	"go.temporal.io/sdk/client"
)

// knownMetrics remembers what it was asked for. The SDK asks for the same few
// dozen handlers and instruments again with each task and request, and for each
// run that it keeps in memory; each is worth a kilobyte. They are as many as
// there are series.
type knownMetrics struct {
	next                               client.MetricsHandler
	handlers, counters, gauges, timers *sync.Map
}

func newKnownMetrics(next client.MetricsHandler) client.MetricsHandler {
	return knownMetrics{next, &sync.Map{}, &sync.Map{}, &sync.Map{}, &sync.Map{}}
}

// WithTags is the handler that adds tags.
func (m knownMetrics) WithTags(tags map[string]string) client.MetricsHandler {
	return known(m.handlers, mapKey(tags), func() client.MetricsHandler {
		return newKnownMetrics(m.next.WithTags(tags))
	})
}

// Counter is the counter of a name.
func (m knownMetrics) Counter(name string) client.MetricsCounter {
	return known(m.counters, name, func() client.MetricsCounter { return m.next.Counter(name) })
}

// Gauge is the gauge of a name.
func (m knownMetrics) Gauge(name string) client.MetricsGauge {
	return known(m.gauges, name, func() client.MetricsGauge { return m.next.Gauge(name) })
}

// Timer is the timer of a name.
func (m knownMetrics) Timer(name string) client.MetricsTimer {
	return known(m.timers, name, func() client.MetricsTimer { return m.next.Timer(name) })
}

func known[T any](all *sync.Map, key string, build func() T) T {
	found, ok := all.Load(key)
	if !ok {
		found, _ = all.LoadOrStore(key, build())
	}
	return found.(T)
}
