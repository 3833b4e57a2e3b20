package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/dev/internal/harness"
	"github.com/armature-io/armature/dev/internal/histories"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
)

// subnetsShort is the number of siblings that take turns; the benchmark has 100.
const subnetsShort = 15

// TestRecordTurns applies siblings that ARM changes one at a time, and records
// the histories of the turns and of a resource that waited.
func TestRecordTurns(t *testing.T) {
	t.Parallel()
	world := harness.New(t, binaries, harness.Options{})
	sideBySide(t, 2, map[string]func(*testing.T){
		"one after the other": func(t *testing.T) { playTurns(newSubnets(t, world, "turns", subnetsShort)) },
		"the holder dies":     func(t *testing.T) { playHolderDies(newSubnets(t, world, "holder", 4)) },
	})
}

// subnets are the subnets of one network, in their own branch of the world.
type subnets struct {
	*harness.World
	group, network, folder string
	ids                    []string
}

func newSubnets(t *testing.T, world *harness.World, name string, count int) subnets {
	t.Helper()
	s := subnets{World: world.Branch(t, "subnets-"+name, harness.Options{}), group: subscription + "/resourceGroups/" + name}
	path := "Microsoft.Network/virtualNetworks/net"
	s.network = s.group + "/providers/" + path
	members := []member{{"Microsoft.Network/virtualNetworks@2024-01-01", path, "", `{"location":"westus2","properties":{"addressSpace":{"addressPrefixes":["10.0.0.0/8"]}}}`}}
	for i := range count {
		m := member{"Microsoft.Network/virtualNetworks/subnets@2024-01-01", fmt.Sprintf("%s/subnets/s%d", path, i), path,
			fmt.Sprintf(`{"properties":{"addressPrefix":"10.%d.0.0/16"}}`, i)}
		members = append(members, m)
		s.ids = append(s.ids, m.id(s.group))
	}
	quickPolls(s.World)
	s.folder = writeStack(s.World, s.group, members)
	return s
}

// playTurns checks that ARM refuses no sibling, whatever the number of workers.
func playTurns(s subnets) {
	s.StartWorker(harness.WorkerOptions{})
	s.StartWorker(harness.WorkerOptions{})
	started := time.Now()
	s.MustCLI("apply", "-f", s.folder, "--wait", "--timeout", "150s")
	s.T.Logf("%d subnets took %s", len(s.ids), time.Since(started).Round(time.Second))
	counters := s.Sim.Counters()
	if len(counters.SiblingRefusals) != 0 || counters.ByStatus[http.StatusConflict] != 0 {
		s.T.Errorf("ARM refused siblings %v, statuses %v; want no refusal", counters.SiblingRefusals, counters.ByStatus)
	}
	for _, id := range s.ids {
		if puts := s.Sim.Count(http.MethodPut, id); puts != 1 {
			s.T.Errorf("%s got %d PUTs, want one", id, puts)
		}
	}
}

// playHolderDies checks that the turn of a terminated workflow passes to the next.
func playHolderDies(s subnets) {
	s.StartWorker(harness.WorkerOptions{})
	s.Sim.Call(http.MethodPost, "/holds", armsim.Hold{ID: s.ids[0]}, nil)
	s.MustCLI("apply", "-f", s.folder+"/group.yaml", "-f", s.folder+"/00.yaml", "--wait", "--timeout", "60s")
	s.MustCLI("apply", "-f", s.folder+"/01.yaml")
	s.UntilStatus(30*time.Second, s.ids[0], "has the turn and operates", func(status workflows.Status) bool { return status.Operation != "" })
	s.MustCLI("apply", "-f", s.folder)
	for _, id := range s.ids[1:] {
		status := s.UntilStatus(30*time.Second, id, "waits for its turn", func(status workflows.Status) bool {
			return status.Condition.Reason == "WaitingForSibling"
		})
		if !strings.Contains(status.Condition.Message, "net/s0 has the turn") || len(status.WaitingFor) != 1 {
			s.T.Errorf("%s does not name the holder of the turn: %+v", id, status.Condition)
		}
	}
	if err := s.Client.TerminateWorkflow(s.T.Context(), s.WorkflowID(s.ids[0]), "", "test: the holder of the turn dies"); err != nil {
		s.T.Fatal(err)
	}
	s.Sim.Call(http.MethodDelete, "/holds", nil, nil)
	for _, id := range s.ids[1:] {
		s.UntilPhase(60*time.Second, id, workflows.PhaseReady)
	}
	if refusals := s.Sim.Counters().SiblingRefusals; len(refusals) != 0 {
		s.T.Errorf("siblings were changed at the same time: %v", refusals)
	}
	s.RecordWorkflow(workflows.SiblingsWorkflowID(parsed(s.T, s.network)), "", "turns")
	s.Record(s.ids[1], "turn-waited")
}

