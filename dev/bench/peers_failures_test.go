package bench

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/dev/internal/harness"
)

const (
	// troubleCount is the number of resources.
	troubleCount = 100
	// killAfter is the number of writes after which the worker is killed.
	killAfter = 50
	// budgetShare is the available share of ARM's published budget.
	budgetShare = 0.2
	// heldCount is the number of databases that wait for a cluster.
	heldCount = 20
)

// measureKilled kills the worker in the middle of creations, as kill -9 does, and again
// when all are Ready, and counts the writes that the next worker repeats. With a
// latency the PUT takes effect at once and its response is late, so that the worker
// dies before reading it.
func measureKilled(t *testing.T, binaries harness.Binaries, latency time.Duration, all figures) {
	prefix := "peers.killed."
	if latency > 0 {
		prefix = fmt.Sprintf("peers.killed_%dms.", latency.Milliseconds())
	}
	p := newPeers(t, binaries, troubleCount, peersSubscriptions, prefix, all)
	if latency > 0 {
		p.Sim.Call(http.MethodPost, "/faults", armsim.Fault{On: "any", Applied: true, DelayMs: int(latency.Milliseconds())}, nil)
	}
	file := p.manifests(p.World)
	p.Sim.Reset()
	p.MustCLI("apply", "-f", file)
	p.Until(peersLimit, "half of them are written", func() (bool, string) {
		n := len(p.Sim.Counters().Writes)
		return n >= killAfter, fmt.Sprintf("%d written", n)
	})
	p.killWorker()
	all[prefix+"written_before"] = float64(len(p.Sim.Counters().Writes))
	begun := time.Now()
	p.untilReady()
	all[prefix+"ready_seconds_after"] = time.Since(begun).Seconds()
	all[prefix+"written_twice"] = float64(repeatedWrites(p.Sim.Counters()))

	p.Sim.Reset()
	p.killWorker()
	p.MustCLI("reconcile", "-l", "stack=crowd", "--wait", "--timeout", peersLimit.String())
	counters := p.Sim.Counters()
	all[prefix+"restart_requests"] = float64(requestCount(counters)) / troubleCount
	all[prefix+"restart_puts"] = float64(counters.ByMethod[http.MethodPut])
}

// killWorker kills the worker and starts another one.
func (s *testbed) killWorker() {
	s.T.Helper()
	s.worker.Kill()
	s.worker = s.StartWorker(harness.WorkerOptions{})
}

// measureThrottled creates resources of one subscription with a share of ARM's budget.
func measureThrottled(t *testing.T, binaries harness.Binaries, all figures) {
	const prefix = "peers.throttled."
	p := newPeers(t, binaries, troubleCount, 1, prefix, all)
	file := p.manifests(p.World)
	throttle := armsim.ARMThrottle()
	for _, bucket := range []*armsim.Bucket{&throttle.Reads, &throttle.Writes, &throttle.Deletes} {
		bucket.Capacity *= budgetShare
		bucket.RefillPerSecond *= budgetShare
	}
	p.Sim.Call(http.MethodPut, "/throttle", throttle, nil)
	p.create(file)
	all[prefix+"answers_429"] = float64(p.Sim.Counters().ByStatus[http.StatusTooManyRequests])
}

// heldCluster is an unmanaged cluster that stays Updating, and the databases that wait
// for it.
type heldCluster struct {
	*testbed
	cluster, prefix string
	hold            time.Duration
	databases       []string
}

// measureHeld measures how soon databases are created after an external change of their
// cluster ended: after 70 s, and after 300 s.
func measureHeld(t *testing.T, binaries harness.Binaries, all figures) {
	s := newPeersTestbed(t, binaries)
	begun := time.Now()
	groups := []*heldCluster{newHeldCluster(s, "70s", 70*time.Second), newHeldCluster(s, "300s", 300*time.Second)}
	for _, each := range groups {
		each.measure(begun, all)
	}
}

func newHeldCluster(s *testbed, name string, hold time.Duration) *heldCluster {
	s.T.Helper()
	group := benchSubscription + "/resourceGroups/held"
	h := &heldCluster{testbed: s, cluster: group + "/providers/Microsoft.Kusto/clusters/" + name, prefix: "peers.held_" + name + ".", hold: hold}
	s.Sim.Call(http.MethodPut, "/resources", map[string]any{"id": group, "body": map[string]any{"location": "westus2"}}, nil)
	s.Sim.Call(http.MethodPut, "/resources", map[string]any{"id": h.cluster, "body": map[string]any{
		"location": "westus2", "sku": map[string]any{"name": "Standard_D13_v2", "tier": "Standard", "capacity": 2}, "properties": map[string]any{"state": "Running"},
	}}, nil)
	h.state("Updating")
	var documents []string
	for i := range heldCount {
		database := fmt.Sprintf("db%d", i)
		documents = append(documents, manifest("Microsoft.Kusto/clusters/databases@2023-08-15", database, h.cluster+"@2023-08-15",
			`{"location":"westus2","kind":"ReadWrite","properties":{"softDeletePeriod":"P30D"}}`))
		h.databases = append(h.databases, strings.ToLower(h.cluster+"/databases/"+database))
	}
	send(s.World, "apply", "-f", s.Write(name+".yaml", join(documents)))
	return h
}

func (h *heldCluster) state(word string) {
	h.Sim.Call(http.MethodPut, "/state", map[string]any{"id": h.cluster, "provisioningState": word}, nil)
}

// putTimes returns the times of the databases' PUTs, in simulated time, which has the
// pace of real time here.
func (h *heldCluster) putTimes() []time.Time {
	var times []time.Time
	for _, r := range h.Sim.Requests("?method=PUT") {
		if slices.Contains(h.databases, strings.ToLower(r.ID)) {
			times = append(times, r.Time)
		}
	}
	return times
}

// measure ends the hold of the cluster when its time is over.
func (h *heldCluster) measure(begun time.Time, all figures) {
	h.T.Helper()
	h.Until(2*h.hold, "the hold is over", func() (bool, string) { return time.Since(begun) >= h.hold, "" })
	all[h.prefix+"cluster_gets"] = float64(h.Sim.Count(http.MethodGet, h.cluster))
	if n := len(h.putTimes()); n != 0 {
		h.T.Errorf("%d PUTs while the cluster is Updating, want none", n)
	}
	released := simulatedTime(h.World)
	h.state("Succeeded")
	h.Until(peersLimit, "each database has its PUT", func() (bool, string) {
		n := len(h.putTimes())
		return n >= heldCount, fmt.Sprintf("%d PUTs", n)
	})
	times := h.putTimes()
	all[h.prefix+"first_put_seconds"] = times[0].Sub(released).Seconds()
	all[h.prefix+"last_put_seconds"] = times[len(times)-1].Sub(released).Seconds()
}
