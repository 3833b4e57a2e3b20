package bench

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/dev/internal/harness"
	"github.com/armature-io/armature/dev/internal/meter"
	"github.com/armature-io/armature/dev/temporaldev"
	"github.com/armature-io/armature/workflows"
)

const (
	// billedCount is the number of resources in most measurements, waitedCount and routesCount
	// in those of commands for many.
	billedCount, waitedCount, routesCount = 20, 100, 100
	// billedInterval is the shortest interval of a manifest, billedTime how long passes are
	// counted.
	billedInterval, billedTime = time.Minute, 4 * time.Minute
)

// bill is what one unit of a measurement costs: actions by the server's own counter, workflow
// tasks, and requests to Temporal without polls.
type bill struct{ actions, tasks, requests float64 }

// bills measures with the programs of one commit.
type bills struct {
	*harness.World
	counted *temporaldev.Actions
	meter   *meter.Proxy
	of      map[string]bill
}

// TestActions prints what Temporal bills for each thing that resources and commands do, with the
// programs of this tree and, if BASE is set, with those of that commit.
func TestActions(t *testing.T) {
	now := requireOnlyPart(t, "actions")
	sides := []struct {
		name     string
		binaries harness.Binaries
	}{{"now", now}}
	if base := os.Getenv(creationsBaseVariable); base != "" {
		before, err := harness.BuildCommit(t.Context(), base, filepath.Join(t.TempDir(), "base"))
		if err != nil {
			t.Fatal(err)
		}
		sides = append(sides, struct {
			name     string
			binaries harness.Binaries
		}{base, before})
	}
	all := figures{}
	fmt.Println("| programs | unit | actions | workflow tasks | requests |\n|---|---|---|---|---|")
	for _, side := range sides {
		t.Run(side.name, func(t *testing.T) {
			for _, play := range []func(*bills){(*bills).lives, (*bills).commands, (*bills).waits, (*bills).routes} {
				b := newBills(t, side.binaries)
				play(b)
				for _, unit := range b.units() {
					cost := b.of[unit]
					fmt.Printf("| %s | %s | %.1f | %.1f | %.1f |\n", side.name, unit, cost.actions, cost.tasks, cost.requests)
					if side.name == "now" {
						all["actions."+strings.ReplaceAll(unit, " ", "_")] = cost.actions
					}
				}
			}
		})
	}
	if !t.Failed() {
		all.merge(t)
	}
}

func newBills(t *testing.T, binaries harness.Binaries) *bills {
	t.Helper()
	counted := &temporaldev.Actions{}
	w := harness.New(t, binaries, harness.Options{Actions: counted, RoundTrip: stormRoundTrip, Simulator: armsim.Options{TimeScale: 60, MaxRequests: 100_000}})
	b := &bills{World: w, counted: counted, meter: w.Meter(), of: map[string]bill{}}
	w.Sim.Call(http.MethodPut, "/resources", map[string]any{"id": billedGroup, "body": map[string]any{"location": "westus2"}}, nil)
	w.StartWorker(harness.WorkerOptions{})
	return b
}

const billedGroup = benchSubscription + "/resourceGroups/billed"

// measure records what run costs, for each of count units. It ends once nothing runs.
func (b *bills) measure(unit string, count float64, run func()) {
	b.T.Helper()
	b.counted.Reset()
	b.meter.Reset()
	run()
	b.settle()
	sent, requests := b.meter.Requests(), 0
	for method, n := range sent {
		if !strings.HasPrefix(method, "Poll") && method != "RecordWorkerHeartbeat" && method != "ShutdownWorker" {
			requests += n
		}
	}
	b.of[unit] = bill{float64(b.counted.Sum()) / count, float64(sent["RespondWorkflowTaskCompleted"]) / count, float64(requests) / count}
}

// settle waits until no action was billed for 3 s.
func (b *bills) settle() {
	b.T.Helper()
	last, since := b.counted.Sum(), time.Now()
	b.Until(time.Minute, "nothing runs any more", func() (bool, string) {
		if now := b.counted.Sum(); now != last {
			last, since = now, time.Now()
		}
		return time.Since(since) > 3*time.Second, fmt.Sprintf("%d actions", last)
	})
}

// units returns the names of what was measured, in the order of the table.
func (b *bills) units() []string {
	var units []string
	for _, unit := range []string{
		"creation", "steady pass", "steady day at 1h", "deletion", "plan", "drift", "get of 500", "apply --wait of 100", "blocked minute",
		"wake and creation", "route of 100",
	} {
		if _, measured := b.of[unit]; measured {
			units = append(units, unit)
		}
	}
	return units
}

