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

// TestVerdictsShowValues holds that a verdict shows the values that its condition compared:
// without bodies, bounded, and masked where a worker masks them.
func TestVerdictsShowValues(t *testing.T) {
	cases := map[string]struct{ reason, when, want string }{
		"values":   {"a text in quotes, a number as it is", `text(observed, "properties.state") == "Off" && number(desired.size, 0) > 1.0`, `text(observed, "properties.state") is "Off", number(desired.size, 0) is 3`},
		"absent":   {"null is a value", `observed.properties.none == null`, `observed.properties.none is null`},
		"no body":  {"an object says little, and is large", `observed != null && size(observed.properties.list) == 2 && desired.size == 3`, `desired.size is 3`},
		"bounded":  {"a condition may compare much", `desired.a == null && desired.b == null && desired.c == null && desired.d == null && desired.e == null`, `desired.a is null, desired.b is null, desired.c is null, desired.d is null and 1 more`},
		"constant": {"there is nothing to show", `1 < 2`, ``},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			text := "rules:\n  - name: r\n    type: Contoso.Things/parents/children\n    block: x\n    when: |-\n      " + c.when + "\n"
			got := registry(t, load(t, text)).PreCheck(t.Context(), extensionhost.Request{
				Object: extensiontest.Object(t, childID, `{"size":3}`, `{"properties":{"state":"Off","list":[1,2]}}`),
			})
			if got.Action != resource.ActionBlock || got.Message != "x" || got.Seen != c.want {
				t.Errorf("got %s %q with %q, want %q: %s", got.Action, got.Message, got.Seen, c.want, c.reason)
			}
		})
	}
}
