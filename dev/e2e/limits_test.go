package e2e

import (
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	enumspb "go.temporal.io/api/enums/v1"

	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/dev/internal/harness"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
)

const (
	// manyVariable raises the number of children, 100 without it; 5000 is the
	// number that the design names, and takes a quarter of an hour.
	manyVariable = "ARMATURE_E2E_CHILDREN"
	// manyReferences is all that a resource may need beside its owner, and more than
	// the keys of what it waits for that a search attribute has room for.
	manyReferences = 63
	// longID is the length of resource IDs beyond what SQL stores hold, in bytes.
	longID = 300
)

// TestLimits checks that no number and no length makes the server end a workflow.
func TestLimits(t *testing.T) {
	t.Parallel()
	world := harness.New(t, binaries, harness.Options{})
	sideBySide(t, 2, map[string]func(*testing.T){
		"references": func(t *testing.T) { playReferences(world.Branch(t, "references", harness.Options{})) },
		"children": func(t *testing.T) {
			playChildren(world.Branch(t, "children", harness.Options{Simulator: armsim.Options{TimeScale: 600}}), children(t))
		},
	})
}

func children(t *testing.T) int {
	t.Helper()
	text := os.Getenv(manyVariable)
	if text == "" {
		return 100
	}
	count, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%s: %v", manyVariable, err)
	}
	return count
}

// playReferences lets a resource with a long ID wait for many others with long IDs.
func playReferences(w *harness.World) {
	w.StartWorker(harness.WorkerOptions{})
	s := scenarios{w}
	group := "references-" + strings.Repeat("g", 70)
	s.putGroup(group)
	r := thing{group: group, name: strings.Repeat("n", longID-len(thing{group: group}.id())), interval: "24h"}
	if len(r.id()) != longID {
		w.T.Fatalf("the ID has %d bytes, want %d", len(r.id()), longID)
	}
	var names []string
	for i := range manyReferences {
		other := r
		other.name = fmt.Sprintf("%02d%s", i, r.name[2:])
		names = append(names, fmt.Sprintf("r%d: {$ref: %s@2024-01-01}", i, other.id()))
	}
	text := strings.Replace(r.manifest("small"), "properties: {size: small}", "properties: {"+strings.Join(names, ", ")+"}", 1)
	w.MustCLI("apply", "-f", w.Write("references.yaml", text))
	status := w.UntilStatus(30*time.Second, r.id(), "waits", func(status workflows.Status) bool { return status.Pass >= 2 })
	if status.Condition.Reason != resource.ReasonReferenceNotFound || len(status.WaitingFor) == 0 {
		w.T.Errorf("%+v waits for %d, want the references", status.Condition, len(status.WaitingFor))
	}
	w.MustCLI("why", r.id())
	running(w, r.id())
	s.deleteThing(r)
}

// playChildren lets many children wait for an owner that does not exist yet. It wakes
// all of them, and its deletion waits for all of them.
func playChildren(w *harness.World, count int) {
	workers := []*harness.Worker{w.StartWorker(harness.WorkerOptions{}), w.StartWorker(harness.WorkerOptions{})}
	s := scenarios{w}
	s.putGroup("children")
	owner := thing{group: "children", name: "owner", interval: "24h"}
	var documents, ids []string
	for i := range count {
		documents = append(documents, fmt.Sprintf("type: Microsoft.Example/things/parts@2024-01-01\nname: part%d\nowner: %s@2024-01-01\nbody: {properties: {size: 1}}\nreconcile: {interval: 24h}\n", i, owner.id()))
		ids = append(ids, fmt.Sprintf("%s/parts/part%d", owner.id(), i))
	}
	file := w.Write("parts.yaml", strings.Join(documents, "---\n"))
	w.MustCLI("apply", "-f", file, "--timeout", fmt.Sprintf("%ds", 60+count))
	for _, id := range ids {
		w.UntilStatus(time.Duration(120+count)*time.Second, id, "waits", func(status workflows.Status) bool { return status.Phase == workflows.PhaseBlocked })
	}
	w.MustCLI("apply", "-f", w.Write("owner.yaml", owner.manifest("small")), "--wait", "--timeout", "60s")
	for _, id := range ids {
		w.UntilPhase(time.Duration(60+count)*time.Second, id, workflows.PhaseReady)
		if puts := w.Sim.Count(http.MethodPut, id); puts != 1 {
			w.T.Errorf("%s got %d PUTs, want one", id, puts)
		}
	}
	w.RequestDelete(owner.id(), workflows.DeleteInput{})
	status := w.UntilStatus(60*time.Second, owner.id(), "waits for its children", func(status workflows.Status) bool {
		return status.Condition.Reason == resource.ReasonWaitingForDependents
	})
	want := fmt.Sprintf("and %d more", count-10)
	if count >= 5000 { // where counting ends
		want = fmt.Sprintf("and at least %d more", 5000-10)
	}
	if !strings.Contains(status.Condition.Message, want) {
		w.T.Errorf("the condition does not count its %d children (%q): %s", count, want, status.Condition.Message)
	}
	running(w, owner.id())
	visibilityKept(w, workers)
	w.MustCLI("delete", owner.id(), "--cascade", "--yes", "--wait", "--timeout", fmt.Sprintf("%ds", 120+count))
	if left := stored(w, owner.id()+"*"); len(left) != 0 {
		w.T.Errorf("%d resources stay", len(left))
	}
	visibilityKept(w, workers)
}

// running checks that the server did not end the workflow.
func running(w *harness.World, id string) {
	w.T.Helper()
	description, err := w.Client.DescribeWorkflowExecution(w.T.Context(), w.WorkflowID(id), "")
	if err != nil {
		w.T.Fatal(err)
	}
	if status := description.GetWorkflowExecutionInfo().GetStatus(); status != enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING {
		w.T.Errorf("the workflow of %s is %s", id, status)
	}
}
