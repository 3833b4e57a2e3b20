package activities

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A PUT replaces all tags: those that Armature never set are carried over.
//
//guard:tags-are-kept
func TestGuardTags(t *testing.T) {
	t.Parallel()
	const observed = `{"location":"westus2","tags":{"Env":"portal","team":"data","hidden-link":"x"},"properties":{"size":7}}`
	cases := map[string]struct {
		reason string
		body   string
		before string
		want   map[string]any
		// ifMatch is set when the PUT must overwrite what was read.
		ifMatch bool
	}{
		"None stated": {
			reason: "a manifest without tags removes none",
			body:   `{"location":"westus2","properties":{"size":1}}`,
			want:   map[string]any{"Env": "portal", "team": "data", "hidden-link": "x"}, ifMatch: true,
		},
		"Some stated": {
			reason: "the manifest's value wins, in any case of the name",
			body:   `{"location":"westus2","tags":{"env":"prod"},"properties":{"size":1}}`,
			want:   map[string]any{"env": "prod", "team": "data", "hidden-link": "x"}, ifMatch: true,
		},
		"Stated before": {
			reason: "a tag that was removed from the manifest is removed",
			body:   `{"location":"westus2","tags":{"env":"prod"},"properties":{"size":1}}`,
			before: `{"location":"westus2","tags":{"env":"prod","team":"data"},"properties":{"size":1}}`,
			want:   map[string]any{"env": "prod", "hidden-link": "x"}, ifMatch: true,
		},
		"Emptied": {
			reason: "tags: {} removes all tags",
			body:   `{"location":"westus2","tags":{},"properties":{"size":1}}`,
			want:   map[string]any{}, ifMatch: true,
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var header string
			w, in := putWorld(t, func(s *setup) { s.handler = ifMatch(&header) })
			if c.before != "" {
				in.Desired.Body = json.RawMessage(c.before)
				in.Memory = local(w, w.acts.PostCheck, PostCheckInput{Desired: in.Desired, Observed: json.RawMessage(c.before), Put: true}).Memory
			}
			w.put(thingText, observed)
			in.Desired.Body, in.Kind = json.RawMessage(c.body), PutChange
			got, err := run(w, w.acts.PutResource, in)
			must(t, err)
			if !got.Sent {
				t.Fatalf("%s: no PUT: %+v", c.reason, got)
			}
			tags, _ := w.lastPut()["tags"].(map[string]any)
			if (header != "") != c.ifMatch {
				t.Errorf("%s: If-Match is %q", c.reason, header)
			}
			if diff := cmp.Diff(c.want, tags); diff != "" {
				t.Errorf("%s (-want +got)\n%s", c.reason, diff)
			}
		})
	}
}

// ifMatch records the header of the last PUT.
func ifMatch(header *string) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(response http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodPut {
				*header = r.Header.Get("If-Match")
			}
			next.ServeHTTP(response, r)
		})
	}
}
