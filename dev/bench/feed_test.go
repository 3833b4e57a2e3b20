package bench

import (
	"fmt"
	"math/rand"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/dev/internal/harness"
	"github.com/armature-io/armature/workflows"
)

const (
	// feedCount is the number of resources, feedChanges of which change one after the other.
	feedCount, feedChanges = 2000, 20
	// feedDelay is how long after a change Azure reports it.
	feedDelay = time.Second
)

// feedWorker starts a worker that follows a source.
func feedWorker(w *harness.World, source, interval string) *harness.Worker {
	env := []string{"ARMATURE_FEED_SOURCE=" + source, "ARMATURE_FEED_INTERVAL=" + interval, "ARMATURE_REREAD_WINDOW=5s", "ARMATURE_PUT_BUDGET=0"}
	if source == "queue" {
		w.Sim.Call(http.MethodPost, "/queues", map[string]any{"account": "account", "queue": "changes"}, nil)
		env = append(env, "ARMATURE_FEED_QUEUE="+w.Sim.URL()+"/_queue/account/changes")
	}
	return w.StartWorker(harness.WorkerOptions{Env: env})
}

// identities is a crowd of a type of which both sources report every change.
func identities(count int, extraLines string) crowd {
	return crowd{
		count: count, subscriptions: 4, kind: "Microsoft.ManagedIdentity/userAssignedIdentities@2023-01-31", extraLines: extraLines,
		body: func(int) string { return `{"location":"westus2","tags":{"purpose":"bench"}}` },
	}
}

// changeAs changes a resource as a user does in the portal.
func changeAs(w *harness.World, name, id, purpose string) {
	w.Sim.Call(http.MethodPatch, "/resources", map[string]any{
		"id": id, "patch": map[string]any{"tags": map[string]any{"purpose": purpose}},
		"by": armsim.Author{Name: name, Type: "User", Client: "Azure Portal"},
	}, nil)
}

// TestFeed measures, for both sources, the time from Azure's report of a change to the verdict
// that names its author, with 2,000 resources, and how many GETs their own creations cost in all.
func TestFeed(t *testing.T) {
	binaries := requireOnlyPart(t, "feed")
	all := figures{}
	for _, source := range []string{"resource-graph", "queue"} {
		t.Run(source, func(t *testing.T) {
			exact := armsim.Reporting{MinDelay: feedDelay, MaxDelay: feedDelay}
			w := harness.New(t, binaries, harness.Options{Simulator: armsim.Options{TimeScale: 1, MaxRequests: 100_000, Changes: armsim.ChangeReports{Graph: exact, Events: exact}}})
			feedWorker(w, source, "2s")
			c := identities(feedCount, "")
			send(w, "apply", "-f", c.manifests(w))
			w.Until(10*time.Minute, "all are Ready", func() (bool, string) {
				n := inPhase(w, workflows.PhaseReady)
				return n == feedCount, fmt.Sprintf("%d of %d", n, feedCount)
			})
			reads := restingReads(w)
			prefix := "feed." + strings.ReplaceAll(source, "-", "_")
			all[prefix+".gets_per_creation"] = float64(reads) / feedCount
			var took []float64
			for i := range feedChanges {
				id := c.id(i * feedCount / feedChanges)
				changeAs(w, "alice@contoso.com", id, "mine")
				reported := time.Now().Add(feedDelay)
				verdict := untilAuthor(w, id, "changed by alice@contoso.com with Azure Portal")
				took = append(took, verdict.Sub(reported).Seconds())
			}
			slices.Sort(took)
			all[prefix+".report_to_verdict_median_seconds"] = median(took)
			all[prefix+".report_to_verdict_worst_seconds"] = took[len(took)-1]
		})
	}
	all.print(t)
	if !t.Failed() {
		all.merge(t)
	}
}

