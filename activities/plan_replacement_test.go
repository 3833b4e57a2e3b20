package activities

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/armature-io/armature/activities/contents"
	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/resource"
)

// TestPlanReplacement plans changes that only a new resource has, and names what it loses.
func TestPlanReplacement(t *testing.T) {
	t.Parallel()
	const account = groupText + "/providers/Microsoft.Storage/storageAccounts/acct"
	const vault = groupText + "/providers/Microsoft.KeyVault/vaults/kv"
	const part = thingText + "/parts/p1"
	cases := map[string]struct {
		reason, id, observed, body string
		change                     func(*world, *resource.Desired)
		action                     PlanAction
		paths, falling, refusals   []string
		message                    string
	}{
		"location": {
			reason: "ARM refuses it", id: thingText, observed: `{"location":"westus2"}`, body: `{"location":"eastus"}`,
			action: PlanReplace, paths: []string{"location"}, message: "state reconcile.recreate: on-immutable in its manifest",
		},
		"allowed": {
			reason: "the next command is the approval", id: thingText, observed: `{"location":"westus2"}`, body: `{"location":"eastus"}`,
			change: func(_ *world, d *resource.Desired) { d.Recreate = resource.RecreateOnImmutable },
			action: PlanReplace, paths: []string{"location"}, message: "armature reconcile --recreate t1",
		},
		"beside others": {
			reason: "only the refused values are named", id: thingText, observed: `{"location":"westus2","properties":{"size":1}}`, body: `{"location":"eastus","properties":{"size":2}}`,
			action: PlanReplace, paths: []string{"location"},
		},
		"spelling": {
			reason: "the same location in other letters", id: thingText, observed: `{"location":"westus2","properties":{"size":1}}`, body: `{"location":"West US 2","properties":{"size":2}}`,
			action: PlanUpdate,
		},
		"child": {
			reason: "it falls, and its own workflow creates it again", id: thingText, observed: `{"location":"westus2"}`, body: `{"location":"eastus"}`,
			change: func(w *world, _ *resource.Desired) {
				w.fleet.dependents = Dependents{Listed: []Managed{{ID: id(w.t, part), Policy: resource.PolicyManage}}}
			},
			action: PlanReplace, paths: []string{"location"}, falling: []string{part},
		},
		"kept child": {
			reason: "its policy keeps it", id: thingText, observed: `{"location":"westus2"}`, body: `{"location":"eastus"}`,
			change: func(w *world, _ *resource.Desired) {
				w.fleet.dependents = Dependents{Listed: []Managed{{ID: id(w.t, part), Policy: resource.PolicyProtect}}}
			},
			action: PlanReplace, paths: []string{"location"}, refusals: []string{"ContainsProtected"},
		},
		"elsewhere": {
			reason: "Azure refuses the DELETE while others need it", id: thingText, observed: `{"location":"westus2"}`, body: `{"location":"eastus"}`,
			change: func(w *world, _ *resource.Desired) {
				w.fleet.dependents = Dependents{Listed: []Managed{{ID: id(w.t, netText), Policy: resource.PolicyManage}}}
			},
			action: PlanReplace, paths: []string{"location"}, refusals: []string{"WaitingForDependents"},
		},
		"data": {
			reason: "a new one is empty", id: account, observed: `{"location":"westus2","kind":"StorageV2","sku":{"name":"Standard_LRS"}}`, body: `{"location":"eastus","kind":"StorageV2","sku":{"name":"Standard_LRS"}}`,
			action: PlanReplace, paths: []string{"location"}, refusals: []string{"ContainsData"},
		},
		"name kept": {
			reason: "a deleted vault has the name", id: vault, observed: `{"location":"westus2","properties":{}}`, body: `{"location":"eastus","properties":{}}`,
			action: PlanReplace, paths: []string{"location"}, refusals: []string{"NameKept", "ContainsData"},
		},
		"protected": {
			reason: "its policy allows no DELETE", id: thingText, observed: `{"location":"westus2"}`, body: `{"location":"eastus"}`,
			change: func(_ *world, d *resource.Desired) { d.Policy = resource.PolicyProtect },
			action: PlanReplace, paths: []string{"location"}, refusals: []string{"Protected"},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.put(groupText, `{"location":"westus2"}`)
			w.put(c.id, c.observed)
			spec := desired(t, c.id, c.body)
			if c.change != nil {
				c.change(w, &spec)
			}
			got, err := run(w, w.acts.PlanResource, PlanResourceInput{Desired: spec})
			must(t, err)
			if got.Action != c.action || !strings.Contains(got.Message, c.message) || (got.Replacement != nil) != (c.action == PlanReplace) {
				t.Fatalf("%s: %s %q %+v, want %s and %q", c.reason, got.Action, got.Message, got.Replacement, c.action, c.message)
			}
			if got.Replacement == nil {
				return
			}
			var falling, refusals []string
			for _, fallen := range got.Replacement.Falling {
				falling = append(falling, fallen.String())
			}
			for _, refusal := range got.Replacement.Refusals {
				refusals = append(refusals, string(refusal.Reason))
			}
			if diff := cmp.Diff([][]string{c.paths, c.falling, c.refusals}, [][]string{got.Replacement.Paths, falling, refusals}); diff != "" {
				t.Errorf("%s: paths, falling, refusals (-want +got):\n%s", c.reason, diff)
			}
		})
	}
}

