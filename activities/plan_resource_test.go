package activities

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/resource"
)

const plannedBody = `{"location":"westus2","properties":{"size":1}}`

func TestPlanResource(t *testing.T) {
	t.Parallel()
	const reference = `{"properties":{"size":1,"net":{"$ref":"` + netText + `","path":"properties.count","apiVersion":"2023-08-15"}}}`
	cases := map[string]struct {
		reason   string
		observed string
		body     string
		put      resource.Put
		group    bool
		together []string
		ref      bool
		memory   *WorkflowMemory
		state    string
		want     PlanResourceResult
		requests []string
	}{
		"Create": {
			reason: "an absent resource is created", group: true,
			want: PlanResourceResult{Action: PlanCreate, Reason: resource.ReasonNotFound}, requests: []string{"GET rg1", "GET t1", "GET Contoso.Things"},
		},
		"CreateAfterOwner": {
			reason:   "an owner that the plan creates is no block, and what is in it does not exist",
			together: []string{groupText}, want: PlanResourceResult{Action: PlanCreate, Reason: resource.ReasonNotFound, After: []resource.ID{id(t, groupText)}},
			requests: []string{"GET rg1", "GET Contoso.Things"},
		},
		"OwnerAbsent": {
			reason: "an absent owner that is not in the plan blocks",
			want:   PlanResourceResult{Action: PlanBlocked, Reason: resource.ReasonWaitingForOwner, WaitingFor: []resource.ID{id(t, groupText)}}, requests: []string{"GET rg1"},
		},
		"CreateAfterReference": {
			reason: "a value of a resource that is created first is not known, and does not block", group: true, ref: true, body: reference, together: []string{netText},
			want: PlanResourceResult{Action: PlanCreate, After: []resource.ID{id(t, netText)}}, requests: []string{"GET rg1", "GET n1", "GET t1", "GET Contoso.Things"},
		},
		"ReferenceAbsent": {
			reason: "an absent reference that is not in the plan blocks, and the resource is not read", group: true, ref: true, body: reference,
			want: PlanResourceResult{Action: PlanBlocked, Reason: resource.ReasonReferenceNotFound, WaitingFor: []resource.ID{id(t, netText)}}, requests: []string{"GET rg1", "GET n1"},
		},
		"Update": {
			reason: "each path with its values, and what the PUT removes", group: true, put: resource.PutReplace,
			observed: `{"location":"westus2","identity":{"type":"SystemAssigned"},"properties":{"size":7}}`,
			want: PlanResourceResult{
				Action: PlanUpdate, Reason: resource.ReasonDrift, Drops: []string{"identity"},
				Differences: []resource.Difference{{Path: "properties.size", Desired: "1", Observed: "7", Rule: "value"}},
			}, requests: []string{"GET rg1", "GET t1"},
		},
		"InSync": {
			reason: "spelling is no change", group: true, observed: `{"location":"West US 2","properties":{"size":1}}`,
			want: PlanResourceResult{Action: PlanNone, Reason: resource.ReasonInSync}, requests: []string{"GET rg1", "GET t1"},
		},
		"InFlight": {
			reason: "an operation in flight blocks", group: true, observed: `{"location":"westus2","properties":{"size":7,"provisioningState":"Updating"}}`,
			want: PlanResourceResult{Action: PlanBlocked, Reason: resource.ReasonOperationInProgress}, requests: []string{"GET rg1", "GET t1"},
		},
		"Deleting": {
			reason: "a resource that is being deleted accepts no new spec", group: true, memory: &WorkflowMemory{Generation: 1, Deleting: true},
			want: PlanResourceResult{Action: PlanBlocked, Reason: resource.ReasonDeleting, Managed: true, Generation: 1}, requests: []string{},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			if c.group {
				w.put(groupText, `{"location":"westus2"}`)
			}
			if c.observed != "" {
				w.put(thingText, c.observed)
			}
			if c.body == "" {
				c.body = plannedBody
			}
			if c.memory != nil {
				w.fleet.memories = map[string]WorkflowMemory{id(t, thingText).Key(): *c.memory}
			}
			d := desired(t, thingText, c.body)
			d.Put = c.put
			if c.ref {
				d.References = []resource.Reference{{ID: id(t, netText), APIVersion: "2023-08-15"}}
			}
			in := PlanResourceInput{Desired: d}
			for _, text := range c.together {
				in.Together = append(in.Together, id(t, text))
			}
			got, err := run(w, w.acts.PlanResource, in)
			must(t, err)
			if got.Fingerprint == "" || got.APIVersion != "2023-08-15" {
				t.Errorf("no fingerprint or api-version: %+v", got)
			}
			got.Fingerprint, got.APIVersion, got.Message, got.Severity = "", "", "", ""
			if diff := cmp.Diff(c.want, got, cmp.Comparer(resource.ID.Equal)); diff != "" {
				t.Errorf("%s (-want +got)\n%s", c.reason, diff)
			}
			if diff := cmp.Diff(c.requests, slices.Compact(w.requests())); diff != "" {
				t.Errorf("%s: requests (-want +got)\n%s", c.reason, diff)
			}
		})
	}
}

