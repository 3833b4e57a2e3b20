package activities

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/armature-io/armature/drift"
	"github.com/armature-io/armature/resource"
)

const netText = groupText + "/providers/Contoso.Things/nets/n1"

func TestPreCheck(t *testing.T) {
	t.Parallel()
	const body = `{"location":"westus2","properties":{"size":1}}`
	text := func(text string) string {
		return `{"$text":"` + text + `","refs":{"n1":{"$ref":"` + netText + `","apiVersion":"2023-08-15"}}}`
	}
	cases := map[string]struct {
		reason   string
		body     string
		observed string
		force    bool
		action   resource.Action
		why      resource.Reason
		class    resource.RetryClass
		parts    []string
		create   bool
		paths    []string
	}{
		"Absent": {reason: "an absent resource is created", action: resource.ActionProceed, why: resource.ReasonNotFound, create: true},
		"InSync": {
			reason: "spelling is no difference, so there is no PUT", observed: `{"location":"West US 2","properties":{"size":1,"more":true,"provisioningState":"Succeeded"}}`,
			action: resource.ActionSkip, why: resource.ReasonInSync,
		},
		"Drift": {
			reason: "the verdict names path, old and new value", observed: `{"location":"westus2","properties":{"size":7}}`,
			action: resource.ActionProceed, why: resource.ReasonDrift, parts: []string{"properties.size is 7, desired 1"}, paths: []string{"properties.size"},
		},
		"InFlight": {
			reason: "an operation in flight blocks", observed: `{"location":"westus2","properties":{"size":7,"provisioningState":"Updating"}}`,
			action: resource.ActionBlock, why: resource.ReasonOperationInProgress, class: resource.RetrySlow, parts: []string{`"Updating"`},
		},
		"Forced": {
			reason: "--force skips the guard", observed: `{"location":"westus2","properties":{"size":7,"provisioningState":"Updating"}}`, force: true,
			action: resource.ActionProceed, why: resource.ReasonDrift, paths: []string{"properties.size"},
		},
		"Failed": {
			reason: "a failed resource gets a PUT", observed: `{"location":"westus2","properties":{"size":1,"provisioningState":"Failed"}}`,
			action: resource.ActionProceed, why: resource.ReasonDrift, paths: []string{"properties.provisioningState"},
		},
		"ReferenceResolved": {
			reason:   "a $ref with a path is the value that the other resource shows",
			body:     `{"properties":{"size":{"$ref":"` + netText + `","path":"properties.count","apiVersion":"2023-08-15"}}}`,
			observed: `{"properties":{"size":3}}`, action: resource.ActionSkip, why: resource.ReasonInSync,
		},
		"ReferenceInAList": {
			reason:   "a $ref stands in a list too",
			body:     `{"properties":{"sizes":[1,[{"$ref":"` + netText + `","path":"properties.count","apiVersion":"2023-08-15"}]]}}`,
			observed: `{"properties":{"sizes":[1,[3]]}}`, action: resource.ActionSkip, why: resource.ReasonInSync,
		},
		"ReferenceNotObserved": {
			reason: "a value that does not exist yet blocks",
			body:   `{"properties":{"size":{"$ref":"` + netText + `","path":"properties.later","apiVersion":"2023-08-15"}}}`,
			action: resource.ActionBlock, why: resource.ReasonReferenceNotReady, class: resource.RetrySlow, parts: []string{"n1 does not show properties.later"},
		},
		"ReferenceMasked": {
			reason: "a secret of another resource would be written as its mask",
			body:   `{"properties":{"size":{"$ref":"` + netText + `","path":"properties.accessKey","apiVersion":"2023-08-15"}}}`,
			action: resource.ActionBlock, why: resource.ReasonReferenceNotReady, class: resource.RetrySlow, parts: []string{"is a secret", "use $secret"},
		},
		"ReferenceHoldsMask": {
			reason: "also deeper in an object",
			body:   `{"properties":{"size":{"$ref":"` + netText + `","path":"properties","apiVersion":"2023-08-15"}}}`,
			action: resource.ActionBlock, why: resource.ReasonReferenceNotReady, class: resource.RetrySlow, parts: []string{"is a secret"},
		},
		"TextFilled": {
			reason:   "a $text has the values that the other resource shows",
			body:     `{"properties":{"url":` + text("n-${ref.n1.properties.count}:${ref.n1.LOCATION}") + `}}`,
			observed: `{"properties":{"url":"n-3:westus2"}}`, action: resource.ActionSkip, why: resource.ReasonInSync,
		},
		"TextDiffers": {
			reason:   "and differs where the resource shows another text",
			body:     `{"properties":{"url":` + text("n-${ref.n1.properties.count}") + `}}`,
			observed: `{"properties":{"url":"n-4"}}`, action: resource.ActionProceed, why: resource.ReasonDrift, paths: []string{"properties.url"},
		},
		"TextNotObserved": {
			reason: "a value that does not exist yet blocks",
			body:   `{"properties":{"url":` + text("x${ref.n1.properties.later}") + `}}`,
			action: resource.ActionBlock, why: resource.ReasonReferenceNotReady, class: resource.RetrySlow, parts: []string{"${ref.n1.properties.later} has no value yet"},
		},
		"TextMasked": {
			reason: "a secret of another resource is absent in texts",
			body:   `{"properties":{"url":` + text("x${ref.n1.properties.accessKey}") + `}}`,
			action: resource.ActionBlock, why: resource.ReasonReferenceNotReady, class: resource.RetrySlow, parts: []string{"a secret never has one here"},
		},
		"SecretStated": {
			reason: "a $secret has no value to compare", body: `{"properties":{"size":1,"password":{"$secret":"env:ARMATURE_SECRET_X"}}}`,
			observed: `{"properties":{"size":1}}`, action: resource.ActionSkip, why: resource.ReasonInSync,
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.put(netText, `{"location":"westus2","properties":{"count":3,"accessKey":"`+planted+`"}}`)
			if c.body == "" {
				c.body = body
			}
			got := local(w, w.acts.PreCheck, PreCheckInput{
				Desired: desired(t, thingText, c.body), PassFacts: PassFacts{Mandate: Mandate{Force: c.force}}, Observed: json.RawMessage(c.observed),
			}).Verdict
			want(t, got, c.action, c.why, c.class, c.parts...)
			if got.Create != c.create || len(got.Differences) != len(c.paths) {
				t.Fatalf("%s: got %+v", c.reason, got)
			}
			for i, path := range c.paths {
				if got.Differences[i].Path != path {
					t.Errorf("%s: difference %+v", c.reason, got.Differences[i])
				}
			}
			if waits := c.why == resource.ReasonReferenceNotReady; waits != (len(got.WaitingFor) == 1 && got.WaitingFor[0].Equal(id(t, netText))) {
				t.Errorf("%s: waits for %v: a change of the referenced resource must wake it", c.reason, got.WaitingFor)
			}
			w.leaks(planted, got)
		})
	}
}

