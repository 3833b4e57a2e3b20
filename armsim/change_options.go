package armsim

import (
	"math/rand"
	"time"
)

// Defaults of the reports. Resource Graph has a record "in less than five minutes"
// (get-resource-changes.md) and keeps it for 14 days; the two sources of changes may
// report two writes of one moment once. No source gives the least delay of Resource Graph,
// nor the delay of Event Grid, which tries to deliver at once
// (learn.microsoft.com/azure/event-grid/delivery-and-retry).
const (
	minGraphDelay   = 5 * time.Second
	maxGraphDelay   = 5 * time.Minute
	minEventDelay   = time.Second
	maxEventDelay   = 10 * time.Second
	changeRetention = 14 * 24 * time.Hour
	mergeTime       = 2 * time.Second
)

// ChangeReports configures how Resource Graph and Event Grid report changes. The zero
// value reports each change once, with Azure's delays.
type ChangeReports struct {
	// Graph and Events configure the two sources.
	Graph, Events Reporting
	// Merge is the simulated time in which a second update of a resource joins the record of
	// the first one in Resource Graph, which compares snapshots: the record has the author of
	// the second one, and there is none if the second one undoes the first one. 0 means 2 s,
	// a negative one never.
	Merge time.Duration
	// Halfway is the fraction of asynchronous writes of which Resource Graph has a record
	// when they are accepted too, with a provisioningState that is not terminal.
	Halfway float64
	// Retention is the simulated time for which Resource Graph has a record; 0 means 14 days.
	Retention time.Duration
}

// Reporting configures one source of changes. Fractions are between 0 and 1.
type Reporting struct {
	// MinDelay and MaxDelay bound the simulated time between a change and its report. If
	// MaxDelay is 0 they have their defaults: 5 s to 5 min for Resource Graph, 1 s to 10 s for
	// Event Grid. A negative MaxDelay reports at once.
	MinDelay, MaxDelay time.Duration
	// Lost is the fraction of changes that are never reported.
	Lost float64
	// Doubled is the fraction of changes that are reported twice, each with a delay of its own.
	Doubled float64
	// Shuffled is the fraction of reports that take up to twice MaxDelay, so that later changes
	// are reported before them.
	Shuffled float64
}

func (c ChangeReports) withDefaults() ChangeReports {
	c.Graph = c.Graph.withDefaults(minGraphDelay, maxGraphDelay)
	c.Events = c.Events.withDefaults(minEventDelay, maxEventDelay)
	if c.Merge == 0 {
		c.Merge = mergeTime
	}
	if c.Retention <= 0 {
		c.Retention = changeRetention
	}
	return c
}

func (r Reporting) withDefaults(shortest, longest time.Duration) Reporting {
	switch {
	case r.MaxDelay == 0:
		r.MinDelay, r.MaxDelay = shortest, longest
	case r.MaxDelay < 0:
		r.MinDelay, r.MaxDelay = 0, 0
	}
	r.MinDelay = max(0, min(r.MinDelay, r.MaxDelay))
	return r
}

// delays returns the delay of each report of one change; none if it is lost.
func (r Reporting) delays(random *rand.Rand) []time.Duration {
	if random.Float64() < r.Lost {
		return nil
	}
	delays := []time.Duration{r.delay(random)}
	if random.Float64() < r.Doubled {
		delays = append(delays, r.delay(random))
	}
	return delays
}

func (r Reporting) delay(random *rand.Rand) time.Duration {
	delay := r.MinDelay
	if spread := r.MaxDelay - r.MinDelay; spread > 0 {
		delay += time.Duration(random.Int63n(int64(spread) + 1))
	}
	if random.Float64() < r.Shuffled {
		delay = r.MaxDelay + delay
	}
	return delay
}

// reportsInput contains the configuration of reports that the control API changes. Absent
// fields keep their value.
type reportsInput struct {
	Graph            reportingInput `json:"graph"`
	Events           reportingInput `json:"events"`
	MergeSeconds     *float64       `json:"mergeSeconds"`
	Halfway          *float64       `json:"halfway"`
	RetentionSeconds *float64       `json:"retentionSeconds"`
}

type reportingInput struct {
	MinDelaySeconds *float64 `json:"minDelaySeconds"`
	MaxDelaySeconds *float64 `json:"maxDelaySeconds"`
	Lost            *float64 `json:"lost"`
	Doubled         *float64 `json:"doubled"`
	Shuffled        *float64 `json:"shuffled"`
}

func (in reportingInput) apply(r *Reporting) {
	setSeconds(&r.MinDelay, in.MinDelaySeconds)
	setSeconds(&r.MaxDelay, in.MaxDelaySeconds)
	setFraction(&r.Lost, in.Lost)
	setFraction(&r.Doubled, in.Doubled)
	setFraction(&r.Shuffled, in.Shuffled)
	r.MinDelay = max(0, min(r.MinDelay, r.MaxDelay))
}

func setSeconds(option *time.Duration, value *float64) {
	if value != nil {
		*option = seconds(*value)
	}
}

func setFraction(option, value *float64) {
	if value != nil {
		*option = *value
	}
}

// changeReports changes the configuration of later reports.
func (s *Simulator) changeReports(in reportsInput) {
	s.locked(func() {
		c := &s.options.Changes
		in.Graph.apply(&c.Graph)
		in.Events.apply(&c.Events)
		setSeconds(&c.Merge, in.MergeSeconds)
		setFraction(&c.Halfway, in.Halfway)
		setSeconds(&c.Retention, in.RetentionSeconds)
	})
}

// SetChangeReports replaces the configuration of later reports.
func (s *Simulator) SetChangeReports(c ChangeReports) {
	s.locked(func() { s.options.Changes = c.withDefaults() })
}
