package e2e

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/dev/internal/harness"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
)

// TestTearDown deletes whole stacks: nothing remains, and ARM refuses no DELETE but
// those of resources that can only be deleted with their owner.
func TestTearDown(t *testing.T) {
	t.Parallel()
	world := harness.New(t, binaries, harness.Options{})
	sideBySide(t, 3, map[string]func(*testing.T){
		"by manifests":            func(t *testing.T) { tearDownFiles(newStack(t, world, "files"), false) },
		"by manifests and a kill": func(t *testing.T) { tearDownFiles(newStack(t, world, "killed"), true) },
		"by cascade":              func(t *testing.T) { tearDownCascade(newStack(t, world, "cascaded")) },
	})
}

// stack is a tall stack in its own branch of the world.
type stack struct {
	*harness.World
	group   string
	members []member
	folder  string
}

func newStack(t *testing.T, world *harness.World, name string) stack {
	t.Helper()
	s := stack{World: world.Branch(t, "stack-"+name, harness.Options{Simulator: armsim.Options{TimeScale: 600}}),
		group: subscription + "/resourceGroups/" + name, members: tallStack()}
	quickPolls(s.World)
	s.folder = writeStack(s.World, s.group, s.members)
	return s
}

func (s stack) pool() string {
	return s.group + "/providers/Microsoft.ContainerService/managedClusters/aks/agentPools/system"
}

// tearDownFiles deletes existing resources by their manifests. With kill, one of two
// workers is killed on the way.
func tearDownFiles(s stack, kill bool) {
	putStack(s.World, s.group, s.members)
	worker := s.StartWorker(harness.WorkerOptions{})
	if kill {
		s.StartWorker(harness.WorkerOptions{})
		s.MustCLI("delete", "--with-data", "-f", s.folder, "--yes")
		s.Until(60*time.Second, "a third is deleted", func() (bool, string) { return len(stored(s.World, s.group+"*")) < 40, "" })
		worker.Kill()
	}
	s.MustCLI("delete", "--with-data", "-f", s.folder, "--yes", "--wait", "--timeout", "150s")
	s.nothingRemains(map[string]string{s.pool(): "OperationNotAllowed"})
}

// tearDownCascade applies the stack and deletes its group alone, while a foreign
// network interface uses a subnet.
func tearDownCascade(s stack) {
	s.StartWorker(harness.WorkerOptions{})
	s.MustCLI("apply", "-f", s.folder, "--wait", "--timeout", "150s")
	network := s.group + "/providers/Microsoft.Network/"
	subnet := network + "virtualNetworks/net/subnets/s0"
	s.Sim.Call(http.MethodPut, "/resources", map[string]any{"id": network + "networkInterfaces/foreign", "body": map[string]any{
		"location":   "westus2",
		"properties": map[string]any{"ipConfigurations": []any{map[string]any{"name": "a", "properties": map[string]any{"subnet": map[string]any{"id": subnet}}}}},
	}}, nil)
	s.MustCLI("delete", "--with-data", s.group, "--cascade", "--yes", "--wait", "--timeout", "150s")
	s.nothingRemains(map[string]string{
		s.pool(): "OperationNotAllowed", subnet: "InUseSubnetCannotBeDeleted",
		network + "virtualNetworks/net": "InUseSubnetCannotBeDeleted",
	})
}

