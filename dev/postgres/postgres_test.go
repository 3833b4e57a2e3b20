package postgres

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
)

const (
	subscription = "/subscriptions/11111111-2222-3333-4444-555555555555"
	demoGroup    = subscription + "/resourceGroups/armature-demo"
	demoCluster  = demoGroup + "/providers/Microsoft.Kusto/clusters/adx"
	demoDatabase = demoCluster + "/databases/telemetry"
	blockedBy    = `Owning cluster is in provisioning state "Updating"`
)

// TestPostgres plays one story on Temporal with PostgreSQL; each part needs the
// one before it.
func TestPostgres(t *testing.T) {
	g := start(t)
	for _, part := range []struct {
		name string
		play func(ground)
		// kills is set where processes are killed: not on joined servers.
		kills bool
	}{
		{"up again", ground.upAgain, true},
		{"services", ground.services, true},
		{"setup", ground.setup, true},
		{"apply", ground.apply, false},
		{"search attributes", ground.searchAttributes, false},
		{"300 characters", ground.longIDs, false},
		{"block", ground.block, false},
		{"restart", ground.restart, true},
		{"continue", ground.continues, false},
		{"metrics", ground.metrics, true},
		{"delete", ground.delete, false},
		{"lists", ground.lists, true},
	} {
		ok := t.Run(part.name, func(t *testing.T) {
			if part.kills && g.stack == nil {
				t.Skipf("%s names servers that this test may not touch: make test-postgres without it runs this part", joinVariable)
			}
			part.play(g.on(t))
		})
		if !ok {
			return
		}
	}
}

// upAgain runs the jobs a second time, as docker compose up does.
func (g ground) upAgain() {
	g.stack.Kill("temporal-schema", "temporal-namespace")
	if err := g.stack.Up(g.T.Context(), "temporal-schema", "temporal-namespace"); err != nil {
		g.T.Fatalf("a second docker compose up fails: %v", err)
	}
}

// examples returns the folder examples/ of the product.
func (g ground) examples() string { return filepath.Join(built.root, "examples") }

// apply takes the examples from nothing to Ready.
func (g ground) apply() {
	g.Sim.Call(http.MethodPut, "/time", map[string]any{"scale": 600}, nil)
	// For most types Azure returns no Retry-After, and Armature then polls every 15 s.
	g.Sim.Call(http.MethodPost, "/operations", armsim.OperationRule{Spec: armsim.OperationSpec{RetryAfter: []float64{60}}}, nil)
	g.MustCLI("apply", "-f", g.examples(), "--wait", "--timeout", "180s")
	g.Sim.Reset()
	g.MustCLI("reconcile", "-l", "stack=demo", "--wait", "--timeout", "60s")
	if puts := g.Sim.Counters().ByMethod[http.MethodPut]; puts != 0 {
		g.T.Errorf("a pass in sync made %d PUTs", puts)
	}
}

