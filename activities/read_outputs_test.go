package activities

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/armature-io/armature/drift"
	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/resource"
)

// TestReadOutputs reads the outputs of a managed resource: read-only values too, and no
// secret, neither by its name nor because the spec has a $secret there.
func TestReadOutputs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put(thingText, `{"location":"westus2","properties":{"host":"h1","ports":[1,2],"accessKey":"`+planted+`","label":"`+planted+`","inner":{"accessKey":"`+planted+`"}}}`)
	spec := desired(t, thingText, `{"properties":{"label":{"$secret":"env:ARMATURE_SECRET_X"}}}`)
	spec.Outputs = map[string]string{
		"HOST": "properties.host", "PORTS": "properties.ports", "NONE": "properties.none",
		"KEY": "properties.accessKey", "LABEL": "properties.label", "INNER": "properties.inner",
	}
	got, err := run(w, w.acts.ImportResource, ImportResourceInput{Managed: &spec})
	must(t, err)
	if diff := cmp.Diff(map[string]any{"HOST": "h1", "PORTS": []any{1.0, 2.0}}, got.Outputs); diff != "" {
		t.Errorf("outputs (-want +got)\n%s", diff)
	}
	for name, want := range map[string]string{"NONE": "Azure does not show properties.none", "KEY": "is a secret", "LABEL": "is a secret", "INNER": "is a secret"} {
		if !strings.Contains(got.WithoutValue[name], want) {
			t.Errorf("%s has no value because %q, want %q", name, got.WithoutValue[name], want)
		}
	}
	if got.Body != nil {
		t.Errorf("the body was returned without being asked for: %s", got.Body)
	}
	w.leaks(planted, got)
	got, err = run(w, w.acts.ImportResource, ImportResourceInput{Managed: &spec, Whole: true})
	must(t, err)
	if !strings.Contains(string(got.Body), `"host":"h1"`) {
		t.Errorf("the body is %s", got.Body)
	}
	w.leaks(planted, got)
	absent := desired(t, netText, `{}`)
	got, err = run(w, w.acts.ImportResource, ImportResourceInput{Managed: &absent})
	must(t, err)
	if got.Verdict.Reason != resource.ReasonNotFound {
		t.Errorf("an absent resource: %+v", got.Verdict)
	}
}

// TestPublicOutputs reads an output with the name of a secret that the facts of its type call
// public.
func TestPublicOutputs(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(s *setup) {
		s.entries = append(s.entries, extensions.Entry{Type: "Contoso.Things/things", Facts: extensions.Facts{
			Comparison: drift.Facts{Properties: []drift.PropertyFact{{Path: "properties.validationToken", Public: true, Source: "test"}}},
		}})
	})
	w.put(thingText, `{"location":"westus2","properties":{"validationToken":"_proof","accessToken":"`+planted+`"}}`)
	spec := desired(t, thingText, `{"properties":{}}`)
	spec.Outputs = map[string]string{"TXT": "properties.validationToken", "TOKEN": "properties.accessToken"}
	got, err := run(w, w.acts.ImportResource, ImportResourceInput{Managed: &spec})
	must(t, err)
	if got.Outputs["TXT"] != "_proof" || len(got.Outputs) != 1 {
		t.Errorf("outputs %v", got.Outputs)
	}
	w.leaks(planted, got)
}