// nothingRemains checks that no resource and no managing workflow remains, and that
// ARM refused nothing but the known codes by ID.
func (s stack) nothingRemains(known map[string]string) {
	s.T.Helper()
	if left := stored(s.World, s.group+"*"); len(left) != 0 {
		s.T.Errorf("%d resources remain: %+v", len(left), left)
	}
	s.Until(60*time.Second, "nothing is managed", func() (bool, string) {
		list := s.MustCLI("get", "-o", "json").Out
		return !strings.Contains(list, s.group+"/"), list
	})
	for _, r := range s.Sim.Requests("") {
		// A read may be refused: a child of a database reads it while the cluster is being
		// created. A DELETE whose own If-Match failed is sent again for what is read then.
		isRefusal := r.Method != http.MethodGet && r.Status >= 400 && r.Status != http.StatusNotFound && r.Status != http.StatusPreconditionFailed
		if isRefusal && known[r.ID] != r.Code {
			s.T.Errorf("an unexpected refusal: %s %s: %d %s\n%s", r.Method, r.ID, r.Status, r.Code, s.HistoryLines(r.ID))
		}
	}
	if refusals := s.Sim.Counters().SiblingRefusals; len(refusals) != 0 {
		s.T.Errorf("siblings were changed at the same time: %v", refusals)
	}
	for id := range known {
		// No timer shows it where a message arrives at that moment.
		timer := func(line string) bool {
			return strings.Contains(line, string(resource.ReasonWaitingForOwnerDelete)) && strings.Contains(line, "it is deleted with ")
		}
		// A second delete starts another run where the first has already finished.
		if lines := s.AllHistoryLines(id); !strings.Contains(lines, `"ReconcileReason":"`+string(resource.ReasonWaitingForOwnerDelete)) ||
			!slices.ContainsFunc(strings.Split(lines, "\n"), timer) {
			s.T.Errorf("%s does not show that it is deleted with its owner:\n%s", id, lines)
		}
	}
}

// TestDeleteAnything deletes blocked, paused, polling, locked and stopped resources.
func TestDeleteAnything(t *testing.T) {
	t.Parallel()
	w := harness.New(t, binaries, harness.Options{})
	w.StartWorker(harness.WorkerOptions{})
	s := scenarios{w}
	cases := map[string]func(*testing.T){}
	for name, play := range map[string]func(*testing.T, scenarios, thing){
		"del-blocked": playDeleteBlocked, "del-paused": playDeletePaused, "del-polling": playDeletePolling,
		"del-locked": playDeleteLocked, "del-stopped": playDeleteStopped,
	} {
		s.putGroup(name)
		cases[name] = func(t *testing.T) { play(t, scenarios{s.On(t)}, thing{group: name, name: name, interval: "1h"}) }
	}
	sideBySide(t, len(cases), cases)
}

// deleteThing deletes a thing and waits for the end of the deletion.
func (s scenarios) deleteThing(r thing) {
	s.T.Helper()
	s.MustCLI("delete", "--with-data", r.id(), "--yes", "--wait", "--timeout", "60s")
	if left := stored(s.World, r.id()); len(left) != 0 {
		s.T.Errorf("the deletion left %+v", left)
	}
}

// playDeleteBlocked deletes a resource that waits for one that never exists.
func playDeleteBlocked(t *testing.T, s scenarios, r thing) {
	never := thing{group: r.group, name: "never"}
	s.applyMore(r, "small", "dependsOn: ["+never.id()+"@2024-01-01]")
	s.UntilStatus(20*time.Second, r.id(), "waits", func(status workflows.Status) bool { return status.Condition.Reason == resource.ReasonReferenceNotFound })
	s.deleteThing(r)
	if requests := s.Sim.Count(http.MethodPut, r.id()) + s.Sim.Count(http.MethodDelete, r.id()); requests != 0 {
		t.Errorf("%d PUTs and DELETEs of a resource that never existed, want none", requests)
	}
}

func playDeletePaused(t *testing.T, s scenarios, r thing) {
	playCreate(t, s, r)
	s.MustCLI("pause", r.id(), "--reason", "incident")
	s.deleteThing(r)
	if deletes := s.Sim.Count(http.MethodDelete, r.id()); deletes != 1 {
		t.Errorf("%d DELETEs, want one", deletes)
	}
}