// TestPlanByID plans the spec that the workflow of a resource records.
func TestPlanByID(t *testing.T) {
	t.Parallel()
	recorded := desired(t, thingText, plannedBody)
	cases := map[string]struct {
		reason   string
		memory   *WorkflowMemory
		unread   error
		observed string
		want     PlanAction
		recorded *resource.Desired
	}{
		"Create":    {reason: "its body is shown", memory: &WorkflowMemory{Generation: 3, Desired: &recorded}, want: PlanCreate, recorded: &recorded},
		"Update":    {reason: "the recorded value counts", memory: &WorkflowMemory{Generation: 3, Desired: &recorded}, observed: `{"location":"westus2","properties":{"size":7}}`, want: PlanUpdate},
		"Unmanaged": {reason: "it ended since it was listed", want: PlanNone},
		"Unread":    {reason: "an unknown spec is an error", unread: errors.New("no worker"), want: PlanError},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.put(groupText, `{"location":"westus2"}`)
			if c.observed != "" {
				w.put(thingText, c.observed)
			}
			if c.memory != nil {
				w.fleet.memories = map[string]WorkflowMemory{id(t, thingText).Key(): *c.memory}
			}
			w.fleet.err, w.details = c.unread, []byte(`{"transientErrors":100}`)
			got, err := run(w, w.acts.PlanResource, PlanResourceInput{Desired: resource.Desired{ID: id(t, thingText)}})
			must(t, err)
			if got.Action != c.want || got.Managed != (c.memory != nil) {
				t.Errorf("%s: got %+v", c.reason, got)
			}
			if diff := cmp.Diff(c.recorded, got.Recorded, cmp.Comparer(resource.ID.Equal)); diff != "" {
				t.Errorf("%s: recorded (-want +got)\n%s", c.reason, diff)
			}
		})
	}
}

// A plan shows no PUT for values that Azure keeps: it queries the workflow for its
// baseline.
func TestPlanUsesTheBaseline(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const shown = `{"location":"westus2","properties":{"size":7,"provisioningState":"Succeeded"}}`
	w.put(groupText, `{"location":"westus2"}`)
	w.put(thingText, shown)
	d := desired(t, thingText, plannedBody)
	put, err := run(w, w.acts.GetResource, GetResourceInput{Target: resource.Target{ID: d.ID, APIVersion: d.APIVersion}})
	must(t, err)
	post := local(w, w.acts.PostCheck, PostCheckInput{Desired: d, Observed: put.Observed, Put: true})
	before, err := run(w, w.acts.PlanResource, PlanResourceInput{Desired: d})
	must(t, err)
	w.fleet.memories = map[string]WorkflowMemory{d.ID.Key(): {Generation: 1, Memory: post.Memory}}
	after, err := run(w, w.acts.PlanResource, PlanResourceInput{Desired: d})
	must(t, err)
	if before.Action != PlanUpdate || after.Action != PlanNone || !after.Managed {
		t.Errorf("without a baseline %+v, with it %+v; want an update and then none", before, after)
	}
}

// A plan names what stops a due write for now.
func TestPlanStopped(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		memory WorkflowMemory
		frozen bool
		want   string
	}{
		"Paused": {memory: WorkflowMemory{Generation: 1, Paused: true}, want: "paused"},
		"Frozen": {frozen: true, want: "armature unfreeze"},
		"Free":   {memory: WorkflowMemory{Generation: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.put(groupText, `{"location":"westus2"}`)
			d := desired(t, thingText, plannedBody)
			d.Labels = map[string]string{"stack": "prod"}
			w.fleet.frozen = c.frozen
			w.fleet.memories = map[string]WorkflowMemory{d.ID.Key(): c.memory}
			got, err := run(w, w.acts.PlanResource, PlanResourceInput{Desired: d})
			must(t, err)
			if got.Action != PlanCreate || !strings.Contains(got.Held, c.want) || c.want == "" && got.Held != "" {
				t.Errorf("got %+v, want a create stopped by %q", got, c.want)
			}
		})
	}
}

// adopt decides about a resource that exists and was never applied, recreate about
// one that disappeared.
func TestPlanAdopts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put(groupText, `{"location":"westus2"}`)
	w.put(thingText, `{"location":"westus2","properties":{"size":7}}`)
	d := desired(t, thingText, plannedBody)
	d.Adopt = resource.AdoptAsIs
	first, err := run(w, w.acts.PlanResource, PlanResourceInput{Desired: d})
	must(t, err)
	w.fleet.memories = map[string]WorkflowMemory{d.ID.Key(): {Generation: 1, Applied: true}}
	later, err := run(w, w.acts.PlanResource, PlanResourceInput{Desired: d})
	must(t, err)
	if first.Action != PlanNone || len(first.Differences) != 1 || later.Action != PlanUpdate {
		t.Errorf("as-is: first %+v, later %+v; want differences that are kept, then an update", first, later)
	}
}

