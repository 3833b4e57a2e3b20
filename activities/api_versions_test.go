package activities

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/resource"
)

const markText = thingText + "/providers/Contoso.Marks/marks/m1"

// marked is an extension resource of a thing without a stated api-version.
func marked(t *testing.T) resource.Desired {
	t.Helper()
	d := desired(t, markText, `{}`)
	d.OwnerAPIVersion = ""
	return d
}

// lists returns the number of requests for the provider's list, and the
// api-versions with which the thing was read.
func (w *world) lists() (lists int, read string) {
	for _, r := range w.sim.Requests() {
		switch {
		case strings.HasSuffix(r.Path, "/providers/Contoso.Things"):
			lists++
		case r.ID == thingText:
			read = r.APIVersion
		}
	}
	return lists, read
}

// An owner, a reference and a dependency without api-version are read with the
// newest stable one that their provider lists, and the verdict names it.
func TestNewestAPIVersion(t *testing.T) {
	t.Parallel()
	offer := func(versions ...string) func(*world) {
		return func(w *world) {
			w.sim.LimitType(armsim.TypeLimit{Type: "contoso.things/things", APIVersions: versions})
		}
	}
	cases := map[string]struct {
		reason string
		given  func(*world)
		want   string // api-version
		// parts are in the message of a refusal.
		class resource.RetryClass
		parts []string
	}{
		"Stable":   {reason: "a preview that is newer does not count", given: offer("2024-01-01", "2025-01-01-preview", "2022-05-05"), want: "2024-01-01"},
		"Previews": {reason: "there is no stable one", given: offer("2024-01-01-preview", "2025-01-01-preview"), want: "2025-01-01-preview"},
		"Refused": {reason: "the credential may not read the list", class: resource.RetryVerySlow, parts: []string{"403", "write " + thingText + "@<api-version>"}, given: func(w *world) {
			w.sim.AddFault(armsim.Fault{Method: http.MethodGet, Path: "*/providers/Contoso.Things", Status: 403, Code: "AuthorizationFailed"})
		}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.put(thingText, thingBody)
			c.given(w)
			d := marked(t)
			got := local(w, w.acts.CheckOwner, CheckOwnerInput{Desired: d})
			if c.want == "" {
				want(t, got.Verdict, resource.ActionError, resource.ReasonCheckFailed, c.class, c.parts...)
				return
			}
			want(t, got.Verdict, resource.ActionProceed, "", "", "read t1 with "+c.want)
			d.OwnerAPIVersion = c.want
			for i, list := range []*[]resource.Reference{&d.References, &d.DependsOn} {
				*list = []resource.Reference{{ID: id(t, thingText)}}
				got = local(w, w.acts.CheckOwner, CheckOwnerInput{Desired: d})
				want(t, got.Verdict, resource.ActionProceed, "", "", "with "+c.want)
				if lists, read := w.lists(); lists != 1 || i == 0 && read != c.want {
					t.Errorf("%s: %d lists, read with %s", c.reason, lists, read)
				}
				*list = nil
			}
		})
	}
}

// A $ref needs no stated api-version.
func TestNewestAPIVersionOfAValue(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put(thingText, `{"location":"westus2","properties":{"size":7}}`)
	w.put(groupText+"/providers/Contoso.Things/things/t2", thingBody)
	d := desired(t, groupText+"/providers/Contoso.Things/things/t2", "")
	d.Body = json.RawMessage(`{"location":"westus2","properties":{"size":{"$ref":"` + thingText + `","path":"properties.size","apiVersion":""}}}`)
	got, _ := finish(w, w.acts.PutResource, PutResourceInput{Desired: d, ObservedAt: w.now()})
	if sent, _ := w.lastPut()["properties"].(map[string]any); !got.Sent || fmt.Sprint(sent["size"]) != "7" {
		t.Errorf("result %+v, sent %v", got, sent)
	}
}
