package e2e

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/dev/internal/harness"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
)

// TestCreatedAgain loses the response to a DELETE with its worker. A resource that another user
// creates meanwhile stays until a user repeats the deletion; after a failed DELETE the same
// resource is deleted by another one.
func TestCreatedAgain(t *testing.T) {
	t.Parallel()
	world := harness.New(t, binaries, harness.Options{})
	sideBySide(t, 3, map[string]func(*testing.T){
		"group": func(t *testing.T) { newAgainCase(t, world, "again-group", "").createdAgain("createdTime") },
		"network": func(t *testing.T) {
			newAgainCase(t, world, "again-network", "/providers/Microsoft.Network/virtualNetworks/net").createdAgain("properties.resourceGuid")
		},
		"failed": func(t *testing.T) {
			newAgainCase(t, world, "again-failed", "/providers/Microsoft.Network/virtualNetworks/net").failed()
		},
	})
}

// againCase is one resource that is deleted.
type againCase struct {
	*harness.World
	id, file string
	body     map[string]any
}

func newAgainCase(t *testing.T, world *harness.World, name, below string) againCase {
	t.Helper()
	c := againCase{World: world.Branch(t, name, harness.Options{Simulator: armsim.Options{TimeScale: 600}}), body: map[string]any{"location": "westeurope"}}
	quickPolls(c.World)
	group := subscription + "/resourceGroups/" + name
	c.id = group + below
	if below == "" {
		c.file = c.Write("group.yaml", "type: Microsoft.Resources/resourceGroups@2021-04-01\nname: "+name+"\nowner: "+subscription+"\nbody: {location: westeurope}\n")
		return c
	}
	c.body["properties"] = map[string]any{"addressSpace": map[string]any{"addressPrefixes": []any{"10.0.0.0/16"}}}
	c.put(group, map[string]any{"location": "westeurope"})
	c.file = c.Write("network.yaml", "type: Microsoft.Network/virtualNetworks@2023-11-01\nname: net\nowner: "+group+
		"\nbody: {location: westeurope, properties: {addressSpace: {addressPrefixes: [10.0.0.0/16]}}}\n")
	return c
}

func (c againCase) put(id string, body map[string]any) {
	c.T.Helper()
	c.Sim.Call(http.MethodPut, "/resources", map[string]any{"id": id, "body": body}, nil)
}

// begin applies the manifest and deletes the resource. It returns once ARM has accepted the
// DELETE and holds its response, with the worker that waits for it.
func (c againCase) begin() *harness.Worker {
	c.T.Helper()
	worker := c.StartWorker(harness.WorkerOptions{})
	c.MustCLI("apply", "-f", c.file, "--wait", "--timeout", "60s")
	c.Sim.Call(http.MethodPost, "/faults", armsim.Fault{ID: "delete", Method: http.MethodDelete, Path: c.id, Applied: true, Gate: true, Count: 1}, nil)
	c.MustCLI("delete", c.id, "--yes")
	c.Until(60*time.Second, "DELETE is held", func() (bool, string) { return held(c.World) == 1, worker.Log() })
	return worker
}

// createdAgain creates another resource under the same ID, which differs in a member only.
func (c againCase) createdAgain(member string) {
	worker := c.begin()
	worker.Kill()
	c.Until(60*time.Second, "the DELETE takes effect", func() (bool, string) { return len(stored(c.World, c.id)) == 0, "" })
	c.put(c.id, c.body)
	c.StartWorker(harness.WorkerOptions{})
	status := c.UntilStatus(90*time.Second, c.id, "stays", func(status workflows.Status) bool { return status.Condition.Reason == resource.ReasonCreatedAgain })
	if !strings.Contains(status.Condition.Message, member+" was ") {
		c.T.Errorf("the condition does not name %s: %s", member, status.Condition.Message)
	}
	if why := c.CLI("why", c.id); !strings.Contains(why.Out, "armature delete "+c.id) || !strings.Contains(why.Out, "armature forget "+c.id) {
		c.T.Errorf("why lacks the next commands: %s", why)
	}
	if len(stored(c.World, c.id)) == 0 || c.Sim.Count(http.MethodDelete, c.id) != 1 {
		c.T.Errorf("%d DELETEs were sent, and %d resources remain", c.Sim.Count(http.MethodDelete, c.id), len(stored(c.World, c.id)))
	}
	c.MustCLI("delete", c.id, "--yes", "--wait", "--timeout", "60s")
	if len(stored(c.World, c.id)) != 0 {
		c.T.Error("the repeated deletion left it")
	}
}

// failed lets the operation of the first DELETE fail, while its worker is killed.
func (c againCase) failed() {
	c.Sim.Call(http.MethodPost, "/operations", armsim.OperationRule{ID: c.id, On: "delete", Count: 1, Spec: armsim.OperationSpec{
		Shape: armsim.ShapeLocation, Seconds: 60, RetryAfter: []float64{60}, Outcome: "Failed", ErrorCode: "InternalServerError", ErrorMessage: "try again",
	}}, nil)
	worker := c.begin()
	worker.Kill()
	c.StartWorker(harness.WorkerOptions{})
	c.Until(150*time.Second, "another DELETE deletes it", func() (bool, string) {
		return len(stored(c.World, c.id)) == 0, c.HistoryLines(c.id)
	})
	if sent := c.Sim.Count(http.MethodDelete, c.id); sent != 2 {
		c.T.Errorf("%d DELETEs were sent, want 2", sent)
	}
}
