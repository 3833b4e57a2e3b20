package perturb

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/internal/testonly/cells"
	"github.com/armature-io/armature/manifest"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
)

const (
	group = "/subscriptions/11111111-2222-3333-4444-555555555555/resourceGroups/rg1"
	// later is when the pass of a kind begins that needs an earlier one.
	later = time.Hour + 10*time.Minute
)

// exportable are the secrets that exports may write.
var exportable, _ = resource.ParseVaultPattern("https://kv." + vaultSuffix + "/secrets/*")

// kind is a kind of pass. The manifest is applied at the beginning.
type kind struct {
	name     string
	manifest string
	desired  resource.Desired
	// azure are the resources that exist before.
	azure  []initial
	events []event
	// from is when the points begin.
	from    time.Duration
	options func(*armsim.Options)
	// next is a merge patch of the body of the manifest that makes a new generation, and of what
	// Azure shows then. drift changes a value of the manifest in Azure, foreign another value.
	next, drift, foreign string
	// overridden is set if Azure changes a value of each PUT. That is a difference for an attempt
	// that does not know the outcome of the one before, with a PUT of its own.
	overridden bool
	// conditional is set if the service refuses a creation of what exists. Another one overwrites
	// what was created after the read.
	conditional bool
	// refusal is the reason with which Azure refuses the change of a kind that replaces.
	refusal resource.Reason
}

// initial is a resource that exists before a run.
type initial struct{ id, body string }

// The resources of the kinds.
const (
	routes = `
type: Microsoft.Network/routeTables@2024-05-01
name: r1
owner: ` + group + `
body: {location: westus2, properties: {disableBgpRoutePropagation: true}, tags: {team: a}}
`
	thing = `
type: Contoso.Things/things@2024-01-01
name: t1
owner: ` + group + `
body: {location: westus2, properties: {size: 1}, tags: {team: a}}
`
	account = `
type: Microsoft.Storage/storageAccounts@2023-01-01
name: perturbed1
owner: ` + group + `
body: {location: westus2, kind: StorageV2, sku: {name: Standard_LRS}, properties: {minimumTlsVersion: TLS1_2}, tags: {team: a}}
`
	cluster  = group + "/providers/Microsoft.Kusto/clusters/adx"
	database = `
type: Microsoft.Kusto/clusters/databases@2023-08-15
name: telemetry
owner: ` + cluster + `
body: {location: westus2, kind: ReadWrite, properties: {softDeletePeriod: P30D, hotCachePeriod: P7D}}
`
	network = group + "/providers/Microsoft.Network/virtualNetworks/v1"
	subnet  = `
type: Microsoft.Network/virtualNetworks/subnets@2024-05-01
name: s1
owner: ` + network + `
body: {properties: {addressPrefix: 10.0.1.0/24}}
`
)

const (
	nextTag    = `{"tags":{"generation":"two"}}`
	driftTag   = `{"tags":{"team":"b"}}`
	foreignTag = `{"tags":{"foreign":"kept"}}`
)

// kinds returns the kinds of passes.
func kinds() []*kind {
	operations := func(o *armsim.Options) {
		o.Operations = []armsim.OperationRule{{Type: "*/*", Spec: armsim.OperationSpec{Shape: armsim.ShapeAsync, Seconds: 60, RetryAfter: []float64{15}}}}
	}
	runningCluster := []initial{{cluster, `{"location":"westus2","sku":{"name":"Dev(No SLA)_Standard_E2a_v4","tier":"Basic","capacity":1},"properties":{"state":"Running","provisioningState":"Succeeded"}}`}}
	all := []*kind{
		{name: "create", conditional: true, manifest: routes, next: nextTag, drift: driftTag, foreign: foreignTag},
		{name: "create with the whole protocol", manifest: account, next: nextTag, drift: driftTag, foreign: foreignTag},
		{name: "create under a policy", overridden: true, manifest: routes, next: nextTag, drift: `{"properties":{"disableBgpRoutePropagation":false}}`, foreign: foreignTag, options: func(o *armsim.Options) {
			o.Policies = []armsim.Policy{{Name: "team", Effect: "modify", Tags: map[string]string{"team": "of the policy"}}}
		}},
		{name: "adopt", manifest: routes, next: nextTag, drift: driftTag, foreign: foreignTag, azure: []initial{{group + "/providers/Microsoft.Network/routeTables/r1", `{"location":"westus2","properties":{"disableBgpRoutePropagation":false},"tags":{"of":"others"}}`}}},
		{name: "update", manifest: routes, from: later, next: nextTag, drift: driftTag, foreign: foreignTag, events: []event{{later, applied(`{"properties":{"disableBgpRoutePropagation":false}}`)}}},
		{name: "correction", manifest: routes, from: later, next: nextTag, drift: driftTag, foreign: foreignTag, events: []event{
			{later, changed(`{"properties":{"disableBgpRoutePropagation":false}}`)}, {later + time.Second, requested(workflows.ReconcileInput{By: "ada"})},
		}},
		{name: "routine", manifest: thing, from: 50 * time.Minute, next: nextTag, drift: driftTag, foreign: foreignTag},
		{name: "delete", manifest: routes, from: later, next: nextTag, drift: driftTag, foreign: foreignTag, events: []event{{later, deleted}}},
		{name: "delete with operation", manifest: thing, from: later, next: nextTag, drift: driftTag, foreign: foreignTag, options: operations, events: []event{{later, deleted}}},
		{name: "operation", manifest: thing, next: nextTag, drift: driftTag, foreign: foreignTag, options: operations},
		{name: "replace", refusal: "InvalidResourceLocation", manifest: routes + "reconcile: {recreate: on-immutable}\n", from: later, next: nextTag, drift: driftTag, foreign: foreignTag, events: []event{
			{later, applied(`{"location":"eastus"}`)}, {later + time.Minute, requested(workflows.ReconcileInput{Recreate: true, By: "ada"})},
		}},
		{name: "blocked", manifest: database, azure: runningCluster, next: `{"properties":{"hotCachePeriod":"P8D"}}`, drift: `{"properties":{"hotCachePeriod":"P9D"}}`, events: []event{
			{0, clusterIs("Updating")}, {12 * time.Minute, clusterIs("Succeeded")},
		}},
		{name: "wake", manifest: database, azure: runningCluster, from: 11 * time.Minute, next: `{"properties":{"hotCachePeriod":"P8D"}}`, drift: `{"properties":{"hotCachePeriod":"P9D"}}`, events: []event{
			{0, func(w *world) { w.fleet.manage(cluster, false); clusterIs("Updating")(w) }},
			{12 * time.Minute, func(w *world) {
				w.fleet.manage(cluster, true)
				clusterIs("Succeeded")(w)
				wake(cluster, "Ready")(w)
			}},
		}},
		{name: "turn", manifest: subnet, azure: []initial{{network, `{"location":"westus2","properties":{"addressSpace":{"addressPrefixes":["10.0.0.0/16"]}}}`}}, next: `{"properties":{"addressPrefix":"10.0.2.0/24"}}`, events: []event{
			{0, siblingHolds}, {3 * time.Minute, siblingEnds},
		}},
		{name: "freeze", manifest: routes, from: later, next: nextTag, drift: driftTag, foreign: foreignTag, events: []event{
			{later, func(w *world) { w.fleet.freeze(nil) }}, {later + time.Second, applied(`{"properties":{"disableBgpRoutePropagation":false}}`)},
			{later + 5*time.Minute, func(w *world) { w.fleet.unfreeze() }},
		}},
		{name: "export", manifest: account + "export: [{to: 'keyvault:https://kv." + vaultSuffix + "/secrets/key', from: {action: listKeys, path: 'keys[keyName=key1].value'}}]\n", next: nextTag, drift: driftTag, foreign: foreignTag},
		{name: "feed", manifest: routes, from: later, next: nextTag, drift: driftTag, foreign: foreignTag, events: []event{
			{later, changed(`{"properties":{"disableBgpRoutePropagation":false}}`)}, {later + time.Minute, reported},
		}},
	}
	for _, k := range all {
		k.desired = loaded(k.manifest)
		first := event{0, applied("")}
		k.events = append([]event{first}, k.events...)
	}
	return all
}

