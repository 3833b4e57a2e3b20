package rules_test

import (
	"strings"
	"testing"

	"github.com/armature-io/armature/extensions/extensiontest"
	"github.com/armature-io/armature/internal/extensionhost"
	"github.com/armature-io/armature/resource"
)

// TestStatesHoldWhatIsBelow holds that the words of a type count for everything below a
// resource, and that a verdict names the rule with the word.
func TestStatesHoldWhatIsBelow(t *testing.T) {
	const (
		grandchild = childID + "/policies/p"
		busy       = `{"properties":{"target":"scaling"}}`
	)
	r := registry(t, load(t, "rules:\n  - {name: idle, type: Contoso.Things/others, busy: X}\n  - {name: scaling, type: Contoso.Things/parents, path: properties.target, busy: [Scaling]}\n"))
	check := func(body string) resource.Verdict {
		return r.CheckOwner(t.Context(), extensionhost.Request{
			Object: extensiontest.Object(t, grandchild, `{}`, ""), Owner: extensiontest.Object(t, childID, "", `{"properties":{}}`),
			Resolver: &extensiontest.Resolver{Resources: map[string]string{parentID: body}},
		})
	}
	got := check(busy)
	if got.Action != resource.ActionBlock || !strings.Contains(got.Message, `"p1" (Contoso.Things/parents) is busy: properties.target is "scaling"`) {
		t.Errorf("got %s %q, want a block by the grandparent", got.Action, got.Message)
	}
	if len(got.WaitingFor) != 1 || !strings.EqualFold(got.WaitingFor[0].String(), parentID) {
		t.Errorf("it waits for %v, want the grandparent alone", got.WaitingFor)
	}
	if got := check(`{"properties":{"target":"Steady"}}`); got.Stops() {
		t.Errorf("got %+v, want that another word holds nothing", got)
	}
	child := r.CheckOwner(t.Context(), extensionhost.Request{Object: extensiontest.Object(t, childID, `{}`, ""), Owner: extensiontest.Object(t, parentID, "", busy)})
	self := r.PreCheck(t.Context(), extensionhost.Request{Object: extensiontest.Object(t, parentID, `{}`, busy)})
	after := r.PostCheck(t.Context(), extensionhost.Request{Object: extensiontest.Object(t, parentID, `{}`, busy)})
	for name, verdict := range map[string]resource.Verdict{"grandchild": got, "child": child, "itself": self, "after the PUT": after} {
		if !strings.HasPrefix(verdict.Origin, "rule scaling (") || !strings.HasSuffix(verdict.Origin, "r.yaml:3)") {
			t.Errorf("%s: origin %q of %q, want the rule with its line", name, verdict.Origin, verdict.Message)
		}
	}
}
