package activities

import (
	"cmp"
	"net/http"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/resource"
)

func TestIncarnationOf(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason, resourceType, observed, etag string
		want                                 resource.Identity
	}{
		"location":      {reason: "its spelling varies", resourceType: "Contoso.Things/things", observed: `{"location":"West US 2"}`, want: resource.Identity{"location": "westus2"}},
		"system data":   {reason: "the spelling of a time varies", resourceType: "Contoso.Things/things", observed: `{"systemData":{"createdAt":"2026-01-02T04:00:00.500+01:00"}}`, want: resource.Identity{"systemData.createdAt": "2026-01-02T03:00:00.5Z"}},
		"time":          {reason: "published as read-only", resourceType: "Microsoft.Compute/disks", observed: `{"properties":{"timeCreated":"2026-01-02T03:00:00Z"}}`, want: resource.Identity{"properties.timeCreated": "2026-01-02T03:00:00Z"}},
		"not published": {reason: "the member may be stated", resourceType: "Contoso.Things/things", observed: `{"properties":{"timeCreated":"2026-01-02T03:00:00Z"}}`, want: resource.Identity{}},
		"no time":       {reason: "a text is no time", resourceType: "Microsoft.Compute/disks", observed: `{"properties":{"timeCreated":"yesterday"},"systemData":{"createdAt":7}}`, want: resource.Identity{}},
		"ETag":          {reason: "an equal one proves sameness", resourceType: "Contoso.Things/things", etag: `"1"`, want: resource.Identity{resource.ETagMember: `"1"`}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			observed, err := resource.DecodeBody([]byte(cmp.Or(c.observed, "{}")))
			must(t, err)
			got, err := incarnationOf(t.Context(), nil, id(t, groupText+"/providers/"+c.resourceType+"/a"), observed, c.etag)
			must(t, err)
			if diff := gocmp.Diff(c.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.reason, diff)
			}
		})
	}
}

// TestGuardCreatedAgain checks that a deletion knows the resource that it began with.
//
//guard:created-again
func TestGuardCreatedAgain(t *testing.T) {
	t.Parallel()
	again := func(text, body string) func(*world) {
		return func(w *world) {
			w.advance(time.Minute)
			w.sim.Delete(text)
			w.put(text, body)
		}
	}
	const here, there = `{"location":"westus2"}`, `{"location":"eastus"}`
	cases := map[string]struct {
		reason, text, version string
		change                func(*world)
		want                  resource.Reason
		part                  string
	}{
		"network, unchanged": {reason: "it is the same", text: nsgText, version: "2023-11-01", change: func(*world) {}},
		"network, changed":   {reason: "another ETag proves nothing", text: nsgText, version: "2023-11-01", change: func(w *world) { w.put(nsgText, `{"location":"westus2","tags":{"a":"b"}}`) }},
		"network":            {reason: "its GUID differs", text: nsgText, version: "2023-11-01", change: again(nsgText, here), want: resource.ReasonCreatedAgain, part: "properties.resourceGuid was"},
		"network elsewhere":  {reason: "location and GUID differ", text: nsgText, version: "2023-11-01", change: again(nsgText, there), want: resource.ReasonCreatedAgain, part: "location was westus2 and is eastus"},
		"group, unchanged":   {reason: "it is the same", text: rg2Text, version: "2021-04-01", change: func(*world) {}},
		"group, changed":     {reason: "tags prove nothing", text: rg2Text, version: "2021-04-01", change: func(w *world) { w.put(rg2Text, `{"location":"westus2","tags":{"a":"b"}}`) }},
		"group":              {reason: "the list of groups has the time of its creation", text: rg2Text, version: "2021-04-01", change: again(rg2Text, here), want: resource.ReasonCreatedAgain, part: "createdTime was"},
		"group elsewhere":    {reason: "its location differs", text: rg2Text, version: "2021-04-01", change: again(rg2Text, there), want: resource.ReasonCreatedAgain, part: "armature delete " + rg2Text},
		"thing":              {reason: "Azure shows nothing that tells them apart", text: thingText, version: "2021-01-01", change: again(thingText, here)},
		"group, unlisted": {
			reason: "a list that lags proves nothing", text: rg2Text, version: "2021-04-01", want: resource.ReasonCheckFailed, part: "does not show",
			change: func(w *world) {
				w.sim.AddFault(armsim.Fault{Method: http.MethodGet, Path: "/subscriptions/11111111-1111-1111-1111-111111111111", On: "any", Status: http.StatusForbidden, Code: "AuthorizationFailed"})
			},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.put(groupText, here)
			w.put(c.text, here)
			d := desired(t, c.text, here)
			d.APIVersion = c.version
			first, err := run(w, w.acts.GetResource, GetResourceInput{Target: d.Target(), WithoutBody: true})
			must(t, err)
			c.change(w)
			for _, expect := range []Expectation{ExpectAny, ExpectAbsent} {
				w.fresh()
				got, _ := finish(w, w.acts.GetResource, GetResourceInput{Target: d.Target(), WithoutBody: true, Identity: first.Identity, Expect: expect})
				if got.Verdict.Reason != c.want || !strings.Contains(got.Verdict.Message, c.part) {
					t.Errorf("%s: %s %q, want %q with %q", c.reason, got.Verdict.Reason, got.Verdict.Message, c.want, c.part)
				}
			}
		})
	}
}
