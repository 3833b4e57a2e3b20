package drift_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/armature-io/armature/drift"
	"github.com/armature-io/armature/internal/jsontree"
)

func TestMerge(t *testing.T) {
	cases := map[string]struct{ reason, desired, observed, want string }{
		"unstated values stay": {
			reason:   "put: merge keeps unstated values",
			desired:  `{"tags":{"a":"1"},"properties":{"x":2}}`,
			observed: `{"sku":{"name":"S1"},"tags":{"b":"2"},"properties":{"x":1,"y":{"z":true}}}`,
			want:     `{"sku":{"name":"S1"},"tags":{"a":"1","b":"2"},"properties":{"x":2,"y":{"z":true}}}`,
		},
		"read-only values are not sent": {
			reason:   "providers refuse some of the values that ARM sets",
			desired:  `{"location":"westus2"}`,
			observed: `{"id":"/x","name":"n","type":"t","etag":"e","systemData":{},"location":"westus","properties":{"provisioningState":"Succeeded","id":"mine"}}`,
			want:     `{"location":"westus2","properties":{"id":"mine"}}`,
		},
		"named items": {
			reason:   "items of other tools stay, and items of the manifest are merged",
			desired:  `{"properties":{"rules":[{"name":"A","p":2},{"name":"c","p":3}]}}`,
			observed: `{"properties":{"rules":[{"name":"a","p":1,"q":9},{"name":"b","p":1}]}}`,
			want:     `{"properties":{"rules":[{"name":"A","p":2,"q":9},{"name":"b","p":1},{"name":"c","p":3}]}}`,
		},
		"other lists": {
			reason:  "items without a key cannot be matched",
			desired: `{"properties":{"zones":["1"],"rules":[{"p":1}],"none":[]}}`, observed: `{"properties":{"zones":["1","2"],"rules":[{"p":2},{"p":3}],"none":[{"name":"x"}]}}`,
			want: `{"properties":{"zones":["1"],"rules":[{"p":1}],"none":[]}}`,
		},
		"null":   {reason: "null removes the value", desired: `{"properties":{"x":null}}`, observed: `{"properties":{"X":1}}`, want: `{"properties":{"x":null}}`},
		"absent": {reason: "a create carries the desired body", desired: `{"location":"x"}`, observed: `null`, want: `{"location":"x"}`},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			desired, observed, want := object(t, c.desired), object(t, c.observed), object(t, c.want)
			before := jsontree.Clone(observed)
			if diff := cmp.Diff(want, drift.Merge(desired, observed, drift.Options{Type: "Contoso.Things/things", Facts: factsOf("Contoso.Things/things"), APIVersion: "2023-01-01"})); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.reason, diff)
			}
			if diff := cmp.Diff(before, observed); diff != "" {
				t.Errorf("the observed body was changed:\n%s", diff)
			}
		})
	}
}

// TestMergeOtherForm merges an activity of a pipeline that has another form in the manifest
// than in Azure.
func TestMergeOtherForm(t *testing.T) {
	cases := map[string]struct{ reason, shown string }{
		"same name":  {"members of the old form do not belong to the new one", "Step"},
		"other case": {"names of items ignore case, as keys do in every other comparison", "step"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			desired := object(t, `{"properties":{"activities":[{"name":"Step","type":"Wait","typeProperties":{"waitTimeInSeconds":1}}]}}`)
			observed := object(t, `{"properties":{"activities":[{"name":"`+c.shown+`","type":"WebActivity","linkedServiceName":{"referenceName":"x","type":"LinkedServiceReference"},"typeProperties":{"method":"GET","url":"https://old.example"}}]}}`)
			if diff := cmp.Diff(desired, drift.Merge(desired, observed, drift.Options{Type: "Microsoft.DataFactory/factories/pipelines", Facts: factsOf("Microsoft.DataFactory/factories/pipelines"), APIVersion: "2018-06-01"})); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.reason, diff)
			}
		})
	}
}

func object(t *testing.T, text string) map[string]any {
	t.Helper()
	var value map[string]any
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		t.Fatal(err)
	}
	return value
}