// PreCheck, PutResource and PostCheck must agree on what is a difference: the
// baseline that one writes is the one that the others read.
func TestComparisonsAgree(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const wanted = `{"location":"westus2","properties":{"size":1,"kept":"mine"}}`
	const shown = `{"location":"westus2","properties":{"size":1,"kept":"azures","provisioningState":"Succeeded"}}`
	d := desired(t, thingText, wanted)
	before := local(w, w.acts.PreCheck, PreCheckInput{Desired: d, Observed: json.RawMessage(shown)}).Verdict
	want(t, before, resource.ActionProceed, resource.ReasonDrift, "")
	post := local(w, w.acts.PostCheck, PostCheckInput{Desired: d, Observed: json.RawMessage(shown), Put: true})
	var memory drift.Baseline
	must(t, json.Unmarshal(post.Memory, &memory))
	if _, known := memory.Differences["properties.kept"]; !known {
		t.Fatalf("the memory is %s", post.Memory)
	}
	after := local(w, w.acts.PreCheck, PreCheckInput{Desired: d, Observed: json.RawMessage(shown), Memory: post.Memory}).Verdict
	want(t, after, resource.ActionSkip, resource.ReasonInSync, "")
	w.put(thingText, shown)
	put, err := run(w, w.acts.PutResource, PutResourceInput{Desired: d, Memory: post.Memory, ObservedAt: w.now().Add(-time.Hour)})
	must(t, err)
	if put.Sent || w.puts(thingText) != 0 {
		t.Errorf("the PUT activity finds a difference where the pre-check found none: %+v", put)
	}
	other := newWorld(t, func(s *setup) { s.options.HashKey = []byte("another key") })
	foreign := local(other, other.acts.PreCheck, PreCheckInput{Desired: d, Observed: json.RawMessage(shown), Memory: post.Memory}).Verdict
	want(t, foreign, resource.ActionProceed, resource.ReasonDrift, "")
}

func TestPreCheckInvalidBaseline(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	got := local(w, w.acts.PreCheck, PreCheckInput{Desired: desired(t, thingText, `{}`), Memory: json.RawMessage(`[1]`)}).Verdict
	want(t, got, resource.ActionError, resource.ReasonFailed, resource.RetrySlow, "memory of earlier PUTs")
}
