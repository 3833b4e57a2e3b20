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
	// wakeWorkers is how many workers share the waiters.
	wakeWorkers = 3
	// wakeScale is Azure's time: with it the operation of a database takes a
	// twelfth of a second.
	wakeScale = 60
	// wakeBlocked is how long all wait before the owner becomes Ready.
	wakeBlocked = time.Minute
)

// TestWake measures how soon those who wait for a Kusto cluster go on once it is
// Ready, for 1, 20 and 200 of them, and what they cost while they wait.
func TestWake(t *testing.T) {
	binaries := part(t, "wake")
	all := figures{}
	for _, count := range []int{1, 20, 200} {
		t.Run(fmt.Sprint(count), func(t *testing.T) { measureWake(t, binaries, count, all) })
	}
	all.print(t)
	if !t.Failed() {
		all.merge(t)
	}
}

func measureWake(t *testing.T, binaries harness.Binaries, count int, all figures) {
	w := harness.New(t, binaries, harness.Options{Simulator: armsim.Options{TimeScale: wakeScale, MaxRequests: 100_000}})
	w.Sim.Call(http.MethodPost, "/operations", armsim.OperationRule{Spec: armsim.OperationSpec{RetryAfter: []float64{60}}}, nil)
	w.Sim.Call(http.MethodPost, "/operations", armsim.OperationRule{Type: "Microsoft.Kusto/clusters", Spec: armsim.OperationSpec{Seconds: 60, RetryAfter: []float64{60}}}, nil)
	for range wakeWorkers {
		w.StartWorker(harness.WorkerOptions{})
	}
	group := benchSubscription + "/resourceGroups/wake"
	cluster := group + "/providers/Microsoft.Kusto/clusters/adx"
	w.Sim.Call(http.MethodPut, "/resources", map[string]any{"id": group, "body": map[string]any{"location": "westus2"}}, nil)
	clusterFile := w.Write("cluster.yaml", manifest("Microsoft.Kusto/clusters@2023-08-15", "adx", group,
		`{"location":"westus2","sku":{"name":"Standard_D13_v2","tier":"Standard","capacity":2}}`))
	send(w, "apply", "-f", clusterFile, "--wait", "--timeout", "60s")

	// The cluster's own PUT keeps it Updating.
	w.Sim.Call(http.MethodPost, "/holds", armsim.Hold{ID: cluster}, nil)
	w.Sim.Patch(cluster, map[string]any{"sku": map[string]any{"capacity": 3}})
	send(w, "reconcile", cluster)
	w.UntilPhase(60*time.Second, cluster, workflows.PhaseOperating)
	var documents, databases []string
	for i := range count {
		name := fmt.Sprintf("db%d", i)
		documents = append(documents, manifest("Microsoft.Kusto/clusters/databases@2023-08-15", name, cluster+"@2023-08-15",
			`{"location":"westus2","kind":"ReadWrite","properties":{"softDeletePeriod":"P30D"}}`))
		databases = append(databases, cluster+"/databases/"+name)
	}
	send(w, "apply", "-f", w.Write("databases.yaml", join(documents)))
	for _, id := range databases {
		w.UntilStatus(180*time.Second, id, "waits", func(s workflows.Status) bool { return s.Phase == workflows.PhaseBlocked })
	}
	prefix := fmt.Sprintf("wake.%d.", count)
	whileBlocked(w, cluster, prefix, all)
	w.Sim.Call(http.MethodDelete, "/holds", nil, nil)
	for _, id := range append([]string{cluster}, databases...) {
		w.UntilPhase(300*time.Second, id, workflows.PhaseReady)
	}
	afterReady(w, cluster, databases, prefix, all)
}

// whileBlocked counts the requests of a minute in which all wait.
func whileBlocked(w *harness.World, cluster, prefix string, all figures) {
	w.T.Helper()
	w.Sim.Reset()
	until := time.Now().Add(wakeBlocked)
	w.Until(2*wakeBlocked, "a minute of waiting", func() (bool, string) { return time.Now().After(until), "" })
	requests := 0
	for id, methods := range w.Sim.Counters().ByID {
		if strings.Contains(id, "/databases/") {
			for _, n := range methods {
				requests += n
			}
		}
	}
	all[prefix+"blocked.database_requests"] = float64(requests)
	all[prefix+"blocked.owner_gets_per_minute_and_worker"] = float64(w.Sim.Count(http.MethodGet, cluster)) / wakeBlocked.Minutes() / wakeWorkers
}

// afterReady measures from the moment at which the cluster's workflow says Ready
// to the PUT of each database.
func afterReady(w *harness.World, cluster string, databases []string, prefix string, all figures) {
	w.T.Helper()
	status, err := w.Status(cluster)
	if err != nil {
		w.T.Fatal(err)
	}
	ready := readyAt(w, cluster)
	var seconds []float64
	puts := map[string]int{}
	for _, r := range w.Sim.Requests("?method=PUT") {
		if strings.Contains(strings.ToLower(r.ID), "/databases/") {
			puts[strings.ToLower(r.ID)]++
			seconds = append(seconds, realTime(w, r.Time).Sub(ready).Seconds())
		}
	}
	for _, id := range databases {
		if n := puts[strings.ToLower(id)]; n != 1 {
			w.T.Errorf("%s got %d PUTs, want one", id, n)
		}
	}
	slices.Sort(seconds)
	if len(seconds) == 0 || !status.Condition.Ready {
		w.T.Fatalf("nothing was measured: %+v", status)
	}
	all[prefix+"first_seconds"] = seconds[0]
	all[prefix+"median_seconds"] = middle(seconds)
	all[prefix+"last_seconds"] = seconds[len(seconds)-1]
}

// realTime is the real time of a moment of Azure's.
func realTime(w *harness.World, at time.Time) time.Time {
	w.T.Helper()
	var now struct {
		Now   time.Time `json:"now"`
		Scale float64   `json:"scale"`
	}
	before := time.Now()
	w.Sim.Call(http.MethodGet, "/time", nil, &now)
	return before.Add(-time.Duration(float64(now.Now.Sub(at)) / now.Scale))
}

// readyAt is when the cluster's last wake began: in the workflow task in which
// its pass ended Ready.
func readyAt(w *harness.World, cluster string) time.Time {
	w.T.Helper()
	var at time.Time
	for _, event := range w.History(cluster).GetEvents() {
		if event.GetActivityTaskScheduledEventAttributes().GetActivityType().GetName() == "WakeDependents" {
			at = event.GetEventTime().AsTime()
		}
	}
	if at.IsZero() {
		w.T.Fatalf("the cluster woke nobody:\n%s", w.HistoryLines(cluster))
	}
	return at
}
