package rules_test

import (
	"testing"

	"github.com/armature-io/armature/extensions/extensiontest"
	"github.com/armature-io/armature/internal/extensionhost"
	"github.com/armature-io/armature/resource"
)

// TestFileOrder holds that of several rules that apply the first one in the file decides.
func TestFileOrder(t *testing.T) {
	rule := func(name, more string) string {
		return "  - {name: " + name + ", type: Contoso.Things/parents/children, when: desired.size == 1, block: " + name + " decides" + more + "}\n"
	}
	const late = ", onlyBeforePut: true"
	cases := map[string]struct{ reason, text, want string }{
		"before every pass": {"rules form a chain in the order of the file", rule("a", "") + rule("b", ""), "a decides"},
		"before a PUT":      {"they decide after the comparison, in the order of the file too", rule("a", late) + rule("b", late) + rule("c", late), "a decides"},
		"mixed":             {"a rule that holds in each pass decides before those before a PUT", rule("a", late) + rule("b", ""), "b decides"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got := registry(t, load(t, "rules:\n"+c.text)).PreCheck(t.Context(), extensionhost.Request{Object: extensiontest.Object(t, childID, `{"size":1}`, `{"size":2}`)})
			if got.Action != resource.ActionBlock || got.Message != c.want {
				t.Errorf("got %s %q, want %q: %s", got.Action, got.Message, c.want, c.reason)
			}
		})
	}
}
