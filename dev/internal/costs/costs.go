// Package costs measures what the passes of a resource cost, in events and bytes
// of history and in requests to ARM, and says what they may cost. The benchmarks
// print what it measures; an e2e test holds it to [Limits]. So a cost that
// changes is a decision that changes the table here.
package costs

import (
	"fmt"
	"maps"
	"slices"
)

// Figures are measured values by name: events and requests are counts, bytes are
// protobuf of the events, which is what the server stores and limits.
type Figures map[string]float64

// Limit is what a figure may be, both ends included.
type Limit struct{ Low, High float64 }

// bytesRoom is the part by which bytes may differ from the table: times, numbers
// and hashes take some bytes more or less from run to run.
const bytesRoom = 0.02

// exact is a count that is the same in every run.
func exact(value float64) Limit { return Limit{value, value} }

// about is a number of bytes.
func about(bytes float64) Limit { return Limit{bytes * (1 - bytesRoom), bytes * (1 + bytesRoom)} }

// Limits is the one table of what everything may cost, for [Figures.Faults].
//
// Requests are those to the resource; polls of its operation and reads of its
// owner stand apart. A worker reads an owner at most once in 30 s, for all of its
// children, so the reads of the owner are those of the whole measurement by a
// worker that has read nothing before, and a resource that passes alone, once an
// hour, costs one each time.
func Limits() map[string]Limit {
	return map[string]Limit{
		// One pass in sync, by its timer.
		"history.steady.events":     exact(14),
		"history.steady.bytes_2k":   about(3450),
		"history.steady.bytes_20k":  about(6848), // at most 8 KB are asked for
		"history.steady.bytes_200k": about(41603),
		// One pass that the absence of its owner blocks, by its timer.
		"history.blocked.events": exact(6),
		"history.blocked.bytes":  about(1162),
		// A create with an operation: 6 events tell those who wait.
		"history.create.events": exact(36),
		"history.create.bytes":  about(10712),

		// A create with an operation of two polls, from the apply to Ready.
		"requests.first.get":       exact(2),
		"requests.first.put":       exact(1),
		"requests.first.delete":    exact(0),
		"requests.first.poll":      exact(2),
		"requests.first.owner_get": exact(1),
		// One pass in sync.
		"requests.steady.get":       exact(1),
		"requests.steady.put":       exact(0),
		"requests.steady.delete":    exact(0),
		"requests.steady.owner_get": {1, 2},
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

// Faults says what is not as [Limits] wants it: a figure outside its limit, one
// that was not measured, one that the table does not know.
func (f Figures) Faults() []string {
	var faults []string
	limits := Limits()
	for _, name := range slices.Sorted(maps.Keys(limits)) {
		got, measured := f[name]
		switch limit := limits[name]; {
		case !measured:
			faults = append(faults, name+" was not measured")
		case got < limit.Low || got > limit.High:
			faults = append(faults, fmt.Sprintf("%s is %g, want %g to %g", name, got, limit.Low, limit.High))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(f)) {
		if _, known := limits[name]; !known {
			faults = append(faults, fmt.Sprintf("%s is %g, and has no limit", name, f[name]))
		}
	}
	return faults
}