// The fingerprint changes with the values that the manifest states, and with
// nothing else.
func TestPlanFingerprint(t *testing.T) {
	t.Parallel()
	const body = `{"properties":{"size":1,"note":"x","rules":[{"name":"a","port":1},{"name":"b","port":2}]}}`
	long := `"` + strings.Repeat("y", 200)
	shown := `{"etag":"1","properties":{"size":7,"note":` + long + `0","rules":[{"name":"a","port":1,"etag":"1"},{"name":"b","port":2,"etag":"2"}],"used":3}}`
	fingerprint := func(observed string, ignore ...string) string {
		w := newWorld(t)
		w.put(groupText, `{"location":"westus2"}`)
		w.put(thingText, observed)
		d := desired(t, thingText, body)
		d.Ignore = ignore
		got, err := run(w, w.acts.PlanResource, PlanResourceInput{Desired: d})
		must(t, err)
		return got.Fingerprint
	}
	base := fingerprint(shown)
	cases := map[string]struct {
		reason, old, new string
		moves            bool
	}{
		"Value":     {"the value to change is different now", `"size":7`, `"size":8`, true},
		"InSyncNow": {"another user made the change already", `"size":7`, `"size":1`, true},
		"Element":   {"so is one in a list", `"port":2`, `"port":3`, true},
		"Added":     {"another user added an element, which the PUT would remove", `"rules":[`, `"rules":[{"name":"c"},`, true},
		"Unstated":  {"values that the manifest does not state change by themselves", `"used":3`, `"used":4`, false},
		"Reordered": {"servers reorder such lists", `{"name":"a","port":1,"etag":"1"},{"name":"b","port":2,"etag":"2"}`, `{"name":"b","port":2,"etag":"2"},{"name":"a","port":1,"etag":"1"}`, false},
		"LongValue": {"also a value that is too long to be shown", long + `0"`, long + `1"`, true},
		"InElement": {"also within a list", `"etag":"2"`, `"etag":"3"`, false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if moved := fingerprint(strings.Replace(shown, c.old, c.new, 1)) != base; moved != c.moves {
				t.Errorf("%s: changed is %v", c.reason, moved)
			}
		})
	}
	ignoring := fingerprint(shown, "properties.rules[*].port")
	if ignoring != fingerprint(strings.Replace(shown, `"port":2`, `"port":9`, 1), "properties.rules[*].port") {
		t.Error("an ignored path changes the fingerprint")
	}
}

// A plan waits for ARM's budget instead of failing, and a final error is an error of
// the plan.
func TestPlanRefused(t *testing.T) {
	t.Parallel()
	d := desired(t, thingText, plannedBody)
	for name, c := range map[string]struct {
		fault  armsim.Fault
		want   PlanAction
		reason resource.Reason
	}{
		"Throttled": {armsim.Fault{Method: http.MethodGet, Path: thingText, Status: http.StatusTooManyRequests, Code: "TooManyRequests", Headers: map[string]string{"Retry-After": "7"}, Count: 2}, PlanCreate, resource.ReasonNotFound},
		"Forbidden": {armsim.Fault{Method: http.MethodGet, Path: thingText, Status: http.StatusForbidden, Code: "AuthorizationFailed"}, PlanError, "AuthorizationFailed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.put(groupText, `{"location":"westus2"}`)
			w.sim.AddFault(c.fault)
			got, _ := finish(w, w.acts.PlanResource, PlanResourceInput{Desired: d})
			if got.Action != c.want || got.Reason != c.reason {
				t.Errorf("got %+v, want %s %s", got, c.want, c.reason)
			}
		})
	}
}

// TestPlanOwned checks that a plan names the owner of a value that differs, and that the owner
// may move it between the plan and its apply.
func TestPlanOwned(t *testing.T) {
	t.Parallel()
	const (
		namespace = groupText + "/providers/Microsoft.EventHub/namespaces/n1"
		body      = `{"location":"westus2","sku":{"name":"Standard","capacity":%d},"properties":{"isAutoInflateEnabled":true}}`
	)
	plan := func(capacity int) PlanResourceResult {
		w := newWorld(t)
		w.put(groupText, `{"location":"westus2"}`)
		w.put(namespace, fmt.Sprintf(body, capacity))
		d := desired(t, namespace, fmt.Sprintf(body, 2))
		d.APIVersion = "2024-01-01"
		result, err := run(w, w.acts.PlanResource, PlanResourceInput{Desired: d})
		must(t, err)
		return result
	}
	same, moved := plan(2), plan(9)
	if moved.Action != PlanNone || !slices.Equal(moved.Owned, []string{"sku.capacity belongs to properties.isAutoInflateEnabled"}) || len(same.Owned) > 0 {
		t.Errorf("%s, owned %v, and %v at the manifest's value", moved.Action, moved.Owned, same.Owned)
	}
	if same.Fingerprint != moved.Fingerprint {
		t.Error("the fingerprint changed with a value of another owner")
	}
}
