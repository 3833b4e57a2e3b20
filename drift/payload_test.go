package drift_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/armature-io/armature/drift"
)

func TestPayload(t *testing.T) {
	cases := map[string]struct {
		reason                  string
		desired, observed, want string
		ignore                  []string
	}{
		"nothing ignored": {
			reason:  "without ignored paths the payload is the body",
			desired: `{"a":1}`, observed: `{"a":2,"b":3}`, want: `{"a":1}`,
		},
		"property": {
			reason:  "an ignored path carries the observed value, not the desired one",
			desired: `{"properties":{"count":1,"x":1}}`, observed: `{"properties":{"Count":5,"x":2}}`,
			ignore: []string{"properties.count"}, want: `{"properties":{"count":5,"x":1}}`,
		},
		"not stated": {
			reason:  "a PUT without the value would reset it, so it is added",
			desired: `{"properties":{}}`, observed: `{"properties":{"scale":{"count":5,"max":9}},"tags":{"a.b/c":"v","d":"w"}}`,
			ignore: []string{"properties.scale.count", "tags['a.b/c']"},
			want:   `{"properties":{"scale":{"count":5}},"tags":{"a.b/c":"v"}}`,
		},
		"not observed": {
			reason:  "without an observed value the manifest's value stays",
			desired: `{"properties":{"count":1}}`, observed: `{"properties":{}}`,
			ignore: []string{"properties.count", "properties.a.b"}, want: `{"properties":{"count":1}}`,
		},
		"elements": {
			reason:  "elements are matched as Compare matches them; none is added",
			desired: `{"l":[{"name":"a","n":1},{"name":"b","n":1},{"name":"new","n":1}]}`, observed: `{"l":[{"name":"B","n":7},{"name":"a","n":8},{"name":"c","n":9}]}`,
			ignore: []string{"l[*].n"}, want: `{"l":[{"name":"a","n":8},{"name":"b","n":7},{"name":"new","n":1}]}`,
		},
		"one element": {
			reason:  "a key picks one element",
			desired: `{"l":[{"name":"a","n":1},{"name":"b","n":1}],"s":["x","y"]}`, observed: `{"l":[{"name":"a","n":7},{"name":"b","n":8}],"s":["p","q"]}`,
			ignore: []string{"l[name=b].n", "s[1]"}, want: `{"l":[{"name":"a","n":1},{"name":"b","n":8}],"s":["x","q"]}`,
		},
		"other shape": {
			reason:  "a path into a value of another shape changes nothing",
			desired: `{"a":"text","b":[1]}`, observed: `{"a":{"x":1},"b":{"x":1}}`,
			ignore: []string{"a.x", "b.x", "b[*].y"}, want: `{"a":"text","b":[1]}`,
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			desired, observed := body(t, []byte(c.desired)), body(t, []byte(c.observed))
			got := drift.Payload(desired, observed, c.ignore)
			if diff := cmp.Diff(body(t, []byte(c.want)), got); diff != "" {
				t.Errorf("%s (-want +got)\n%s", c.reason, diff)
			}
			got["planted"] = true
			if diff := cmp.Diff(body(t, []byte(c.desired)), desired); diff != "" {
				t.Errorf("desired was changed: %s", diff)
			}
			if diff := cmp.Diff(body(t, []byte(c.observed)), observed); diff != "" {
				t.Errorf("observed was changed: %s", diff)
			}
		})
	}
}