// things writes the manifests of resources with names that begin with prefix, and returns the file.
func (b *bills) things(prefix string, count int) string {
	b.T.Helper()
	var documents []string
	for i := range count {
		documents = append(documents, manifest(thingType+"@2024-01-01", fmt.Sprintf("%s%d", prefix, i), billedGroup, `{"location":"westus2","properties":{"size":"small"}}`))
	}
	return b.Write(prefix+".yaml", join(documents))
}

func (b *bills) untilReady(count int) {
	b.T.Helper()
	b.Until(5*time.Minute, fmt.Sprintf("%d are Ready", count), func() (bool, string) {
		n := inPhase(b.World, workflows.PhaseReady)
		return n == count, fmt.Sprintf("%d", n)
	})
}

// lives measures creations, passes in sync and deletions.
func (b *bills) lives() {
	c := crowd{
		count: billedCount, subscriptions: 1, kind: thingType + "@2024-01-01", extraLines: fmt.Sprintf("reconcile: {interval: %s}\n", billedInterval),
		body: func(int) string { return `{"location":"westus2","properties":{"size":"small"}}` },
	}
	file := c.manifests(b.World)
	b.measure("creation", billedCount, func() {
		b.MustCLI("apply", "-f", file)
		b.untilReady(billedCount)
	})
	b.counted.Reset()
	b.meter.Reset()
	b.Sim.Reset()
	<-time.After(billedTime) // the passes of this time are counted
	passes := float64(b.Sim.Counters().ByMethod[http.MethodGet] - b.Sim.Count(http.MethodGet, c.group(0)))
	tasks := b.meter.Requests()["RespondWorkflowTaskCompleted"]
	pass := bill{float64(b.counted.Sum()) / passes, float64(tasks) / passes, 0}
	b.of["steady pass"], b.of["steady day at 1h"] = pass, bill{24 * pass.actions, 24 * pass.tasks, 0}
	b.measure("deletion", billedCount, func() { b.MustCLI("delete", "--with-data", "-f", file, "--yes", "--wait", "--timeout", "4m") })
}

// commands measures commands that read, and one that waits for many.
func (b *bills) commands() {
	file := b.things("read", billedCount)
	b.MustCLI("apply", "-f", file)
	b.untilReady(billedCount)
	b.settle()
	b.measure("plan", billedCount, func() { b.MustCLI("plan", "-f", file) })
	b.measure("drift", billedCount, func() { b.MustCLI("drift") })
	many := b.things("many", waitedCount)
	b.measure("apply --wait of 100", 1, func() { b.MustCLI("apply", "-f", many, "--wait", "--timeout", "4m") })
	b.SeedReady(500, func(i int) string { return fmt.Sprintf("%s/providers/%s/seeded%d", billedGroup, thingType, i) })
	b.measure("get of 500", 1, func() { b.MustCLI("get", "--phase", "Ready") })
}

// waits measures resources that wait for an owner, and what its creation wakes.
func (b *bills) waits() {
	owner := billedGroup + "/providers/Microsoft.Example/Things/owner"
	var documents []string
	for i := range billedCount {
		documents = append(documents, manifest("Microsoft.Example/Things/Parts@2024-01-01", fmt.Sprintf("p%d", i), owner+"@2024-01-01", `{"properties":{"n":1}}`))
	}
	file := b.Write("parts.yaml", join(documents))
	b.MustCLI("apply", "-f", file)
	b.counted.Reset()
	<-time.After(billedTime) // the tries of this time are counted
	b.of["blocked minute"] = bill{actions: float64(b.counted.Sum()) / billedCount / billedTime.Minutes()}
	parent := b.Write("owner.yaml", manifest("Microsoft.Example/Things@2024-01-01", "owner", billedGroup, `{"location":"westus2"}`))
	b.measure("wake and creation", billedCount+1, func() {
		b.MustCLI("apply", "-f", parent)
		b.untilReady(billedCount + 1)
	})
}

// routes measures children of one parent that Azure changes one at a time.
func (b *bills) routes() {
	table := billedGroup + "/providers/Microsoft.Network/routeTables/table"
	b.Sim.Call(http.MethodPut, "/resources", map[string]any{"id": table, "body": map[string]any{"location": "westus2", "properties": map[string]any{}}}, nil)
	var documents []string
	for i := range routesCount {
		documents = append(documents, manifest("Microsoft.Network/routeTables/routes@2024-01-01", fmt.Sprintf("r%d", i), table+"@2024-01-01",
			fmt.Sprintf(`{"properties":{"addressPrefix":"10.%d.0.0/16","nextHopType":"VnetLocal"}}`, i)))
	}
	file := b.Write("routes.yaml", join(documents))
	b.measure("route of 100", routesCount, func() {
		b.MustCLI("apply", "-f", file)
		b.untilReady(routesCount)
	})
	if refused := b.meter.Refused(); len(refused) > 0 {
		b.T.Logf("ResourceExhausted: %v", refused)
	}
}
