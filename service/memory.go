package service

import (
	"context"
	"math"
	"os"
	"runtime/debug"
	runtimemetrics "runtime/metrics"
	"time"
)

// How far the heap may grow between two collections: by slackBytes, so that a
// small worker does not collect all the time, and by slackLeast percent of what
// lives, so that one with thousands of sleepers does not hold twice their memory.
const (
	slackBytes = 64 << 20
	slackMost  = 400
	slackLeast = 50
	// slackEvery is how often it is set anew.
	slackEvery = 5 * time.Second
)

// gcPercent is the GC percentage for a number of live bytes.
func gcPercent(live uint64) int {
	if live == 0 {
		return slackMost
	}
	return int(math.Round(min(slackMost, max(slackLeast, 100*slackBytes/float64(live)))))
}

// tuneCollector keeps the garbage collector's percentage in step with the heap
// until ctx is done. Who sets GOGC or GOMEMLIMIT decides himself.
func tuneCollector(ctx context.Context) {
	if os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	sample := []runtimemetrics.Sample{{Name: "/gc/heap/live:bytes"}}
	last := 0
	for {
		runtimemetrics.Read(sample)
		if sample[0].Value.Kind() != runtimemetrics.KindUint64 {
			return
		}
		if percent := gcPercent(sample[0].Value.Uint64()); percent != last {
			debug.SetGCPercent(percent)
			last = percent
		}
		if !pause(ctx, slackEvery) {
			return
		}
	}
}
