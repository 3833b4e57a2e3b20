package activities

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/armature-io/armature/resource"
)

// TestPlanShowsSettings checks what a plan shows of settings that an apply changes.
func TestPlanShowsSettings(t *testing.T) {
	t.Parallel()
	applied := func(change func(d *resource.Desired)) *resource.Desired {
		d := desired(t, thingText, plannedBody)
		change(&d)
		return &d
	}
	for name, c := range map[string]struct {
		reason   string
		observed string
		memory   *WorkflowMemory
		want     []resource.SpecChange
	}{
		"policy": {
			reason: "nothing in Azure changes, and an apply changes what a deletion does", observed: plannedBody,
			memory: &WorkflowMemory{Generation: 2, Desired: applied(func(d *resource.Desired) { d.Policy = resource.PolicyProtect })},
			want:   []resource.SpecChange{{Path: "reconcile.policy", Before: `"protect"`, After: `"manage"`}},
		},
		"body": {
			reason: "the manifest takes over what is there", observed: plannedBody,
			memory: &WorkflowMemory{Generation: 2, Desired: applied(func(d *resource.Desired) { d.Body = []byte(`{"location":"westus2"}`) })},
			want:   []resource.SpecChange{{Path: "body", Before: "as applied", After: "as stated"}},
		},
		"differences": {
			reason: "the differences show what a changed body writes", observed: `{"location":"westus2","properties":{"size":7}}`,
			memory: &WorkflowMemory{Generation: 2, Desired: applied(func(d *resource.Desired) { d.Body = []byte(`{"location":"westus2"}`); d.Interval = 0 })},
			want:   []resource.SpecChange{{Path: "reconcile.interval", Before: "0", After: "1h"}},
		},
		"same":        {reason: "an apply changes nothing", observed: plannedBody, memory: &WorkflowMemory{Generation: 2, Desired: applied(func(*resource.Desired) {})}},
		"deleting":    {reason: "an apply is refused", observed: plannedBody, memory: &WorkflowMemory{Generation: 2, Deleting: true, Desired: applied(func(d *resource.Desired) { d.Interval = 0 })}},
		"not managed": {reason: "everything is new", observed: plannedBody},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.put(groupText, `{"location":"westus2"}`)
			w.put(thingText, c.observed)
			if c.memory != nil {
				w.fleet.memories = map[string]WorkflowMemory{id(t, thingText).Key(): *c.memory}
			}
			got, err := run(w, w.acts.PlanResource, PlanResourceInput{Desired: desired(t, thingText, plannedBody)})
			must(t, err)
			if diff := cmp.Diff(c.want, got.Settings); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.reason, diff)
			}
		})
	}
}
