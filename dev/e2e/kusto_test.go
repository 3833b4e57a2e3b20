package e2e

import (
	"net/http"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	historypb "go.temporal.io/api/history/v1"

	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/dev/internal/harness"
	"github.com/armature-io/armature/internal/payload"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
)

const (
	// ownerMaxAge is how long the reading of an owner serves its children.
	ownerMaxAge = 30 * time.Second
	// screen is how many lines of describe fit one screen.
	screen = 40
	// summaryMax is what the Web UI shows of a timer's summary, in runes.
	summaryMax = 120
)

// kusto is a cluster with three databases, the first with a drift in its past.
type kusto struct {
	*harness.World
	databases []string
	// manifests are the files of the examples.
	manifests []string
}

// TestKustoClusterUpdating checks the central promise of the product: while the
// cluster is Updating its databases get no request, each shows why it waits, and all
// become Ready afterwards without a command.
func TestKustoClusterUpdating(t *testing.T) {
	t.Parallel()
	k := startKusto(t)
	started := time.Now()
	k.Sim.Reset()
	k.MustCLI("reconcile", demoDatabase)
	k.apply()
	for _, id := range k.databases {
		k.blocked(id, `Owning cluster is in provisioning state "Updating"`)
		k.timersSay(id, `ReconciliationBlocked: Owning cluster is in provisioning state "Updating"; try `)
	}
	k.untouched(started)
	k.onOneScreen(demoDatabase)

	k.Sim.Call(http.MethodDelete, "/holds", nil, nil)
	for _, id := range append([]string{demoCluster}, k.databases...) {
		k.UntilPhase(90*time.Second, id, workflows.PhaseReady)
	}
	if puts := k.Sim.Count(http.MethodPut, demoDatabase); puts != 0 {
		t.Errorf("the database that is in sync got %d PUTs", puts)
	}
	k.stopped()
}

// startKusto makes the cluster and one database Ready, then the cluster Updating.
func startKusto(t *testing.T) kusto {
	t.Helper()
	k := kusto{World: harness.New(t, binaries, harness.Options{Simulator: armsim.Options{TimeScale: 600}})}
	quickPolls(k.World)
	k.StartWorker(harness.WorkerOptions{})
	for _, name := range []string{"01-group.yaml", "04-kusto-cluster.yaml", "05-kusto-databases.yaml"} {
		k.manifests = append(k.manifests, "-f", filepath.Join(examplesFolder(t), name))
	}
	for _, name := range []string{"telemetry", "audit", "traces"} {
		k.databases = append(k.databases, demoCluster+"/databases/"+name)
	}
	k.MustCLI(append([]string{"apply", "--wait", "--timeout", "60s"}, k.manifests[:4]...)...)
	k.MustCLI("apply", "-f", k.Write("telemetry.yaml", `type: Microsoft.Kusto/clusters/databases@2023-08-15
name: telemetry
owner: `+demoCluster+`
body: {location: westus2, kind: ReadWrite, properties: {softDeletePeriod: P30D, hotCachePeriod: P7D}}
labels: {stack: demo}
`), "--wait", "--timeout", "60s")
	k.Sim.Patch(demoDatabase, map[string]any{"properties": map[string]any{"softDeletePeriod": "P1D"}})
	k.MustCLI("reconcile", demoDatabase, "--wait", "--timeout", "60s")
	// A late sweep would notify the databases of a change that they do not know.
	k.UntilWoken(demoCluster)
	k.holdUpdate()
	return k
}

func (k kusto) apply() {
	k.T.Helper()
	k.MustCLI(append([]string{"apply"}, k.manifests...)...)
}

// holdUpdate makes the cluster drift, so that it is PUT, and holds the operation.
func (k kusto) holdUpdate() {
	k.T.Helper()
	k.Sim.Call(http.MethodPost, "/holds", armsim.Hold{ID: demoCluster}, nil)
	k.Sim.Patch(demoCluster, map[string]any{"sku": map[string]any{"capacity": 3}})
	k.MustCLI("reconcile", demoCluster)
	k.UntilPhase(30*time.Second, demoCluster, workflows.PhaseOperating)
	k.Until(30*time.Second, "the cluster is Updating", func() (bool, string) {
		now := stored(k.World, demoCluster)
		return len(now) == 1 && now[0].State == "Updating", now[0].State
	})
}

