package bench

import (
	"encoding/json"
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/armature-io/armature/dev/internal/costs"
	"github.com/armature-io/armature/drift"
	"github.com/armature-io/armature/resource"
)

const (
	// driftRounds is the number of rounds in which Compare and json.Unmarshal
	// alternate.
	driftRounds = 15
	// driftWindow is the approximate time for which one of them is repeated in a round.
	driftWindow = 20 * time.Millisecond
)

// TestDrift measures drift.Compare of a body in sync, by body size: its time as a
// multiple of json.Unmarshal of the same body, as the median of alternating rounds in
// one run, and its allocations and allocated bytes. Both bodies are decoded before, and
// the baseline is from a PUT, as in a steady pass.
func TestDrift(t *testing.T) {
	requirePart(t, "drift")
	all := figures{}
	for name, size := range map[string]int{"2k": 2_000, "20k": 20_000, "200k": 200_000} {
		measureDrift(t, all, "drift."+name+".", costs.Body(size))
	}
	all.print(t)
	if !t.Failed() {
		all.merge(t)
	}
}

func measureDrift(t *testing.T, all figures, prefix string, desired json.RawMessage) {
	t.Helper()
	id, err := resource.ParseID(passID(0))
	if err != nil {
		t.Fatal(err)
	}
	// The members that ARM adds to a body.
	observed := fmt.Appendf(nil, `{"id":%q,"name":"t0","type":"Microsoft.Example/things","etag":"W/1","systemData":{"createdAt":"2026-01-01T00:00:00Z"},%s`, id, desired[1:])
	desiredBody, errWant := drift.Decode("desired", desired)
	observedBody, errGot := drift.Decode("observed", observed)
	if errWant != nil || errGot != nil {
		t.Fatal(errWant, errGot)
	}
	options := drift.Options{Type: id.Type(), ID: id, APIVersion: "2024-01-01", Key: []byte("bench"), Put: true, Now: time.Now()}
	options.Baseline = drift.NewBaseline(desiredBody, observedBody, options)
	options.Put = false
	compare := func() {
		if !drift.Compare(desiredBody, observedBody, options).InSync {
			t.Fatal("the body is not in sync")
		}
	}
	unmarshal := func() {
		var body map[string]any
		if err := json.Unmarshal(observed, &body); err != nil {
			t.Fatal(err)
		}
	}
	var ratios, seconds []float64
	for round := range driftRounds {
		first, second := compare, unmarshal
		if round%2 == 1 {
			first, second = second, first
		}
		a, b := timePerCall(first), timePerCall(second)
		if round%2 == 1 {
			a, b = b, a
		}
		ratios, seconds = append(ratios, a/b), append(seconds, a)
	}
	slices.Sort(ratios)
	slices.Sort(seconds)
	all[prefix+"over_unmarshal"], all[prefix+"seconds"] = median(ratios), median(seconds)
	all[prefix+"allocations"], all[prefix+"bytes"] = allocationsPerCall(compare)
}

// timePerCall returns the duration of one call in seconds.
func timePerCall(call func()) float64 {
	calls, begun := 0, time.Now()
	for time.Since(begun) < driftWindow {
		call()
		calls++
	}
	return time.Since(begun).Seconds() / float64(calls)
}

// allocationsPerCall returns the objects and bytes that one call allocates.
func allocationsPerCall(call func()) (objects, bytes float64) {
	const calls = 20
	var before, after runtime.MemStats
	call()
	runtime.GC()
	runtime.ReadMemStats(&before)
	for range calls {
		call()
	}
	runtime.ReadMemStats(&after)
	return float64(after.Mallocs-before.Mallocs) / calls, float64(after.TotalAlloc-before.TotalAlloc) / calls
}