// loaded returns the spec of a manifest.
func loaded(text string) resource.Desired {
	set, err := manifest.Load(manifest.Options{Stdin: strings.NewReader(text)}, "-")
	if err != nil {
		panic(fmt.Sprintf("load %s: %v", text, err))
	}
	return set.Resources[0]
}

// specWith returns the last spec of a kind with a merge patch of its body.
func specWith(spec resource.Desired, patch string) resource.Desired {
	if patch == "" {
		return spec
	}
	body, err := json.Marshal(cells.Merged(cells.Decoded(string(spec.Body)), cells.Decoded(patch)))
	if err != nil {
		panic(err)
	}
	spec.Body = body
	return spec
}

// applied applies the manifest with a merge patch of its body.
func applied(patch string) func(*world) {
	return func(w *world) {
		w.spec = specWith(w.spec, patch)
		w.send(message{name: workflows.ApplyUpdate, input: workflows.ApplyInput{Desired: w.spec, By: "ada"}}, func() {})
	}
}

// requested requests a pass.
func requested(in workflows.ReconcileInput) func(*world) {
	return func(w *world) { w.send(message{name: workflows.ReconcileUpdate, input: in}, func() {}) }
}

func deleted(w *world) {
	w.send(message{name: workflows.DeleteUpdate, input: workflows.DeleteInput{WithData: true, By: "ada"}}, func() {})
}

// changed changes the resource as another client.
func changed(patch string) func(*world) {
	return func(w *world) {
		if err := w.sim.As(other).Patch(w.kind.desired.ID.String(), cells.Decoded(patch)); err != nil {
			w.violate("change by another client: %v", err)
		}
	}
}

// other is another client of Azure.
var other = armsim.Author{Name: "bob@example.com", Type: "User", Client: "Azure Portal"}

func clusterIs(state string) func(*world) {
	return func(w *world) {
		if err := w.sim.SetState(cluster, state, nil); err != nil {
			w.violate("state of the cluster: %v", err)
		}
	}
}

func sibling() activities.Turn {
	parent, _ := resource.ParseID(network)
	id, _ := resource.ParseID(network + "/subnets/other")
	return activities.Turn{Parent: parent, ID: id, WorkflowID: "other", RunID: "other"}
}

func siblingHolds(w *world) {
	w.fleet.mu.Lock()
	defer w.fleet.mu.Unlock()
	w.fleet.turns = append(w.fleet.turns, sibling())
}

// siblingEnds gives the turn to the resource, if it waits for it.
func siblingEnds(w *world) {
	if next, granted := w.fleet.endTurn(sibling()); granted {
		wake(next.ID.String(), "next: it has the turn")(w)
	}
}

// reported sends what the feed reports of the last change.
func reported(w *world) {
	change := resource.ReportedChange{At: w.now().Add(-time.Minute), Kind: resource.ChangeUpdate, ReportedAuthor: resource.ReportedAuthor{Name: other.Name}, Correlation: "another"}
	w.send(message{name: workflows.ReportSignal, signal: true, input: activities.Reports{Changes: []resource.ReportedChange{change}, RereadWindow: time.Minute}}, func() {})
}
