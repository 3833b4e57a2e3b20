package activities

import (
	"encoding/json"
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

// TestCachesAskForEachResource checks that a reading in the cache of a worker is given only
// to resources that may read it by themselves, and that a refusal of one is none of
// another one.
//
//guard:tenants-are-separate
func TestCachesAskForEachResource(t *testing.T) {
	t.Parallel()
	const untied = "cccccccc-0000-0000-0000-000000000000"
	cases := map[string]struct {
		reason string
		// first and then are the subscriptions and credentials of two resources that refer to
		// a resource of of.
		first, then [2]string
		of          string
		want        bool
	}{
		"same team":            {reason: "a reading is shared", first: [2]string{tenantB}, then: [2]string{tenantB}, of: tenantB, want: true},
		"name of another team": {reason: "the key of the cache is the name that it claims", first: [2]string{tenantB}, then: [2]string{tenantA, "b"}, of: tenantB},
		"default, tied":        {reason: "the worker's own credential is refused to it (tied: strict)", first: [2]string{untied}, then: [2]string{tenantA, "default"}, of: untied},
		"after a refusal":      {reason: "the refusal of team a is not cached for others", first: [2]string{tenantA, "default"}, then: [2]string{untied}, of: untied, want: true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newTenants(t, true)
			must(t, w.sim.Put(tenantThing(untied, "t2"), map[string]any{"location": "westus2", "properties": map[string]any{"label": "private"}}))
			plan := func(who [2]string) string {
				cell := tenantCell{credential: who[1], target: id(t, tenantThing(c.of, "t2"))}
				spec := cell.referring(t)
				spec.ID = id(t, tenantThing(who[0], "t3"))
				got := local(w.world, w.acts.PreCheck, PreCheckInput{Desired: spec, Observed: json.RawMessage(`{"location":"westus2"}`)})
				return jsonOf(got)
			}
			first := plan(c.first)
			if got := strings.Contains(plan(c.then), "private"); got != c.want {
				t.Errorf("%s: the value was given: %t, want %t; the first resource got %s", c.reason, got, c.want, first)
			}
		})
	}
}