// block checks that the databases wait while the cluster is Updating, and show why.
func (g ground) block() {
	g.Sim.Call(http.MethodPost, "/holds", armsim.Hold{ID: demoCluster}, nil)
	g.Sim.Patch(demoCluster, map[string]any{"sku": map[string]any{"capacity": 3}})
	g.MustCLI("reconcile", demoCluster)
	g.UntilPhase(30*time.Second, demoCluster, workflows.PhaseOperating)
	g.Until(30*time.Second, "the cluster is Updating", func() (bool, string) {
		var now []armsim.StoredResource
		g.Sim.Call(http.MethodGet, "/resources?id="+demoCluster, nil, &now)
		return len(now) == 1 && now[0].State == "Updating", fmt.Sprint(now)
	})
	g.Sim.Patch(demoDatabase, map[string]any{"properties": map[string]any{"softDeletePeriod": "P1D"}})
	g.Sim.Reset()
	g.MustCLI("reconcile", demoDatabase)
	// A worker that read the cluster just before uses that reading for 30 s, and is
	// refused by ARM instead (Conflict).
	status := g.UntilStatus(90*time.Second, demoDatabase, "is blocked", func(s workflows.Status) bool {
		return s.Phase == workflows.PhaseBlocked && s.Attempts >= 2 && s.Condition.Reason == resource.ReasonReconciliationBlocked
	})
	if !strings.HasPrefix(status.Condition.Message, blockedBy) {
		g.T.Errorf("%s: %s; want %s", status.Condition.Reason, status.Condition.Message, blockedBy)
	}
	if puts := g.accepted(demoDatabase); puts != 0 {
		g.T.Errorf("the blocked database got %d PUTs", puts)
	}
	if lines := g.HistoryLines(demoDatabase); !strings.Contains(lines, blockedBy) {
		g.T.Errorf("the history does not show why:\n%s", lines)
	}
	g.Until(20*time.Second, "the list shows why", func() (bool, string) {
		list := g.MustCLI("get", "--phase", "Blocked").Out
		return strings.Contains(list, "telemetry") && strings.Contains(list, string(resource.ReasonReconciliationBlocked)), list
	})
	if why := g.CLI("why", demoDatabase); !strings.Contains(why.Out, "adx") {
		g.T.Errorf("why does not name the cluster:\n%s", why)
	}
}

// accepted returns the number of PUTs of a resource that ARM accepted.
func (g ground) accepted(id string) int {
	g.T.Helper()
	count := 0
	for _, request := range g.Sim.Requests("?method=PUT") {
		if strings.EqualFold(request.ID, id) && request.Status < http.StatusBadRequest {
			count++
		}
	}
	return count
}

// restart kills Temporal, the workers and PostgreSQL while an operation is in
// flight and a database is blocked, and starts all of them again.
func (g ground) restart() {
	g.stack.Kill("temporal", "worker", "postgresql")
	if list := g.CLI("get"); list.Code != 3 {
		g.T.Errorf("want exit code 3 while Temporal is down: %s", list)
	}
	ctx, cancel := context.WithTimeout(g.T.Context(), setUp)
	defer cancel()
	if err := g.stack.Up(ctx, "postgresql", "temporal", "worker"); err != nil {
		g.T.Fatal(err)
	}
	g.UntilStatus(90*time.Second, demoDatabase, "is still blocked", func(s workflows.Status) bool {
		return s.Phase == workflows.PhaseBlocked && strings.HasPrefix(s.Condition.Message, blockedBy)
	})
}

// continues checks that everything becomes Ready when the cluster's operation ends,
// with one PUT of each resource that differed.
func (g ground) continues() {
	g.Sim.Call(http.MethodDelete, "/holds", nil, nil)
	for _, id := range []string{demoCluster, demoDatabase} {
		g.UntilPhase(120*time.Second, id, workflows.PhaseReady)
	}
	if puts := g.accepted(demoDatabase); puts != 1 {
		g.T.Errorf("the database got %d PUTs, want the one that corrects its property", puts)
	}
	if puts := g.accepted(demoCluster); puts != 0 {
		g.T.Errorf("the cluster got %d more PUTs, want its operation joined", puts)
	}
}

// delete deletes everything in order, and checks that no list shows it.
func (g ground) delete() {
	g.MustCLI("delete", "-f", g.examples(), "--yes", "--with-data", "--wait", "--timeout", "180s")
	var left []armsim.StoredResource
	g.Sim.Call(http.MethodGet, "/resources?id="+demoGroup+"*", nil, &left)
	if len(left) != 0 {
		g.T.Errorf("the deletion left %d resources behind: %+v", len(left), left)
	}
	g.Until(20*time.Second, "nothing is listed", func() (bool, string) {
		list := g.MustCLI("get", "-l", "stack=demo", "-o", "json").Out
		return strings.TrimSpace(list) == "[]", list
	})
}