// maxRouteActions bounds the actions in the histories of a child that waits for its turn, its
// share of the queue included. A creation without turns takes ten; a child that waits for more
// than 30 s takes one more than the others, because it makes its checks again.
const maxRouteActions = 15

// TestRouteTable creates the routes of one table, 100 in the long run, with 30 ms to Temporal. Azure
// changes one at a time. Temporal refuses no request: all routes ask their queue at once, and it
// takes ten updates at a time.
func TestRouteTable(t *testing.T) {
	t.Parallel()
	count := 100
	if testing.Short() {
		count = 25
	}
	w := harness.New(t, binaries, harness.Options{RoundTrip: 30 * time.Millisecond})
	worker := w.StartWorker(harness.WorkerOptions{})
	group := subscription + "/resourceGroups/routes"
	const path = "Microsoft.Network/routeTables/table"
	members := []member{{"Microsoft.Network/routeTables@2024-01-01", path, "", `{"location":"westus2","properties":{}}`}}
	for i := range count {
		members = append(members, member{"Microsoft.Network/routeTables/routes@2024-01-01", fmt.Sprintf("%s/routes/r%d", path, i), path,
			fmt.Sprintf(`{"properties":{"addressPrefix":"10.%d.0.0/16","nextHopType":"VnetLocal"}}`, i)})
	}
	quickPolls(w)
	folder := writeStack(w, group, members)
	w.MustCLI("apply", "-f", folder+"/group.yaml", "-f", folder+"/00.yaml", "--wait", "--timeout", "60s")
	w.MustCLI("apply", "-f", folder, "--wait", "--timeout", "8m")
	visibilityKept(w, []*harness.Worker{worker})
	if refusals := w.Sim.Counters().SiblingRefusals; len(refusals) != 0 {
		t.Errorf("ARM refused siblings: %v", refusals)
	}
	queue, err := histories.Fetch(t.Context(), w.Client, workflows.SiblingsWorkflowID(parsed(t, group+"/providers/"+path)), "")
	if err != nil {
		t.Fatal(err)
	}
	total, types := actions(queue.GetEvents()), map[string]int{}
	t.Logf("the queue takes %.1f actions for each of %d routes", float64(total)/float64(count), count)
	for _, m := range members[1:] {
		events := w.History(m.id(group)).GetEvents()
		total += actions(events)
		for _, event := range events {
			types[strings.TrimSpace(event.GetEventType().String()+" "+event.GetActivityTaskScheduledEventAttributes().GetActivityType().GetName())]++
		}
	}
	t.Logf("with it each takes %.1f; the events of all: %v", float64(total)/float64(count), types)
	if total > maxRouteActions*count {
		t.Errorf("%.1f actions for each of %d routes, want at most %d", float64(total)/float64(count), count, maxRouteActions)
	}
}

func parsed(t testing.TB, id string) resource.ID {
	t.Helper()
	parsed, err := resource.ParseID(id)
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}