// blocked waits until a database was blocked twice, for the reason given.
func (k kusto) blocked(id, message string) {
	k.T.Helper()
	status := k.UntilStatus(60*time.Second, id, "is blocked", func(s workflows.Status) bool {
		return s.Phase == workflows.PhaseBlocked && s.Attempts >= 2
	})
	if status.Condition.Reason != resource.ReasonReconciliationBlocked || !strings.HasPrefix(status.Condition.Message, message) {
		k.T.Errorf("%s: %s: %s; want ReconciliationBlocked: %s", id, status.Condition.Reason, status.Condition.Message, message)
	}
	if len(status.WaitingFor) != 1 || !strings.EqualFold(status.WaitingFor[0].String(), demoCluster) || status.NextTry.IsZero() {
		k.T.Errorf("%s waits for %v, next try %v; want the cluster and a time", id, status.WaitingFor, status.NextTry)
	}
}

// timersSay looks for the reason on the timers of a history, as the Web UI shows
// it.
func (k kusto) timersSay(id, prefix string) {
	k.T.Helper()
	var summaries []string
	for _, event := range k.History(id).GetEvents() {
		if _, timer := event.GetAttributes().(*historypb.HistoryEvent_TimerStartedEventAttributes); !timer {
			continue
		}
		var summary string
		if err := payload.DataConverter().FromPayload(event.GetUserMetadata().GetSummary(), &summary); err != nil {
			k.T.Fatalf("%s: timer %d has no summary: %v", id, event.GetEventId(), err)
		}
		summaries = append(summaries, summary)
		if utf8.RuneCountInString(summary) > summaryMax {
			k.T.Errorf("%s: the summary %q is longer than %d runes", id, summary, summaryMax)
		}
	}
	if !slices.ContainsFunc(summaries, func(summary string) bool { return strings.HasPrefix(summary, prefix) }) {
		k.T.Errorf("%s: no timer begins with %q: %q", id, prefix, summaries)
	}
}

// untouched checks that no database got a request, and the cluster at most one GET
// every 30 s for all of them together.
func (k kusto) untouched(since time.Time) {
	k.T.Helper()
	counters := k.Sim.Counters()
	// A pass that a user requested uses no reading from before the request.
	most := len(k.databases) + int(time.Since(since)/ownerMaxAge)
	for id, requests := range counters.ByID {
		if strings.Contains(id, "/databases/") {
			k.T.Errorf("the blocked %s got requests: %v", id, requests)
		}
	}
	cluster := counters.ByID[strings.ToLower(demoCluster)]
	if cluster[http.MethodGet] > most || cluster[http.MethodPut] != 0 {
		k.T.Errorf("the cluster got %v, want at most %d GETs, one for each request of a user about its three databases", cluster, most)
	}
}

// onOneScreen checks that describe shows what an operator on call needs.
func (k kusto) onOneScreen(id string) {
	k.T.Helper()
	page := k.MustCLI("describe", id)
	if lines := strings.Count(page.Out, "\n"); lines > screen {
		k.T.Errorf("describe takes %d lines, want %d at most:\n%s", lines, screen, page)
	}
	for what, pattern := range map[string]string{
		"condition and since when": `(?m)^Ready +False  (Warning|Info)  ReconciliationBlocked  since \d\d:\d\d:\d\dZ \(.* ago\)$`,
		"the verdict in words":     `Owning cluster is in provisioning state "Updating"`,
		"resource it waits for":    `(?m)^Waiting for +.*adx.*  since \d\d:\d\d:\d\dZ `,
		"the next try":             `(?m)^Next try +(in |now|due).*\(.*\d\d:\d\d:\d\dZ\); tried \d+ times? so far$`,
		"the last differences":     `properties\.softDeletePeriod: "P1D" -> "P30D"`,
		"a decision with its time": `(?m)^ +\d\d:\d\d:\d\dZ pass \d+ CheckOwner Block ReconciliationBlocked: Owning cluster`,
	} {
		if !regexp.MustCompile(pattern).MatchString(page.Out) {
			k.T.Errorf("describe does not show %s (%s):\n%s", what, pattern, page)
		}
	}
}

// stopped checks that a stopped cluster blocks its databases too, although its
// provisioning state is Succeeded.
func (k kusto) stopped() {
	k.T.Helper()
	k.Sim.Call(http.MethodPut, "/state", map[string]any{
		"id": demoCluster, "provisioningState": "Succeeded", "properties": map[string]any{"state": "Stopped"},
	}, nil)
	// The pass of the cluster invalidates the owner cache of its children.
	k.MustCLI("reconcile", demoCluster, "--wait", "--timeout", "30s")
	k.Sim.Reset()
	started := time.Now()
	k.MustCLI("reconcile", demoDatabase)
	k.blocked(demoDatabase, `Owning cluster is in state "Stopped"`)
	k.untouched(started)
}
