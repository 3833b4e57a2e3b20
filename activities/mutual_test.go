package activities

import (
	"testing"

	"github.com/armature-io/armature/resource"
)

// Two resources that need each other and are both being deleted do not wait for
// each other without end: ARM decides which of them is deleted first.
func TestCheckDependentsIgnoresMutual(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason  string
		needs   []string
		managed Managed
		action  resource.Action
	}{
		"mutual":           {"both are being deleted", []string{groupText, thingText}, Managed{Deleting: true}, resource.ActionProceed},
		"mutual, one only": {"the other one is wanted", []string{groupText, thingText}, Managed{Ready: true}, resource.ActionBlock},
		"one way":          {"the dependent is deleted first", []string{groupText}, Managed{Deleting: true}, resource.ActionBlock},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			c.managed.ID, c.managed.Policy = id(t, thingText), resource.PolicyManage
			w.fleet.dependents = Dependents{Listed: []Managed{c.managed}, Blocking: 1}
			in := CheckDependentsInput{ID: id(t, clusterText)}
			for _, text := range c.needs {
				in.Needs = append(in.Needs, id(t, text))
			}
			got, _ := finish(w, w.acts.CheckDependents, in)
			if got.Verdict.Action != c.action {
				t.Errorf("%s: verdict %+v", c.reason, got.Verdict)
			}
		})
	}
}
