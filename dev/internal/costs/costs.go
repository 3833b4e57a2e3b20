// Package costs measures the passes of a resource, in events and bytes of history
// and in requests to ARM, and has the limits of each figure. The benchmarks print
// the figures; an e2e test compares them with [Limits]. So a change of costs is a
// decision that changes the table here.
package costs

import (
	"fmt"
	"maps"
	"slices"
)

// Figures are measured values by name. Events and requests are counts; bytes are
// the protobuf size of the events, which the server stores and limits.
type Figures map[string]float64

// Limit is the inclusive range of a figure.
type Limit struct{ Low, High float64 }

// byteTolerance is the relative deviation of bytes from the table: timestamps,
// numbers and hashes vary in size from run to run.
const byteTolerance = 0.02

// exact returns the limit of a count that is the same in every run.
func exact(value float64) Limit { return Limit{value, value} }

// about returns the limit of a number of bytes.
func about(bytes float64) Limit {
	return Limit{bytes * (1 - byteTolerance), bytes * (1 + byteTolerance)}
}

// Limits returns the table of all costs, for [Figures.Deviations].
//
// Requests to the resource, polls of its operation and reads of its owner are
// separate figures. A worker reads an owner at most once in 30 s for all of its
// children, so owner_get counts the reads of the whole measurement by a fresh
// worker; a resource that passes alone, once an hour, reads its owner each time.
func Limits() map[string]Limit {
	return map[string]Limit{
		// One pass in sync, by its timer: all steps are part of one workflow task.
		"history.steady.events":     exact(9),
		"history.steady.bytes_2k":   about(2916),
		"history.steady.bytes_20k":  about(6308), // the workflow requests at most 8 KB
		"history.steady.bytes_200k": about(41065),
		// One pass blocked by a missing owner, by its timer, while the waits grow. One event is
		// the summary for lists, which has the longest wait: later passes write none.
		"history.blocked.events": exact(7),
		"history.blocked.bytes":  about(1563),
		// A create with an operation, of a resource that nothing waits for.
		"history.create.events": exact(26),
		"history.create.bytes":  about(10174),

		// A create with an operation of two polls, from the apply to Ready.
		"requests.first.get":       exact(2),
		"requests.first.put":       exact(1),
		"requests.first.delete":    exact(0),
		"requests.first.poll":      exact(2),
		"requests.first.owner_get": exact(1),
		// One pass in sync.
		"requests.steady.get":    exact(1),
		"requests.steady.put":    exact(0),
		"requests.steady.delete": exact(0),
		// Of each of the two applies of the measurement, and one more where it takes over half a
		// minute. An idle machine takes 2.
		"requests.steady.owner_get": {1, 3},
		// All blocked passes of the measurement.
		"requests.blocked.get":       exact(0),
		"requests.blocked.put":       exact(0),
		"requests.blocked.delete":    exact(0),
		"requests.blocked.owner_get": {1, 2},
		// A dry run of a resource that is in sync.
		"requests.plan.get":       exact(1),
		"requests.plan.put":       exact(0),
		"requests.plan.delete":    exact(0),
		"requests.plan.owner_get": {0, 1},
	}
}

// Deviations describes all figures that are outside of their limits, were not
// measured, or have no limit in the table.
func (f Figures) Deviations() []string {
	var deviations []string
	limits := Limits()
	for _, name := range slices.Sorted(maps.Keys(limits)) {
		got, measured := f[name]
		switch limit := limits[name]; {
		case !measured:
			deviations = append(deviations, name+" was not measured")
		case got < limit.Low || got > limit.High:
			deviations = append(deviations, fmt.Sprintf("%s is %g, want %g to %g", name, got, limit.Low, limit.High))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(f)) {
		if _, known := limits[name]; !known {
			deviations = append(deviations, fmt.Sprintf("%s is %g but has no limit", name, f[name]))
		}
	}
	return deviations
}
