package drift_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/armature-io/armature/drift"
	"github.com/armature-io/armature/resource"
)

func TestBaseline(t *testing.T) {
	const desired = `{"properties":{"mode":"recover","sku":"a","rules":[{"name":"r","p":1}]}}`
	const observed = `{"properties":{"sku":"b","rules":[{"name":"r","p":2}]}}`
	baseline := drift.NewBaseline(body(t, []byte(desired)), body(t, []byte(observed)), drift.Options{
		APIVersion: "2024-01-01", Put: true, Reasons: []resource.Difference{{Path: "properties.sku"}},
	})
	cases := map[string]struct {
		reason            string
		desired, observed string
		apiVersion        string
		want              []string
		accepted          int
		notTaken          []string
		rebaselined       bool
	}{
		"nothing changed": {
			reason:  "a difference that Azure keeps after a good PUT is accepted: no further PUT",
			desired: desired, observed: observed, apiVersion: "2024-01-01",
			accepted: 3, notTaken: []string{"properties.mode", "properties.sku"},
		},
		"observed changed": {
			reason:  "a change of an accepted path by another tool is drift",
			desired: desired, observed: strings.Replace(observed, `"b"`, `"c"`, 1), apiVersion: "2024-01-01",
			want: []string{"properties.sku"}, accepted: 2, notTaken: []string{"properties.mode"},
		},
		"observed appeared": {
			reason:  "a value that appears is a change too",
			desired: desired, observed: strings.Replace(observed, `"sku"`, `"mode":"x","sku"`, 1), apiVersion: "2024-01-01",
			want: []string{"properties.mode"}, accepted: 2, notTaken: []string{"properties.sku"},
		},
		"desired changed": {
			reason:  "a changed manifest is put",
			desired: strings.Replace(desired, `"p":1`, `"p":3`, 1), observed: observed, apiVersion: "2024-01-01",
			want: []string{"properties.rules[name=r].p"}, accepted: 2, notTaken: []string{"properties.mode", "properties.sku"},
		},
		"other api-version": {
			reason:  "another api-version may show the same resource differently: that is not drift",
			desired: desired, observed: observed, apiVersion: "2025-01-01",
			accepted: 3, notTaken: []string{"properties.mode", "properties.sku"}, rebaselined: true,
		},
		"other api-version shows less": {
			reason:  "a value that the other api-version does not show, or shows in another form, is accepted once",
			desired: desired, observed: `{"properties":{"sku":{"name":"b"},"rules":[]}}`, apiVersion: "2025-01-01",
			accepted: 2, notTaken: []string{"properties.mode", "properties.sku"}, rebaselined: true,
		},
		"other api-version and desired changed": {
			reason:  "a changed manifest is put under any api-version",
			desired: strings.Replace(desired, `"p":1`, `"p":3`, 1), observed: observed, apiVersion: "2025-01-01",
			want: []string{"properties.rules[name=r].p"}, accepted: 2, notTaken: []string{"properties.mode", "properties.sku"}, rebaselined: true,
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			// Through JSON, as in the workflow's state.
			raw, err := json.Marshal(baseline)
			if err != nil {
				t.Fatal(err)
			}
			var kept drift.Baseline
			if err := json.Unmarshal(raw, &kept); err != nil {
				t.Fatal(err)
			}
			result := drift.Compare(body(t, []byte(c.desired)), body(t, []byte(c.observed)),
				drift.Options{APIVersion: c.apiVersion, Baseline: kept})
			var got []string
			for _, d := range result.Differences {
				got = append(got, d.Path)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("%s: %s", c.reason, diff)
			}
			if len(result.Accepted) != c.accepted {
				t.Errorf("%s: accepted %v, want %d", c.reason, result.Accepted, c.accepted)
			}
			if result.Rebaselined != c.rebaselined {
				t.Errorf("%s: Rebaselined = %v", c.reason, result.Rebaselined)
			}
			var notTaken []string
			for _, n := range result.NotTaken {
				notTaken = append(notTaken, n.Path)
			}
			if diff := cmp.Diff(c.notTaken, notTaken); diff != "" {
				t.Errorf("%s: not taken %s", c.reason, diff)
			}
		})
	}
}

func TestBaselineKeepsNoValues(t *testing.T) {
	baseline := drift.NewBaseline(map[string]any{"a": "planted-value", "b": map[string]any{"c": "planted-value"}},
		map[string]any{"a": "planted-other"}, drift.Options{Key: []byte("k")})
	raw, err := json.Marshal(baseline)
	if err != nil {
		t.Fatal(err)
	}
	if len(baseline.Differences) != 2 || strings.Contains(string(raw), "planted") {
		t.Errorf("baseline %s: want two paths and no value", raw)
	}
	keyless := drift.NewBaseline(map[string]any{"a": "planted-value"}, nil, drift.Options{})
	if keyless.Differences["a"].Desired == baseline.Differences["a"].Desired {
		t.Error("the key does not change the hash")
	}
}

func TestBounds(t *testing.T) {
	desired := map[string]any{}
	for i := range 300 {
		desired[fmt.Sprintf("p%03d", i)] = "x"
	}
	result := drift.Compare(desired, map[string]any{}, drift.Options{})
	if len(result.Differences) != resource.MaxDifferences || result.More != 300-resource.MaxDifferences || result.InSync {
		t.Errorf("%d differences and %d more: want them bounded", len(result.Differences), result.More)
	}
	if baseline := drift.NewBaseline(desired, map[string]any{}, drift.Options{}); len(baseline.Differences) != drift.MaxAccepted {
		t.Errorf("accepted %d paths, want %d", len(baseline.Differences), drift.MaxAccepted)
	}
}
