package activities

import (
	"net/http"
	"strings"
	"testing"

	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/resource"
)

// TestSettingsReadByAction: settings that have no GET are read by their action: created by
// one PUT, three rounds without one, a change by another tool is one PUT, and no value of
// a setting with a secret name leaves the worker.
func TestSettingsReadByAction(t *testing.T) {
	t.Setenv("ARMATURE_SECRET_DB", planted)
	const web = groupText + "/providers/Microsoft.Web"
	for name, c := range map[string]struct{ owners, settings, write, body string }{
		"Site": {web + "/sites/s1", web + "/sites/s1/config/appsettings", "/config/appsettings",
			`{"properties":{"MODE":"blue","DB_PASSWORD":{"$secret":"env:ARMATURE_SECRET_DB"}}}`},
		"Slot": {web + "/sites/s1/slots/next", web + "/sites/s1/slots/next/config/appsettings", "/config/appsettings",
			`{"properties":{"MODE":"blue","DB_PASSWORD":{"$secret":"env:ARMATURE_SECRET_DB"}}}`},
		"StaticSite": {web + "/staticSites/w1", web + "/staticSites/w1/config/appsettings", "/config/appsettings",
			`{"properties":{"MODE":"blue","DB_PASSWORD":{"$secret":"env:ARMATURE_SECRET_DB"}}}`},
		"ConnectionStrings": {web + "/sites/s1", web + "/sites/s1/config/connectionstrings", "/config/connectionstrings",
			`{"properties":{"MODE":{"type":"Custom","value":{"$secret":"env:ARMATURE_SECRET_DB"}}}}`},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.putOwners(c.settings)
			d := desired(t, c.settings, c.body)
			d.APIVersion, d.OwnerAPIVersion = "2024-04-01", "2024-04-01"
			d.SecretRefs = []string{"env:ARMATURE_SECRET_DB"}
			d.Secret = []string{"properties.DB_PASSWORD"}
			if name == "ConnectionStrings" {
				d.Secret = []string{"properties.MODE.value"}
			}
			p := &passRunner{world: w, spec: d}
			rounds := func(what string, want int) {
				t.Helper()
				for range 4 {
					if got := p.pass(); got.Action != resource.ActionSuccess {
						t.Fatalf("%s: %s %s %s", what, got.Action, got.Reason, got.Message)
					}
				}
				if p.puts != want {
					t.Errorf("%s: %d PUTs, want %d", what, p.puts, want)
				}
			}
			rounds("created", 1)
			if !strings.Contains(c.body, `"blue"`) {
				return
			}
			must(t, w.sim.Patch(c.settings, map[string]any{"properties": map[string]any{"MODE": "red"}}))
			rounds("changed by another tool", 2)
			got := p.read()
			if !strings.Contains(string(got.Observed), resource.MaskPrefix) {
				t.Errorf("the secret is not masked: %s", got.Observed)
			}
			w.leaks(planted, got, p.memory)
			for _, request := range w.sim.Requests() {
				if request.Method == http.MethodDelete {
					t.Errorf("a DELETE was sent: %+v", request)
				}
			}
		})
	}
}

// TestExistenceOnly: at first contact with a resource that Azure does not show, nothing is
// written; a later change of the manifest is one PUT.
func TestExistenceOnly(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put(groupText, `{"location":"westus2"}`)
	w.put(thingText, `{"location":"westus2","properties":{"a":"1"}}`)
	w.sim.AnswerType(armsim.AnswerRule{Type: "Contoso.Things/things", NoGet: true})
	p := &passRunner{world: w, spec: desired(t, thingText, `{"location":"westus2","properties":{"a":"1"}}`)}
	for _, want := range []struct {
		body string
		puts int
	}{{`{"location":"westus2","properties":{"a":"1"}}`, 0}, {`{"location":"westus2","properties":{"a":"2"}}`, 1}} {
		p.spec.Body = []byte(want.body)
		for range 3 {
			if got := p.pass(); got.Action != resource.ActionSuccess {
				t.Fatalf("%s: %s %s", want.body, got.Reason, got.Message)
			}
		}
		if p.puts != want.puts {
			t.Errorf("%s: %d PUTs, want %d", want.body, p.puts, want.puts)
		}
	}
}
