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
	"github.com/armature-io/armature/workflows"
)

const (
	benchSubscription = "/subscriptions/11111111-2222-3333-4444-555555555555"
	// wakeWorkers is the number of workers that share the waiting resources.
	wakeWorkers = 3
	// wakeScale is the pace of Azure's time: the operation of a database takes a
	// twelfth of a second.
	wakeScale = 60
	// wakeBlocked is the time for which all wait before the owner becomes Ready.
	wakeBlocked = time.Minute
)

// TestWake measures how soon resources that wait for a Kusto cluster continue once it
// is Ready, for 1, 20 and 200 of them, and their cost while they wait. Each number has
// its own server, simulator and workers; the minute of waiting is common.
func TestWake(t *testing.T) {
	binaries := requirePart(t, "wake")
	all := figures{}
	var groups []waitingDatabases
	for _, count := range []int{1, 20, 200} {
		groups = append(groups, blockDatabases(t, binaries, count))
	}
	measureBlocked(groups, all)
	for _, each := range groups {
		each.measureWake(all)
	}
	all.print(t)
	if !t.Failed() {
		all.merge(t)
	}
}

// waitingDatabases are databases that wait for a cluster, in their own world.
type waitingDatabases struct {
	*harness.World
	cluster   string
	databases []string
}

// prefix returns the beginning of the figures' names.
func (g waitingDatabases) prefix() string { return fmt.Sprintf("wake.%d.", len(g.databases)) }

// blockDatabases creates a cluster, keeps it Updating, and applies databases that wait
// for it.
func blockDatabases(t *testing.T, binaries harness.Binaries, count int) waitingDatabases {
	t.Helper()
	w := harness.New(t, binaries, harness.Options{Simulator: armsim.Options{TimeScale: wakeScale, MaxRequests: 100_000}})
	w.Sim.Call(http.MethodPost, "/operations", armsim.OperationRule{Spec: armsim.OperationSpec{RetryAfter: []float64{60}}}, nil)
	w.Sim.Call(http.MethodPost, "/operations", armsim.OperationRule{Type: "Microsoft.Kusto/clusters", Spec: armsim.OperationSpec{Seconds: 60, RetryAfter: []float64{60}}}, nil)
	for range wakeWorkers {
		w.StartWorker(harness.WorkerOptions{})
	}
	group := benchSubscription + "/resourceGroups/wake"
	g := waitingDatabases{World: w, cluster: group + "/providers/Microsoft.Kusto/clusters/adx"}
	w.Sim.Call(http.MethodPut, "/resources", map[string]any{"id": group, "body": map[string]any{"location": "westus2"}}, nil)
	clusterFile := w.Write("cluster.yaml", manifest("Microsoft.Kusto/clusters@2023-08-15", "adx", group,
		`{"location":"westus2","sku":{"name":"Standard_D13_v2","tier":"Standard","capacity":2}}`))
	send(w, "apply", "-f", clusterFile, "--wait", "--timeout", "60s")

	// The PUT of the cluster itself keeps it Updating.
	w.Sim.Call(http.MethodPost, "/holds", armsim.Hold{ID: g.cluster}, nil)
	w.Sim.Patch(g.cluster, map[string]any{"sku": map[string]any{"capacity": 3}})
	send(w, "reconcile", g.cluster)
	w.UntilPhase(60*time.Second, g.cluster, workflows.PhaseOperating)
	var documents []string
	for i := range count {
		name := fmt.Sprintf("db%d", i)
		documents = append(documents, manifest("Microsoft.Kusto/clusters/databases@2023-08-15", name, g.cluster+"@2023-08-15",
			`{"location":"westus2","kind":"ReadWrite","properties":{"softDeletePeriod":"P30D"}}`))
		g.databases = append(g.databases, g.cluster+"/databases/"+name)
	}
	send(w, "apply", "-f", w.Write("databases.yaml", join(documents)))
	for _, id := range g.databases {
		w.UntilStatus(180*time.Second, id, "is Blocked", func(s workflows.Status) bool { return s.Phase == workflows.PhaseBlocked })
	}
	return g
}

// measureBlocked counts the requests of a minute in which all wait.
func measureBlocked(groups []waitingDatabases, all figures) {
	for _, g := range groups {
		g.Sim.Reset()
	}
	until := time.Now().Add(wakeBlocked)
	groups[0].Until(2*wakeBlocked, "a minute of waiting", func() (bool, string) { return time.Now().After(until), "" })
	for _, g := range groups {
		requests := 0
		for id, methods := range g.Sim.Counters().ByID {
			if strings.Contains(id, "/databases/") {
				for _, n := range methods {
					requests += n
				}
			}
		}
		all[g.prefix()+"blocked.database_requests"] = float64(requests)
		all[g.prefix()+"blocked.owner_gets_per_minute_and_worker"] = float64(g.Sim.Count(http.MethodGet, g.cluster)) / wakeBlocked.Minutes() / wakeWorkers
	}
}

// measureWake lets the cluster become Ready. It measures from the first GET that
// returns this state, by any client, to the PUT of each database.
func (g waitingDatabases) measureWake(all figures) {
	g.T.Helper()
	released := simulatedTime(g.World)
	g.Sim.Call(http.MethodDelete, "/holds", nil, nil)
	for _, id := range append([]string{g.cluster}, g.databases...) {
		g.UntilPhase(300*time.Second, id, workflows.PhaseReady)
	}
	ready := g.readyAt(released)
	var seconds []float64
	puts := map[string]int{}
	for _, r := range g.Sim.Requests("?method=PUT") {
		if strings.Contains(strings.ToLower(r.ID), "/databases/") {
			puts[strings.ToLower(r.ID)]++
			seconds = append(seconds, r.Time.Sub(ready).Seconds()/wakeScale)
		}
	}
	for _, id := range g.databases {
		if n := puts[strings.ToLower(id)]; n != 1 {
			g.T.Errorf("%s has %d PUTs, want 1", id, n)
		}
	}
	slices.Sort(seconds)
	if len(seconds) == 0 {
		g.T.Fatal("nothing was measured")
	}
	if seconds[0] < 0 {
		g.T.Errorf("the first PUT came %.3f s before ARM reported the cluster Ready", -seconds[0])
	}
	all[g.prefix()+"first_seconds"] = seconds[0]
	all[g.prefix()+"median_seconds"] = median(seconds)
	all[g.prefix()+"last_seconds"] = seconds[len(seconds)-1]
}

// simulatedTime returns the time of the simulator.
func simulatedTime(w *harness.World) time.Time {
	var now struct {
		Now time.Time `json:"now"`
	}
	w.Sim.Call(http.MethodGet, "/time", nil, &now)
	return now.Now
}

// readyAt returns the simulated time of the first GET of the cluster after the release
// of the hold.
func (g waitingDatabases) readyAt(released time.Time) time.Time {
	g.T.Helper()
	for _, r := range g.Sim.Requests("?method=GET") {
		if strings.EqualFold(r.ID, g.cluster) && r.Time.After(released) {
			return r.Time
		}
	}
	g.T.Fatal("no GET of the cluster after the release")
	return time.Time{}
}