// TestPlanKnowsRefusal checks that a refused PUT makes the next plan a replacement, although no
// fact names the value.
func TestPlanKnowsRefusal(t *testing.T) {
	t.Parallel()
	w, put := putWorld(t)
	w.put(groupText, `{"location":"westus2"}`)
	w.put(thingText, thingBody)
	put.Desired = desired(t, thingText, `{"location":"westus2","tags":{"a":"changed"},"properties":{"size":2}}`)
	put.Kind = PutChange
	w.sim.AddFault(armsim.Fault{Method: http.MethodPut, Status: 400, Code: "BadRequest", Message: "The size property cannot be changed."})
	got, err := run(w, w.acts.PutResource, put)
	must(t, err)
	w.fleet.memories = map[string]WorkflowMemory{id(t, thingText).Key(): {Generation: 1, Memory: got.Memory, Desired: &put.Desired}}
	planned, err := run(w, w.acts.PlanResource, PlanResourceInput{Desired: put.Desired})
	must(t, err)
	if planned.Action != PlanReplace || len(planned.Replacement.Paths) != 1 || planned.Replacement.Paths[0] != "properties.size" {
		t.Errorf("%s %+v, want a replacement because of properties.size", planned.Action, planned.Replacement)
	}
}

// TestGuardReplaceDependents checks that a replacement takes only those managed resources along
// that are created again.
//
//guard:a-replacement-takes-nothing-for-ever
func TestGuardReplaceDependents(t *testing.T) {
	t.Parallel()
	const part, account = thingText + "/parts/p1", thingText + "/providers/Microsoft.Storage/storageAccounts/a"
	managed := func(text string) Managed { return Managed{ID: id(t, text), Policy: resource.PolicyManage} }
	protected := managed(part)
	protected.Policy = resource.PolicyDetachOnDelete
	deleting := managed(part)
	deleting.Deleting = true
	order := &resource.DeletionOrder{ID: id(t, thingText), Replace: true}
	cases := map[string]struct {
		reason  string
		found   []Managed
		order   *resource.DeletionOrder
		falling int
		message string
	}{
		"none":      {reason: "nothing needs it"},
		"part":      {reason: "it is created again", found: []Managed{managed(part)}, falling: 1},
		"data":      {reason: "a new one is empty", found: []Managed{managed(part), managed(account)}, message: "does not bring back what is lost"},
		"kept":      {reason: "its policy keeps it", found: []Managed{protected}, message: "policy detach-on-delete keeps"},
		"elsewhere": {reason: "Azure refuses the DELETE", found: []Managed{managed(netText)}, message: "armature delete n1"},
		"deleting":  {reason: "its deletion ends first", found: []Managed{deleting}, message: "is being deleted"},
		"signed":    {reason: "the signature covers the resource alone", found: []Managed{managed(part)}, order: order, message: "the signed request covers it alone"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.fleet.dependents = Dependents{Listed: c.found, Blocking: len(c.found)}
			got, err := run(w, w.acts.CheckDependents, CheckDependentsInput{ID: id(t, thingText), Intent: contents.IntentReplace, Order: c.order})
			must(t, err)
			if len(got.Falling) != c.falling || got.Verdict.Stops() != (c.message != "") || !strings.Contains(got.Verdict.Message, c.message) {
				t.Errorf("%s: %d falling, %+v; want %d and %q", c.reason, len(got.Falling), got.Verdict, c.falling, c.message)
			}
		})
	}
}
