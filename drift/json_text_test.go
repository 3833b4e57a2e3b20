package drift_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/armature-io/armature/drift"
	"github.com/armature-io/armature/resource"
)

// TestJSONTextParts checks what is shown of texts that contain JSON: the members that
// differ, masked where a name or a value is secret, and a bounded number of them.
func TestJSONTextParts(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a", 200)
	for name, c := range map[string]struct {
		reason            string
		desired, observed string
		want              []resource.DifferencePart
		more              int
	}{
		"members": {
			"each member that differs, by its path in the document",
			`{"rules":[{"name":"a","action":"Deny"}],"same":1,"gone":2}`, `{"rules":[{"name":"a","action":"Allow"}],"same":1,"x.y":null}`,
			[]resource.DifferencePart{{Path: "gone", Desired: "2", Observed: "absent"}, {Path: "rules[0].action", Desired: `"Deny"`, Observed: `"Allow"`}, {Path: "['x.y']", Desired: "absent", Observed: "null"}}, 0,
		},
		"items": {"items are compared by position", `[1,2,3]`, `[1,3]`, []resource.DifferencePart{{Path: "[1]", Desired: "2", Observed: "3"}, {Path: "[2]", Desired: "3", Observed: "absent"}}, 0},
		"whole": {"another kind of document", `{"a":1}`, `[1]`, []resource.DifferencePart{{Path: "", Desired: `{"a":1}`, Observed: `[1]`}}, 0},
		"secrets": {
			"no other package masks what is inside a text",
			`{"adminPassword":"new","settings":[{"name":"DB_PASSWORD","value":"v1"}],"text":"AccountKey=abcdefgh;x=1"}`,
			`{"adminPassword":"old","settings":[{"name":"DB_PASSWORD","value":"v2"}],"text":"AccountKey=ijklmnop;x=1"}`,
			[]resource.DifferencePart{{Path: "adminPassword", Desired: "(masked)", Observed: "(masked)"}, {Path: "settings[0].value", Desired: "(masked)", Observed: "(masked)"}, {Path: "text", Desired: "(masked)", Observed: "(masked)"}}, 0,
		},
		"long": {
			"long values show where they differ", `{"v":"` + long + `x"}`, `{"v":"` + long + `y"}`,
			[]resource.DifferencePart{{Path: "v", Desired: "…" + long[:117] + `x"`, Observed: "…" + long[:117] + `y"`}}, 0,
		},
		"many": {
			"histories store at most five", `[1,2,3,4,5,6,7]`, `[0,0,0,0,0,0,0]`,
			[]resource.DifferencePart{{Path: "[0]", Desired: "1", Observed: "0"}, {Path: "[1]", Desired: "2", Observed: "0"}, {Path: "[2]", Desired: "3", Observed: "0"}, {Path: "[3]", Desired: "4", Observed: "0"}, {Path: "[4]", Desired: "5", Observed: "0"}}, 2,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			body := func(text string) map[string]any {
				return map[string]any{"properties": map[string]any{"document": text}}
			}
			result := drift.Compare(body(c.desired), body(c.observed), drift.Options{})
			if len(result.Differences) != 1 {
				t.Fatalf("%s: %+v", c.reason, result.Differences)
			}
			d := result.Differences[0]
			if diff := cmp.Diff(c.want, d.Parts); diff != "" || d.MoreParts != c.more {
				t.Errorf("%s: %d more (-want +got):\n%s", c.reason, d.MoreParts, diff)
			}
			raw, err := json.Marshal(d)
			if err != nil {
				t.Fatal(err)
			}
			for _, secret := range []string{`new`, `old`, "v1", "v2", "abcdefgh", "ijklmnop"} {
				if strings.Contains(string(raw), `"`+secret) || strings.Contains(string(raw), "="+secret) {
					t.Errorf("%s: %s shows %q", c.reason, raw, secret)
				}
			}
		})
	}
}

// TestLongValuesShowTheirDifference checks that the two sides of a difference never look
// the same because they were cut.
func TestLongValuesShowTheirDifference(t *testing.T) {
	t.Parallel()
	prefix := "/subscriptions/11111111-2222-3333-4444-555555555555/resourceGroups/shop-prod-westeurope/providers/Microsoft.OperationalInsights/workspaces/shop-logs-"
	for name, c := range map[string]struct {
		reason            string
		desired, observed any
	}{
		"text":   {"an ID that differs at its end", prefix + "a", prefix + "b"},
		"list":   {"a value deep in a list", []any{prefix, prefix + "a"}, []any{prefix, prefix + "b"}},
		"shape":  {"an object in place of a text", map[string]any{"a": prefix + prefix}, prefix + prefix},
		"begins": {"a text that continues", prefix, prefix + "b"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			body := func(value any) map[string]any {
				return map[string]any{"properties": map[string]any{"workspace": value}}
			}
			result := drift.Compare(body(c.desired), body(c.observed), drift.Options{})
			if len(result.Differences) == 0 {
				t.Fatalf("%s: no difference", c.reason)
			}
			for _, d := range result.Differences {
				if d.Desired == d.Observed || len([]rune(d.Desired)) > 120 || len([]rune(d.Observed)) > 120 {
					t.Errorf("%s: %s\n%s", c.reason, d.Desired, d.Observed)
				}
			}
		})
	}
}
