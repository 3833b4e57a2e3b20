package bench

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/dev/internal/harness"
	"github.com/armature-io/armature/dev/temporaldev"
	"github.com/armature-io/armature/workflows"
)

const (
	// scaledHour is the interval that stands for an hour without a feed, scaledDay the one that
	// stands for a day with a feed. countedHours and countedDays are counted.
	scaledHour, countedHours = time.Minute, 4
	scaledDay, countedDays   = 4 * time.Minute, 2
	// feedTime is how long a feed is counted, at its real interval.
	feedTime = 20 * time.Minute
	// calculatedCount is the number of resources whose day is calculated from the others.
	calculatedCount = 10_000
)

// cost is what a time costs: actions by the server's own counter, and requests to Azure.
type cost struct{ actions, requests float64 }

func (c cost) times(n float64) cost { return cost{c.actions * n, c.requests * n} }

func (c cost) plus(other cost) cost {
	return cost{c.actions + other.actions, c.requests + other.requests}
}

// TestSteadyDay counts the actions and the requests to Azure of a day without changes, with and
// without a feed. A resource's hour and day are scaled; a feed runs at its real interval, for
// itself. Sizes that a machine cannot run are calculated from the largest one that it ran.
func TestSteadyDay(t *testing.T) {
	binaries := requireOnlyPart(t, "day")
	sizes := []int{10, 100, 1000}
	largest := sizes[len(sizes)-1]
	var mu sync.Mutex
	plain, followed := map[int]cost{}, map[int]cost{}
	var feed cost
	measure := func(name string, count int, source, interval string, last time.Duration, record func(cost)) {
		t.Run(name, func(t *testing.T) {
			got := countSteady(t, binaries, count, source, interval, last)
			mu.Lock()
			defer mu.Unlock()
			record(got)
		})
	}
	worlds := func(count int) {
		measure(fmt.Sprintf("%d-plain", count), count, "", scaledHour.String(), countedHours*scaledHour, func(c cost) {
			plain[count] = c.times(24. / countedHours / float64(count))
		})
		measure(fmt.Sprintf("%d-followed", count), count, "resource-graph", scaledDay.String(), countedDays*scaledDay, func(c cost) {
			followed[count] = c
		})
	}
	var running sync.WaitGroup
	running.Go(func() {
		measure("feed", 1, "resource-graph", "24h", feedTime, func(c cost) { feed = c.times(24 * float64(time.Hour) / float64(feedTime)) })
	})
	for _, count := range sizes {
		running.Go(func() { worlds(count) })
	}
	running.Wait()
	if t.Failed() {
		return
	}
	all := figures{"day.feed_actions": feed.actions, "day.feed_requests": feed.requests}
	// The feed of these worlds ran at its real interval beside scaled days.
	beside := feed.times(-countedDays * float64(scaledDay) / float64(24*time.Hour))
	fmt.Println("| resources | actions of each a day, without a feed | with one | requests of each a day, without a feed | with one |\n|---|---|---|---|---|")
	for _, count := range append(sizes, calculatedCount) {
		without, own := plain[min(count, largest)], followed[min(count, largest)].plus(beside).times(1./countedDays/float64(min(count, largest)))
		with := own.plus(feed.times(1 / float64(count)))
		fmt.Printf("| %d | %.1f | %.1f | %.1f | %.1f |\n", count, without.actions, with.actions, without.requests, with.requests)
		prefix := fmt.Sprintf("day.%d.", count)
		all[prefix+"actions"], all[prefix+"actions_with_feed"] = without.actions, with.actions
		all[prefix+"requests"], all[prefix+"requests_with_feed"] = without.requests, with.requests
	}
	all.print(t)
	all.merge(t)
}

// countSteady returns what resources cost for a time once they rest after their creation. Without
// a source there is no feed.
func countSteady(t *testing.T, binaries harness.Binaries, count int, source, interval string, last time.Duration) cost {
	t.Helper()
	soon := armsim.Reporting{MinDelay: time.Second, MaxDelay: time.Second}
	counted := &temporaldev.Actions{}
	w := harness.New(t, binaries, harness.Options{Actions: counted, Simulator: armsim.Options{TimeScale: 1, MaxRequests: 100_000, Changes: armsim.ChangeReports{Graph: soon}}})
	if source == "" {
		w.StartWorker(harness.WorkerOptions{Env: []string{"ARMATURE_PUT_BUDGET=0"}})
	} else {
		feedWorker(w, source, "2m")
	}
	c := identities(count, "reconcile: {interval: "+interval+"}\n")
	send(w, "apply", "-f", c.manifests(w))
	w.Until(10*time.Minute, "all are Ready", func() (bool, string) {
		n := inPhase(w, workflows.PhaseReady)
		return n == count, fmt.Sprintf("%d of %d", n, count)
	})
	if source != "" { // their own creations are reported, and read once more
		w.Until(10*time.Minute, "all creations were read again", func() (bool, string) {
			again := 0
			for i := range count {
				if status, err := w.Status(c.id(i)); err == nil && status.Pass > 1 {
					again++
				}
			}
			return again == count, fmt.Sprintf("%d of %d", again, count)
		})
	}
	writes := w.Sim.Counters().ByMethod[http.MethodPut]
	counted.Reset()
	w.Sim.Reset()
	<-time.After(last)
	// A worker checks its connection by a HEAD each 30 s, with or without a feed.
	got := cost{float64(counted.Sum()), float64(w.Sim.Counters().Total - w.Sim.Counters().ByMethod[http.MethodHead])}
	if n := w.Sim.Counters().ByMethod[http.MethodPut]; n != 0 || writes < count {
		t.Errorf("%d PUTs of the creation and %d after it, want one for each resource and none", writes, n)
	}
	if text := w.CLI("doctor").Out; strings.Contains(text, "error  feed") {
		t.Errorf("the feed does not follow:\n%s", text)
	}
	return got
}
