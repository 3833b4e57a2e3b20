package service

import (
	"context"
	"math"
	"os"
	"runtime/debug"
	runtimemetrics "runtime/metrics"
	"slices"
	"time"
)

// How far the heap may grow between two collections: as far as it does in half a
// minute, so that a worker whose resources sleep holds little garbage; at least
// slackLeast, and at most slackMost or a part of what lives, where that is more, so
// that a busy one does not collect all the time. What fell asleep amid garbage
// leaves holes when that is collected, and stays where it is: while more and more
// lives the part is smaller.
const (
	slackLeast = 16 << 20
	slackMost  = 48 << 20
	// slackPart is in how many parts what lives is divided, slackPartGrows while more
	// and more does.
	slackPart, slackPartGrows = 2, 5
	// slackEvery is how often it is set anew: a worker that begins to be busy
	// collects with the slack of one at rest until then.
	slackEvery = time.Second
	// slackLooks are the looks of half a minute. burstLooks is how many a look is
	// taken for at once: work that begins.
	slackLooks, burstLooks = 30, 5
	// growthLooks are the looks of two minutes. More and more lives when it is more
	// than then, by more than one part of growthPart: what passes in flight hold is
	// less.
	growthLooks, growthPart = 120, 10
	// percentMost is for a heap that was never collected.
	percentMost = 1000
	// percentPart is the part of the percentage by which it changes at least.
	percentPart = 10
)

// The samples that the collector is tuned by, in bytes: what was alive after the
// last collection, what was ever allocated, and the roots, on which the collector
// sets its percentage too.
var collectorSamples = [...]string{"/gc/heap/live:bytes", "/gc/heap/allocs:bytes", "/gc/scan/stack:bytes", "/gc/scan/globals:bytes"}

// collector is what is known of the heap.
type collector struct {
	live, allocated, roots uint64
}

// slack is how far the heap may grow, in bytes, when it takes so many in half a
// minute, and more and more of it lives or not.
func (c collector) slack(takes uint64, grows bool) uint64 {
	part := c.live / slackPart
	if grows {
		part = c.live / slackPartGrows
	}
	return min(max(slackMost, part), max(slackLeast, takes))
}

// percent is the GC percentage for a slack.
func (c collector) percent(slack uint64) int {
	return int(min(percentMost, math.Ceil(100*float64(slack)/float64(max(1, c.live+c.roots)))))
}

// differ reports whether one percentage in place of another is worth stopping all
// that runs, which a change does.
func differ(percent, next int) bool {
	return percentPart*max(next-percent, percent-next) > percent
}

// pace is what a worker took, in bytes, by the looks of half a minute, the newest
// first.
type pace [slackLooks]uint64

// takes is what it takes in half a minute, by the looks so far or by this one, which
// took so many.
func (p *pace) takes(took uint64) uint64 {
	copy(p[1:], p[:])
	p[0] = took
	var sum uint64
	for _, look := range p {
		sum += look
	}
	return max(sum, took*burstLooks)
}

// growth is what lived, in bytes, by the looks of two minutes.
type growth struct {
	lived [growthLooks]uint64
	at    int
}

// grows reports whether more and more lives, by this look and the one two minutes
// ago; a worker of less than two minutes grows.
func (g *growth) grows(live uint64) bool {
	before := g.lived[g.at]
	g.lived[g.at] = live
	g.at = (g.at + 1) % len(g.lived)
	return live > before+before/growthPart
}

// calm notices that a worker became less busy.
type calm struct {
	// most is the slack that it had at most since the last time that it did, and
	// last are those of the last looks, in bytes.
	most uint64
	last [calmLooks]uint64
}

// calmLooks is how many looks make a rest.
const calmLooks = 5

// down reports whether the slack stayed at half of the most, or below, and goes down
// no further.
func (c *calm) down(slack uint64) bool {
	copy(c.last[1:], c.last[:])
	c.last[0] = slack
	c.most = max(c.most, slack)
	level := slices.Max(c.last[:])
	if level > c.most/2 || slack < level/4*3 {
		return false
	}
	c.most = level
	return true
}

// readCollector is false where this Go counts otherwise.
func readCollector() (collector, bool) {
	var samples [len(collectorSamples)]runtimemetrics.Sample
	for i, name := range collectorSamples {
		samples[i].Name = name
	}
	runtimemetrics.Read(samples[:])
	for _, sample := range samples {
		if sample.Value.Kind() != runtimemetrics.KindUint64 {
			return collector{}, false
		}
	}
	return collector{
		live: samples[0].Value.Uint64(), allocated: samples[1].Value.Uint64(),
		roots: samples[2].Value.Uint64() + samples[3].Value.Uint64(),
	}, true
}

// tuneCollector keeps the garbage collector's percentage in step with the heap
// until ctx is done, and gives memory back when the worker came to rest. Who sets
// GOGC or GOMEMLIMIT decides himself.
func tuneCollector(ctx context.Context) {
	if os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	last, known := readCollector()
	if !known {
		return
	}
	var pace pace
	var growth growth
	var calm calm
	percent := 100
	for pause(ctx, slackEvery) {
		now, _ := readCollector()
		slack := now.slack(pace.takes(now.allocated-last.allocated), growth.grows(now.live))
		if next := now.percent(slack); differ(percent, next) {
			debug.SetGCPercent(next)
			percent = next
		}
		if calm.down(slack) {
			debug.FreeOSMemory()
		}
		last = now
	}
}
