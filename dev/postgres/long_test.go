package postgres

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
)

// longIDs manages a chain of resources with IDs of more than the 255 characters that
// PostgreSQL stores: created, blocked by an owner with a long ID, and deleted.
func (g ground) longIDs() {
	group := subscription + "/resourceGroups/" + strings.Repeat("g", 90)
	thing := group + "/providers/Microsoft.Example/Things/" + strings.Repeat("t", 63)
	part := thing + "/Parts/" + strings.Repeat("P", 37)
	if len(part) < 300 || len(thing) >= len(part) {
		g.T.Fatalf("the ID has %d characters only", len(part))
	}
	manifest := func(kind, id string) string {
		owner, name := subscription, id[strings.LastIndex(id, "/")+1:]
		switch kind {
		case "Microsoft.Example/Things":
			owner = group
		case "Microsoft.Example/Things/Parts":
			owner = thing + "@2024-01-01"
		}
		return fmt.Sprintf("type: %s@2024-01-01\nname: %s\nowner: %s\nbody: {location: westus2, properties: {n: 1}}\nlabels: {stack: long}\n", kind, name, owner)
	}
	// The part comes first, and waits for the thing by its long ID.
	g.MustCLI("apply", "-f", g.Write("part.yaml", manifest("Microsoft.Example/Things/Parts", part)))
	status := g.UntilStatus(30*time.Second, part, "waits for its owner", func(s workflows.Status) bool {
		return s.Phase == workflows.PhaseBlocked && len(s.WaitingFor) == 1
	})
	if status.Condition.Reason != resource.ReasonWaitingForOwner || !strings.EqualFold(status.WaitingFor[0].String(), thing) {
		g.T.Errorf("%+v waits for %v", status.Condition, status.WaitingFor)
	}
	g.MustCLI("apply", "-f", g.Write("chain.yaml", manifest("Microsoft.Resources/resourceGroups", group)+"---\n"+
		manifest("Microsoft.Example/Things", thing)), "--wait", "--timeout", "60s")
	g.UntilPhase(60*time.Second, part, workflows.PhaseReady)
	for _, id := range []string{group, thing, part} {
		if length := len(g.WorkflowID(id)); length > 200 {
			g.T.Errorf("the workflow ID of %s has %d bytes", id, length)
		}
		g.MustCLI("reconcile", strings.ToUpper(id), "--wait", "--timeout", "30s")
		if page := g.MustCLI("describe", id).Out; !strings.Contains(page, id) {
			g.T.Errorf("describe does not show the whole ID:\n%s", page)
		}
	}
	if puts := g.Sim.Count(http.MethodPut, part); puts != 1 {
		g.T.Errorf("the part got %d PUTs, want one", puts)
	}
	g.MustCLI("delete", group, "--cascade", "--yes", "--wait", "--timeout", "60s")
	g.Until(20*time.Second, "nothing is listed", func() (bool, string) {
		left := g.names("get", "-l", "stack=long")
		return len(left) == 0, fmt.Sprint(left)
	})
}
