package activities

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/armature-io/armature/manifest"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/secrets"
	"github.com/google/go-cmp/cmp"
)

// TestPlanMasksByTheBody checks that a client that leaves the lists of secrets out does not
// get their values: Azure may show them anywhere.
//
//guard:masks-come-from-the-body
func TestPlanMasksByTheBody(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put(groupText, `{"location":"westus2"}`)
	w.put(thingText, `{"location":"westus2","properties":{"size":1,"other":"`+planted+`"}}`)
	spec := desired(t, thingText, `{"location":"westus2","properties":{"size":1,"other":"x","note":{"$secret":"env:ARMATURE_SECRET_ACTIVITIES"}}}`)
	got, err := run(w, w.acts.PlanResource, PlanResourceInput{Desired: spec})
	must(t, err)
	if got.Action != PlanUpdate || !strings.Contains(jsonOf(got), "properties.other") {
		t.Fatalf("the plan is %+v, want an update of properties.other", got)
	}
	w.leaks(planted, got, w.verdicts)
}

// TestSecretInPublicProperty checks that the worker publishes no secret where every reader of
// Azure sees it, also for a client that skips the checks of the CLI.
//
//guard:no-secret-in-public-places
func TestSecretInPublicProperty(t *testing.T) {
	t.Parallel()
	const marker = `{"$secret":"env:ARMATURE_SECRET_ACTIVITIES"}`
	cases := map[string]struct{ reason, body, want string }{
		"tags":             {"everybody with Reader sees tags", `{"location":"westus2","tags":{"note":` + marker + `}}`, "not allowed under tags"},
		"tags in any case": {"ARM ignores the case of names", `{"location":"westus2","TAGS":{"a":{"b":[` + marker + `]}}}`, "not allowed under tags"},
		"tags below":       {"nested resources have tags too", `{"location":"westus2","properties":{"list":[{"tags":{"note":` + marker + `}}]}}`, "not allowed under tags"},
		"name":             {"names are part of IDs", `{"location":"westus2","properties":{"list":[{"name":` + marker + `}]}}`, "not allowed under name"},
		"location":         {"it is in each list", `{"location":` + marker + `}`, "not allowed under location"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, in := putWorld(t)
			in.Desired.Body = json.RawMessage(c.body)
			got, err := run(w, w.acts.PutResource, in)
			must(t, err)
			if got.Sent || got.Verdict.Reason != resource.ReasonSecretNotFound || !strings.Contains(got.Verdict.Message, c.want) {
				t.Errorf("%s: got %+v, want a refusal with %q", c.reason, got.Verdict, c.want)
			}
			if len(w.sim.Writes()) > 1 { // the group of the world
				t.Errorf("%s: ARM received %v", c.reason, w.sim.Writes())
			}
			w.leaks(planted, got, w.verdicts, w.sim.Writes())
		})
	}
}

// TestPlainPathsComeFromTheBody checks that a manifest is masked by its body as by the lists
// that the reader of manifests made, so that no upgrade shows or hides anything.
func TestPlainPathsComeFromTheBody(t *testing.T) {
	t.Parallel()
	const text = `
type: Contoso.Things/things@2023-08-15
name: t1
owner: ` + groupText + `
body:
  tags: {apiKey: public, token: {$plain: x}}
  properties:
    script: {$plain: "curl -H 'password=abcdefgh'"}
    key: {$ref: ` + clusterText + `@2023-08-15}
    data: {color: {$plain: blue}, sharedKey: {$plain: [a, b]}, list: [{name: n, password: {$secret: env:ARMATURE_SECRET_A}}]}
    connection: {$plain: "AccountName=a;AccountKey=abcdefgh=="}
`
	set, err := manifest.Load(manifest.Options{Stdin: strings.NewReader(text)}, "-")
	if err != nil {
		t.Fatal(err)
	}
	examples, err := manifest.Load(manifest.Options{}, "../examples")
	if err != nil {
		t.Fatal(err)
	}
	masker := secrets.NewMasker([]byte("0123456789abcdef"))
	for _, read := range append(set.Resources, examples.Resources...) {
		derived := read.WithSecrets()
		observed, err := resource.DecodeBody(read.Body)
		must(t, err)
		mask := func(d resource.Desired) map[string]any {
			return masker.MaskPaths(masker.Mask(d.ID.Type(), observed, d.Plain), d.Secret)
		}
		if diff := cmp.Diff(mask(read), mask(derived)); diff != "" {
			t.Errorf("%s (-lists of the manifest +body):\n%s", read.ID, diff)
		}
	}
	if len(set.Resources[0].Plain) < 4 {
		t.Errorf("the manifest has the plain paths %q: the test compares little", set.Resources[0].Plain)
	}
}