// playDeletePolling checks that one DELETE follows the end of the PUT's operation.
func playDeletePolling(t *testing.T, s scenarios, r thing) {
	s.Sim.Call(http.MethodPost, "/operations", armsim.OperationRule{ID: r.id(), On: "put", Spec: armsim.OperationSpec{Shape: armsim.ShapeAsync, RetryAfter: []float64{60}}}, nil)
	s.Sim.Call(http.MethodPost, "/holds", armsim.Hold{ID: r.id()}, nil)
	s.apply(r, "small")
	s.UntilStatus(20*time.Second, r.id(), "operates", func(status workflows.Status) bool { return status.Operation != "" })
	s.MustCLI("delete", "--with-data", r.id(), "--yes")
	polls := len(s.Sim.Requests("?kind=operation"))
	s.Until(20*time.Second, "two more polls", func() (bool, string) { return len(s.Sim.Requests("?kind=operation")) >= polls+2, "" })
	if deletes := s.Sim.Count(http.MethodDelete, r.id()); deletes != 0 {
		t.Errorf("%d DELETEs while the operation is in progress", deletes)
	}
	s.Sim.Call(http.MethodDelete, "/holds", nil, nil)
	s.deleteThing(r)
	if deletes := s.Sim.Count(http.MethodDelete, r.id()); deletes != 1 {
		t.Errorf("%d DELETEs, want one", deletes)
	}
}

// playDeleteLocked checks that the condition names the lock and its scope.
func playDeleteLocked(t *testing.T, s scenarios, r thing) {
	playCreate(t, s, r)
	scope := subscription + "/resourceGroups/" + r.group
	lock := scope + "/providers/Microsoft.Authorization/locks/keep-it"
	s.Sim.Call(http.MethodPut, "/resources", map[string]any{"id": lock, "body": map[string]any{
		"properties": map[string]any{"level": "CanNotDelete", "notes": "ask the network team"},
	}}, nil)
	s.RequestDelete(r.id(), workflows.DeleteInput{WithData: true})
	status := s.UntilStatus(20*time.Second, r.id(), "is locked", func(status workflows.Status) bool { return status.Condition.Reason == "ScopeLocked" })
	for _, want := range []string{`"keep-it"`, "CanNotDelete", scope, "ask the network team"} {
		if !strings.Contains(status.Condition.Message, want) {
			t.Errorf("the condition does not name %s: %s", want, status.Condition.Message)
		}
	}
	if status.NextTry.IsZero() {
		t.Error("a locked deletion has no next try")
	}
	s.Sim.Call(http.MethodDelete, "/resources?id="+lock, nil, nil)
	s.MustCLI("reconcile", r.id())
	s.deleteThing(r)
}

// playDeleteStopped deletes a stopped cluster. It refuses requests to its databases,
// so that they are deleted with it.
func playDeleteStopped(t *testing.T, s scenarios, r thing) {
	scope := subscription + "/resourceGroups/" + r.group
	adx := member{"Microsoft.Kusto/clusters@2023-08-15", "Microsoft.Kusto/clusters/stopped", "", `{"location":"westus2","sku":{"name":"Standard_D13_v2","tier":"Standard","capacity":2},"properties":{"state":"Stopped"}}`}
	members := []member{adx}
	for i := range 3 {
		members = append(members, member{"Microsoft.Kusto/clusters/databases@2023-08-15", fmt.Sprintf("%s/databases/db%d", adx.path, i), adx.path,
			`{"location":"westus2","kind":"ReadWrite","properties":{"softDeletePeriod":"P30D"}}`})
	}
	s.Sim.Call(http.MethodPost, "/operations", armsim.OperationRule{Type: "Microsoft.Kusto/*", On: "delete", Spec: armsim.OperationSpec{RetryAfter: []float64{60}}}, nil)
	putStack(s.World, scope, members)
	s.Sim.Call(http.MethodPut, "/state", map[string]any{"id": adx.id(scope), "provisioningState": "Succeeded", "properties": map[string]any{"state": "Stopped"}}, nil)
	folder := writeStack(s.World, scope, members)
	s.MustCLI("delete", "--with-data", "-f", folder, "--yes", "--wait", "--timeout", "90s")
	if left := stored(s.World, scope+"*"); len(left) != 0 {
		t.Errorf("the deletion left %+v", left)
	}
	for _, m := range members[1:] {
		if deletes := s.Sim.Count(http.MethodDelete, m.id(scope)); deletes != 0 {
			t.Errorf("%s got %d DELETEs, although its cluster refuses all requests to it", m.path, deletes)
		}
	}
}
