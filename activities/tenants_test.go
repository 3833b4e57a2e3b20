package activities

import (
	"net/http"
	"strings"
	"testing"

	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/resource"
)

// TestTenantsAreSeparate checks that no step of a resource in the subscription of one team
// reads with the credential of another team, although the manifest names no credential.
func TestTenantsAreSeparate(t *testing.T) {
	t.Parallel()
	const (
		teamA = "aaaaaaaa-0000-0000-0000-000000000000"
		teamB = "bbbbbbbb-0000-0000-0000-000000000000"
		thing = "/subscriptions/" + teamA + "/resourceGroups/rg1/providers/Contoso.Things/things/t1"
		other = "/subscriptions/" + teamB + "/resourceGroups/rg1/providers/Contoso.Things/things/t2"
	)
	cases := map[string]struct {
		reason string
		read   string
		allow  []string
		asked  bool
		call   func(w *world, spec resource.Desired) resource.Verdict
	}{
		"reference": {
			reason: "a value of the other team's resource", read: other,
			call: func(w *world, spec resource.Desired) resource.Verdict {
				return local(w, w.acts.CheckOwner, CheckOwnerInput{Desired: spec}).Verdict
			},
		},
		"reference in a plan": {
			reason: "a plan prints what it read", read: other,
			call: func(w *world, spec resource.Desired) resource.Verdict {
				got, err := run(w, w.acts.PlanResource, PlanResourceInput{Desired: spec})
				must(w.t, err)
				return resource.Verdict{Reason: got.Reason, Message: got.Message}
			},
		},
		"own subscription": {
			reason: "its own resources are read", read: strings.Replace(thing, "t1", "t2", 1), asked: true,
			call: func(w *world, spec resource.Desired) resource.Verdict {
				return local(w, w.acts.CheckOwner, CheckOwnerInput{Desired: spec}).Verdict
			},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sims := map[string]*armsim.Simulator{"a": armsim.New(armsim.Options{}), "b": armsim.New(armsim.Options{})}
			w := newWorld(t, func(s *setup) {
				s.others = map[string]http.Handler{"a": sims["a"], "b": sims["b"]}
				s.client = func(o *arm.Options) {
					for name, subscription := range map[string]string{"a": teamA, "b": teamB} {
						connection := o.Connections[name]
						connection.Subscriptions = []string{subscription}
						o.Connections[name] = connection
					}
				}
			})
			for _, sim := range sims {
				must(t, sim.Put(thing[:strings.Index(thing, "/providers/")], map[string]any{"location": "westus2"}))
				must(t, sim.Put(c.read, map[string]any{"location": "westus2", "properties": map[string]any{"label": "private"}}))
			}
			spec := desired(t, thing, `{"location":"westus2","tags":{"label":{"$ref":"`+c.read+`@2023-08-15","path":"properties.label"}}}`)
			spec.References = []resource.Reference{{ID: id(t, c.read), APIVersion: "2023-08-15"}}
			verdict := c.call(w, spec)
			if asked := len(sims["a"].Requests()) > 0; c.asked && !asked {
				t.Errorf("%s: the team's own credential was used: %t; %+v", c.reason, asked, verdict)
			}
			if got := append(sims["b"].Requests(), w.sim.Requests()...); len(got) > 0 {
				t.Errorf("%s: requests with credentials of others: %v", c.reason, got)
			}
			if !c.asked && !strings.Contains(verdict.Message+string(verdict.Reason), arm.CodeCredentialNotUsable) && !strings.Contains(verdict.Message, "is restricted to the subscriptions") {
				t.Errorf("%s: got %+v, want a refusal", c.reason, verdict)
			}
		})
	}
}
