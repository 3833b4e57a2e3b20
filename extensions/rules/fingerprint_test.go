package rules_test

import (
	"strings"
	"testing"

	"github.com/armature-io/armature/extensions/rules"
)

// TestFingerprint checks that a fingerprint changes with each rule and with their order, and
// with nothing that decides nothing.
func TestFingerprint(t *testing.T) {
	const a = "- name: a\n  type: Contoso.Things/things\n  when: observed.a == 1\n  block: x\n"
	const b = "- name: b\n  type: Contoso.Things/things\n  when: observed.b == 1\n  block: x\n"
	of := func(files map[string]string) string {
		set, _, err := rules.Load(write(t, files))
		if err != nil {
			t.Fatal(err)
		}
		return set.Fingerprint()
	}
	want := of(map[string]string{"r.yaml": "rules:\n" + a + b})
	cases := map[string]struct {
		reason string
		files  map[string]string
		same   bool
	}{
		"again":      {"another process reads the same files", map[string]string{"r.yaml": "rules:\n" + a + b}, true},
		"two files":  {"the order of the rules is the same", map[string]string{"a.yaml": "rules:\n" + a, "b.yaml": "rules:\n" + b}, true},
		"comment":    {"a comment decides nothing", map[string]string{"r.yaml": "# why\nrules:\n" + a + "# next\n" + b}, true},
		"quotes":     {"the value is the same", map[string]string{"r.yaml": "rules:\n" + strings.Replace(a, "observed.a == 1", `"observed.a == 1"`, 1) + b}, true},
		"test":       {"a test decides nothing", map[string]string{"r.yaml": "rules:\n" + a + b + "tests:\n- name: t\n  rule: a\n  observed: {a: 1}\n  want: block\n"}, true},
		"order":      {"the first rule decides", map[string]string{"r.yaml": "rules:\n" + b + a}, false},
		"file order": {"files are read in the order of their names", map[string]string{"b.yaml": "rules:\n" + a, "a.yaml": "rules:\n" + b}, false},
		"condition":  {"it decides otherwise", map[string]string{"r.yaml": "rules:\n" + strings.Replace(a, "== 1", "== 2", 1) + b}, false},
		"missing":    {"a rule is missing", map[string]string{"r.yaml": "rules:\n" + a}, false},
	}
	for name, c := range cases {
		if got := of(c.files); (got == want) != c.same {
			t.Errorf("%s: %s: the fingerprints are %s and %s", name, c.reason, want, got)
		}
	}
}
