package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/dev/internal/harness"
	"github.com/armature-io/armature/workflows"
)

// TestRecordReplace changes a property that Azure sets only at the creation: the resource is
// left alone until a user approves that it is deleted and created again.
//
//guard:replacing-needs-a-user
func TestRecordReplace(t *testing.T) {
	t.Parallel()
	w := harness.New(t, binaries, harness.Options{})
	w.StartWorker(harness.WorkerOptions{})
	s := scenarios{w}
	s.putGroup("replace")
	r := thing{group: "replace", name: "replaced", interval: "1h"}
	s.applyMore(r, "small", "recreate: on-immutable", "--wait", "--timeout", "30s")
	s.Sim.Call(http.MethodPost, "/faults", armsim.Fault{
		Path: r.id(), Method: http.MethodPut, Status: http.StatusConflict, Count: 2,
		Code: "PropertyChangeNotAllowed", Message: "Changing property 'size' is not allowed.",
	}, nil)
	s.applyMore(r, "large", "recreate: on-immutable")
	s.UntilStatus(30*time.Second, r.id(), "Azure refuses the change", func(status workflows.Status) bool {
		return status.Condition.Reason == "PropertyChangeNotAllowed" && strings.Contains(status.Condition.Message, "armature reconcile --recreate")
	})
	if deletes := s.Sim.Count(http.MethodDelete, r.id()); deletes != 0 {
		t.Fatalf("%d DELETEs without an approval", deletes)
	}
	s.MustCLI("reconcile", "--recreate", "--yes", r.id(), "--wait", "--timeout", "60s")
	deletes, found := s.Sim.Count(http.MethodDelete, r.id()), stored(w, r.id())
	if deletes != 1 || len(found) != 1 || !strings.Contains(fmt.Sprint(found[0].Body), "size:large") {
		t.Errorf("%d DELETEs and %+v, want one and the new size", deletes, found)
	}
	w.Record(r.id(), "replace")
}

// replacement is a changed value that only a new resource has.
type replacement struct {
	reason, name, resourceType, before, after string
	// code is that of the simulator, and path the difference.
	code, path string
}

func (r replacement) id() string {
	return subscription + "/resourceGroups/replacements/providers/" + strings.Split(r.resourceType, "@")[0] + "/" + r.name
}

func (r replacement) manifest(body string) string {
	return fmt.Sprintf("type: %s\nname: %s\nowner: %s/resourceGroups/replacements\nbody: %s\nreconcile: {recreate: on-immutable, interval: 1h}\n",
		r.resourceType, r.name, subscription, body)
}

