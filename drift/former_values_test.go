package drift_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/armature-io/armature/drift"
)

func TestRemoveFormerValues(t *testing.T) {
	const before = `{"tags":{"a":"1"},"properties":{"mode":"x","size":1,"labels":{"own":"1"},"rules":[{"name":"r","p":1},{"name":"s","p":1}],"zones":["1"]}}`
	const observed = `{"tags":{"a":"1","theirs":"2"},"properties":{"Mode":"x","size":1,"extra":true,"labels":{"own":"1","theirs":"2"},
		"rules":[{"name":"r","p":1},{"name":"s","p":1,"q":2},{"name":"theirs","p":1}],"zones":["1"]}}`
	cases := map[string]struct {
		reason, desired, want string
		ignore                []string
	}{
		"nothing": {reason: "stated values and values of others stay", desired: before, want: observed},
		"leaves": {
			reason:  "values removed from the manifest are removed, in any spelling",
			desired: `{"tags":{"a":"1"},"properties":{"size":1,"labels":{"own":"1"},"rules":[{"name":"S"},{"name":"r","p":1}]}}`,
			want: `{"tags":{"a":"1","theirs":"2"},"properties":{"size":1,"extra":true,"labels":{"own":"1","theirs":"2"},
				"rules":[{"name":"r","p":1},{"name":"S","q":2},{"name":"theirs","p":1}]}}`,
		},
		"subtrees": {
			reason:  "values of others in an object or a list stay",
			desired: `{"properties":{"mode":"x","size":1}}`,
			want:    `{"tags":{"theirs":"2"},"properties":{"Mode":"x","size":1,"extra":true,"labels":{"theirs":"2"},"rules":[{"name":"theirs","p":1}]}}`,
		},
		"ignored": {
			reason:  "an ignored path carries the observed value",
			desired: `{"tags":{"a":"1"},"properties":{"mode":"x","labels":{"own":"1"},"rules":[{"name":"r","p":1},{"name":"s","p":1}],"zones":["1"]}}`,
			ignore:  []string{"properties.size"}, want: observed,
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			baseline := drift.NewBaseline(body(t, []byte(before)), body(t, []byte(observed)), drift.Options{Put: true})
			desired := body(t, []byte(c.desired))
			payload := drift.Merge(desired, body(t, []byte(observed)), drift.Options{Type: "Contoso.Things/things", Facts: factsOf("Contoso.Things/things"), APIVersion: "2023-01-01"})
			drift.RemoveFormerValues(payload, desired, drift.Options{Ignore: c.ignore, Baseline: baseline})
			want := drift.Merge(desired, body(t, []byte(c.want)), drift.Options{Type: "Contoso.Things/things", Facts: factsOf("Contoso.Things/things"), APIVersion: "2023-01-01"})
			if diff := cmp.Diff(want, payload); diff != "" {
				t.Errorf("%s (-want +got)\n%s", c.reason, diff)
			}
		})
	}
}

// TestMergeKeepsAddedElements: with put: merge, elements of other tools are not
// differences.
func TestMergeKeepsAddedElements(t *testing.T) {
	desired := body(t, []byte(`{"l":[{"name":"a"}]}`))
	opts := drift.Options{Key: []byte("k"), Put: true, Merge: true}
	opts.Baseline = drift.NewBaseline(desired, desired, opts)
	if result := drift.Compare(desired, body(t, []byte(`{"l":[{"name":"a"},{"name":"b"}],"sku":{"name":"s"}}`)), opts); !result.InSync {
		t.Errorf("an element of another tool: %+v", result)
	}
	if result := drift.Compare(body(t, []byte(`{"l":[{"name":"c"}]}`)), body(t, []byte(`{"l":[{"name":"a"},{"name":"b"}],"sku":{"name":"s"}}`)), opts); result.InSync || len(result.Drops.Paths) > 0 {
		t.Errorf("a PUT drops nothing: %+v", result)
	}
}