// restingReads returns the number of GETs once none is sent for longer than a source, the worker
// and a reread window take.
func restingReads(w *harness.World) int {
	w.T.Helper()
	count := func() int {
		return len(w.Sim.Requests("?method=GET&type=Microsoft.ManagedIdentity/userAssignedIdentities"))
	}
	last, since := count(), time.Now()
	w.Until(10*time.Minute, "no GET is sent for 15 s", func() (bool, string) {
		if n := count(); n != last {
			last, since = n, time.Now()
		}
		return time.Since(since) > 15*time.Second, fmt.Sprint(last, " GETs")
	})
	return last
}

// untilAuthor waits for a decision with a text, and returns its time.
func untilAuthor(w *harness.World, id, text string) time.Time {
	w.T.Helper()
	var at time.Time
	w.UntilStatus(2*time.Minute, id, "names the author", func(status workflows.Status) bool {
		for _, decision := range status.Decisions {
			if strings.Contains(decision.Message, text) {
				at = decision.At
				return true
			}
		}
		return false
	})
	return at
}

const (
	// lossyCount resources change once each in the lossy world, whose worker is killed every
	// lossyKill, and whose reports come up to lossyDelay later.
	lossyCount = 60
	lossyKill  = 20 * time.Second
	lossyDelay = 10 * time.Minute
)

// TestLossyFeed changes each resource once while a tenth of the reports are lost and a tenth
// doubled, the others come in any order and up to ten minutes late, and the worker is killed every
// 20 s: each change is corrected exactly once. The interval of a minute finds what no report tells
// in time.
func TestLossyFeed(t *testing.T) {
	binaries := requireOnlyPart(t, "feed")
	for _, source := range []string{"resource-graph", "queue"} {
		t.Run(source, func(t *testing.T) {
			t.Parallel()
			lossy := armsim.Reporting{MinDelay: time.Second, MaxDelay: lossyDelay, Lost: 0.1, Doubled: 0.1, Shuffled: 0.5}
			w := harness.New(t, binaries, harness.Options{Simulator: armsim.Options{TimeScale: 1, MaxRequests: 100_000, Changes: armsim.ChangeReports{Graph: lossy, Events: lossy}}})
			worker := feedWorker(w, source, "2s")
			c := identities(lossyCount, "reconcile: {interval: 1m}\n")
			send(w, "apply", "-f", c.manifests(w))
			w.Until(5*time.Minute, "all are Ready", func() (bool, string) {
				n := inPhase(w, workflows.PhaseReady)
				return n == lossyCount, fmt.Sprintf("%d of %d", n, lossyCount)
			})
			kills := 0
			killed := time.Now()
			for _, i := range rand.New(rand.NewSource(1)).Perm(lossyCount) {
				changeAs(w, "alice@contoso.com", c.id(i), "mine")
				<-time.After(time.Second)
				if time.Since(killed) > lossyKill {
					worker.Kill()
					kills++
					worker, killed = feedWorker(w, source, "2s"), time.Now()
				}
			}
			w.Until(5*time.Minute, "each change is corrected", func() (bool, string) {
				open := 0
				for i := range lossyCount {
					if w.Sim.Count(http.MethodPut, c.id(i)) < 2 {
						open++
					}
				}
				return open == 0, fmt.Sprintf("%d are open", open)
			})
			changed := time.Now()
			w.Until(2*lossyDelay, "the last report came", func() (bool, string) { return time.Since(changed) > lossyDelay, "" })
			anotherRound(w)
			for i := range lossyCount {
				if n := w.Sim.Count(http.MethodPut, c.id(i)); n != 2 {
					t.Errorf("%d PUTs of %s, want the creation and one correction", n, c.id(i))
				}
			}
			t.Logf("%s: %d changes, %d kills, each corrected once", source, lossyCount, kills)
		})
	}
}

// anotherRound lets the last reports and a round of routine passes happen.
func anotherRound(w *harness.World) {
	w.T.Helper()
	begin := w.Sim.Counters().Total
	w.Until(5*time.Minute, "all resources were read twice again", func() (bool, string) {
		n := w.Sim.Counters().Total - begin
		return n >= 2*lossyCount, fmt.Sprint(n, " requests")
	})
}