// TestReplacements plans and makes a new resource for a changed location with a managed child,
// another SKU family, and a nested property: the simulator refuses them as Azure does.
func TestReplacements(t *testing.T) {
	t.Parallel()
	w := harness.New(t, binaries, harness.Options{})
	w.StartWorker(harness.WorkerOptions{})
	scenarios{w}.putGroup("replacements")
	for name, r := range map[string]replacement{
		"location": {
			reason: "ARM itself refuses it for each located resource", name: "moved", resourceType: "Microsoft.Network/routeTables@2024-05-01",
			before: "{location: westus2, properties: {disableBgpRoutePropagation: true}}", after: "{location: eastus, properties: {disableBgpRoutePropagation: true}}",
			code: "InvalidResourceLocation", path: "location",
		},
		"SKU": {
			reason: "a load balancer keeps its SKU", name: "balancer", resourceType: "Microsoft.Network/loadBalancers@2024-05-01",
			before: "{location: westus2, sku: {name: Basic}}", after: "{location: westus2, sku: {name: Standard}}",
			code: "SkuCannotBeChangedOnUpdate", path: "sku.name",
		},
		"nested": {
			reason: "the placement is decided", name: "set", resourceType: "Microsoft.Compute/availabilitySets@2024-07-01",
			before: "{location: westus2, sku: {name: Aligned}, properties: {platformFaultDomainCount: 2}}",
			after:  "{location: westus2, sku: {name: Aligned}, properties: {platformFaultDomainCount: 3}}",
			code:   "PropertyChangeNotAllowed", path: "properties.platformFaultDomainCount",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := w.On(t)
			child := ""
			if name == "location" {
				child = r.id() + "/routes/out"
			}
			file := func(body string) string {
				text := r.manifest(body)
				if child != "" {
					text += "---\ntype: Microsoft.Network/routeTables/routes@2024-05-01\nname: out\nowner: " + r.id() +
						"\nbody: {properties: {addressPrefix: 10.0.0.0/16, nextHopType: VnetLocal}}\nreconcile: {interval: 1h}\n"
				}
				return w.Write(r.name+".yaml", text)
			}
			w.MustCLI("apply", "-f", file(r.before), "--wait", "--timeout", "60s")
			changed := file(r.after)
			planned := w.CLI("plan", "-f", changed)
			if planned.Code != 2 || !strings.Contains(planned.Out, "-/+ ") || !strings.Contains(planned.Out, r.path) ||
				!strings.Contains(planned.Out, "1 to replace") || !strings.Contains(planned.Out, "armature reconcile --recreate "+r.name) {
				t.Errorf("%s: the plan is not a replacement: %s", r.reason, planned)
			}
			w.CLI("apply", "-f", changed)
			w.UntilStatus(60*time.Second, r.id(), "Azure refuses the change", func(status workflows.Status) bool {
				return string(status.Condition.Reason) == r.code && strings.Contains(status.Condition.Message, "armature reconcile --recreate")
			})
			if asked := w.CLI("reconcile", "--recreate", r.id()); asked.Code == 0 || !strings.Contains(asked.Out, "-/+ ") || !strings.Contains(asked.Err, "nothing was sent") {
				t.Errorf("without an answer: %s", asked)
			}
			if n := w.Sim.Count(http.MethodDelete, r.id()); n != 0 {
				t.Fatalf("%d DELETEs without an approval", n)
			}
			w.MustCLI("reconcile", "--recreate", "--yes", r.id(), "--wait", "--timeout", "60s")
			if n := w.Sim.Count(http.MethodDelete, r.id()); n != 1 {
				t.Errorf("%d DELETEs, want one", n)
			}
			if shown := w.CLI("plan", "-f", changed); child == "" && shown.Code != 0 {
				t.Errorf("after the replacement: %s", shown)
			}
			if child != "" {
				w.Until(60*time.Second, "the child exists again", func() (bool, string) {
					return len(stored(w, child)) == 1 && w.CLI("plan", "-f", changed).Code == 0, w.HistoryLines(child)
				})
				if n := w.Sim.Count(http.MethodDelete, child); n != 0 {
					t.Errorf("%d DELETEs of the child, which falls with its owner", n)
				}
			}
		})
	}
}

// TestReplacementRefused checks that a replacement whose name stays taken is refused before the
// DELETE: in the plan, and by the approval.
func TestReplacementRefused(t *testing.T) {
	t.Parallel()
	w := harness.New(t, binaries, harness.Options{})
	w.StartWorker(harness.WorkerOptions{})
	scenarios{w}.putGroup("replacements")
	const body = "sku: {family: A, name: standard}, tenantId: 11111111-2222-3333-4444-555555555555, accessPolicies: []"
	r := replacement{name: "kept-name", resourceType: "Microsoft.KeyVault/vaults@2023-07-01"}
	w.MustCLI("apply", "-f", w.Write("vault.yaml", r.manifest("{location: westus2, properties: {"+body+"}}")), "--wait", "--timeout", "60s")
	changed := w.Write("vault.yaml", r.manifest("{location: eastus, properties: {"+body+"}}"))
	planned := w.CLI("plan", "-f", changed)
	for _, want := range []string{"-/+ ", "NameKept: Azure keeps the name of a deleted one", "reconcile.delete.purge", "ContainsData: a new one does not bring back", "to restore it, "} {
		if planned.Code != 2 || !strings.Contains(planned.Out, want) {
			t.Errorf("the plan lacks %q: %s", want, planned)
		}
	}
	w.CLI("apply", "-f", changed)
	w.UntilStatus(60*time.Second, r.id(), "names why it is not replaced", func(status workflows.Status) bool {
		return strings.Contains(status.Condition.Message, "Azure keeps the name of a deleted one")
	})
	if refused := w.CLI("reconcile", "--recreate", "--yes", r.id()); refused.Code == 0 || !strings.Contains(refused.Err, "nothing was sent: 1 replacement is refused") {
		t.Errorf("the approval is not refused: %s", refused)
	}
	if n := w.Sim.Count(http.MethodDelete, r.id()); n != 0 {
		t.Errorf("%d DELETEs", n)
	}
}
