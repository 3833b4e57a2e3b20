package activities

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A PUT replaces all tags: those that Armature never set are carried over.
func TestPutResourceKeepsTags(t *testing.T) {
	t.Parallel()
	const observed = `{"location":"westus2","tags":{"Env":"portal","team":"data","hidden-link":"x"},"properties":{"size":7}}`
	cases := map[string]struct {
		reason string
		body   string
		before string
		want   map[string]any
	}{
		"None stated": {
			reason: "a manifest without tags takes none away",
			body:   `{"location":"westus2","properties":{"size":1}}`,
			want:   map[string]any{"Env": "portal", "team": "data", "hidden-link": "x"},
		},
		"Some stated": {
			reason: "what the manifest states wins, in any case of the name",
			body:   `{"location":"westus2","tags":{"env":"prod"},"properties":{"size":1}}`,
			want:   map[string]any{"env": "prod", "team": "data", "hidden-link": "x"},
		},
		"Stated before": {
			reason: "a tag that was in the manifest and is not any more goes",
			body:   `{"location":"westus2","tags":{"env":"prod"},"properties":{"size":1}}`,
			before: `{"location":"westus2","tags":{"env":"prod","team":"data"},"properties":{"size":1}}`,
			want:   map[string]any{"env": "prod", "hidden-link": "x"},
		},
		"Emptied": {
			reason: "tags: {} says that there are none",
			body:   `{"location":"westus2","tags":{},"properties":{"size":1}}`,
			want:   map[string]any{},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, in := putWorld(t)
			if c.before != "" {
				in.Desired.Body = json.RawMessage(c.before)
				in.Memory = local(w, w.acts.PostCheck, PostCheckInput{Desired: in.Desired, Observed: json.RawMessage(c.before), Put: true}).Memory
			}
			w.put(thingText, observed)
			in.Desired.Body, in.Create = json.RawMessage(c.body), false
			got, err := run(w, w.acts.PutResource, in)
			must(t, err)
			if !got.Sent {
				t.Fatalf("%s: no PUT: %+v", c.reason, got)
			}
			tags, _ := w.lastPut()["tags"].(map[string]any)
			if diff := cmp.Diff(c.want, tags); diff != "" {
				t.Errorf("%s (-want +got)\n%s", c.reason, diff)
			}
		})
	}
}
