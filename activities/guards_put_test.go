package activities

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/armature-io/armature/activities/contents"
	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/resource"
)

const networkText = groupText + "/providers/Microsoft.Network/virtualNetworks/net"

// stored returns the IDs below a resource, sorted.
func (w *world) stored(text string) []string {
	ids := []string{}
	for _, r := range w.sim.Resources(text+"/*", "") {
		ids = append(ids, strings.TrimPrefix(r.ID, text+"/"))
	}
	return ids
}

// A PUT of a parent never deletes the children that its manifest does not name,
// at any path of the body, with the list stated or not. It carries the ETag of the
// read with the children, if there is one.
//
//guard:children-are-kept
func TestGuardChildren(t *testing.T) {
	t.Parallel()
	const network, rule = groupText + "/providers/Microsoft.Network/", `{"name":"own"}`
	set, cluster := groupText+"/providers/Microsoft.Compute/virtualMachineScaleSets/set", groupText+"/providers/Microsoft.ContainerService/managedClusters/aks"
	cases := map[string]struct {
		parent, child string
		// body states the list with the one item "own"; %s is the rest.
		body string
		// asView is set when a body without the list does not change the children.
		asView, noETag bool
	}{
		"subnets":        {parent: networkText, child: "subnets", body: `{"location":"westus2","properties":{"subnets":[{"name":"own","properties":{"addressPrefix":"10.0.0.0/24"}}]}}`},
		"peerings":       {parent: networkText, child: "virtualNetworkPeerings", body: `{"location":"westus2","properties":{"virtualNetworkPeerings":[` + rule + `]}}`},
		"routes":         {parent: network + "routeTables/rt", child: "routes", body: `{"location":"westus2","properties":{"routes":[` + rule + `]}}`},
		"security rules": {parent: network + "networkSecurityGroups/nsg", child: "securityRules", body: `{"location":"westus2","properties":{"securityRules":[` + rule + `]}}`},
		"NAT rules":      {parent: network + "loadBalancers/lb", child: "inboundNatRules", body: `{"location":"westus2","properties":{"inboundNatRules":[` + rule + `]}}`},
		"backend pools":  {parent: network + "loadBalancers/lb", child: "backendAddressPools", body: `{"location":"westus2","properties":{"backendAddressPools":[` + rule + `]}}`},
		"extensions": {parent: set, child: "extensions",
			body: `{"location":"westus2","properties":{"virtualMachineProfile":{"extensionProfile":{"extensions":[` + rule + `]}}}}`, asView: true},
		"agent pools": {parent: cluster, child: "agentPools", body: `{"location":"westus2","properties":{"agentPoolProfiles":[{"name":"own","count":1}]}}`, asView: true, noETag: true},
	}
	for name, c := range cases {
		for _, body := range []string{c.body, `{"location":"westus2","tags":{"a":"1"}}`} {
			t.Run(fmt.Sprintf("%s, stated %t", name, body == c.body), func(t *testing.T) {
				t.Parallel()
				var header string
				w := newWorld(t, func(s *setup) { s.handler = ifMatch(&header) })
				w.put(c.parent, c.body)
				for _, child := range []string{"own", "first", "second"} {
					w.put(c.parent+"/"+c.child+"/"+child, `{"properties":{}}`)
				}
				in := PutResourceInput{Desired: desired(t, c.parent, body), Kind: PutUncompared, ObservedAt: w.now()}
				in.Desired.APIVersion = "2022-01-01" // before ARM itself kept what a body leaves out
				read, _ := finish(w, w.acts.GetResource, GetResourceInput{Target: resource.Target{ID: in.Desired.ID, APIVersion: in.Desired.APIVersion}})
				checked := local(w, w.acts.PreCheck, PreCheckInput{Desired: in.Desired, Observed: read.Observed, Applied: true})
				if slices.ContainsFunc(checked.Verdict.Drops, func(path string) bool { return strings.Contains(path, "first") }) {
					t.Errorf("the verdict drops children: %v", checked.Verdict.Drops)
				}
				got, _ := finish(w, w.acts.PutResource, in)
				if !got.Sent {
					t.Fatalf("no PUT: %+v", got.Verdict)
				}
				wanted := []string{c.child + "/first", c.child + "/own", c.child + "/second"}
				if diff := cmp.Diff(wanted, w.stored(c.parent)); diff != "" {
					t.Errorf("children after the PUT (-want +got)\n%s", diff)
				}
				if sent := jsonOf(w.lastPut()); c.asView && body != c.body && strings.Contains(sent, "first") {
					t.Errorf("a list that the manifest does not state was sent: %s", sent)
				}
				if (header == "") != c.noETag {
					t.Errorf("If-Match is %q", header)
				}
			})
		}
	}
}

// A child that the manifest no longer states is removed, and one that is being
// deleted is not sent; children of other tools stay.
//
//guard:children-are-kept
func TestGuardRemovedChildren(t *testing.T) {
	t.Parallel()
	const own, old, bare = `{"name":"own","properties":{"addressPrefix":"10.0.0.0/24"}}`, `{"name":"old","properties":{"addressPrefix":"10.0.1.0/24"}}`, `{"location":"westus2","tags":{"a":"1"}}`
	w := newWorld(t)
	w.put(networkText, `{"location":"westus2"}`)
	for _, child := range []string{"own", "old", "theirs", "leaving"} {
		w.put(networkText+"/subnets/"+child, `{"properties":{"addressPrefix":"10.0.1.0/24"}}`)
	}
	must(t, w.sim.Patch(networkText+"/subnets/leaving", map[string]any{"properties": map[string]any{"provisioningState": "Deleting"}}))
	before := json.RawMessage(`{"location":"westus2","properties":{"subnets":[` + own + `,` + old + `]}}`)
	in := PutResourceInput{Desired: desired(t, networkText, string(before)), Kind: PutUncompared, ObservedAt: w.now()}
	in.Memory = local(w, w.acts.PostCheck, PostCheckInput{Desired: in.Desired, Observed: before, Put: true}).Memory
	in.Desired.Body = json.RawMessage(`{"location":"westus2","properties":{"subnets":[` + own + `]}}`)
	if got, _ := finish(w, w.acts.PutResource, in); !got.Sent {
		t.Fatalf("no PUT: %+v", got.Verdict)
	}
	if sent := jsonOf(w.lastPut()); strings.Contains(sent, "old") || strings.Contains(sent, "leaving") || !strings.Contains(sent, "theirs") {
		t.Errorf("sent %s, want own and theirs", sent)
	}
	w.advance(time.Hour)
	in.Desired.Body = json.RawMessage(bare)
	if got, _ := finish(w, w.acts.PutResource, in); !got.Sent {
		t.Fatalf("no PUT: %+v", got.Verdict)
	}
	if sent := jsonOf(w.lastPut()); strings.Contains(sent, `"own"`) || !strings.Contains(sent, "theirs") {
		t.Errorf("sent %s, want theirs only", sent)
	}
}

// changeBeforePut makes a change outside Armature before each of the first PUTs of
// the network.
func changeBeforePut(times int, change func(n int)) func(http.Handler) http.Handler {
	n := 0
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(answer http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodPut && strings.HasSuffix(r.URL.Path, "/net") && n < times {
				n++
				change(n)
			}
			next.ServeHTTP(answer, r)
		})
	}
}

// A child that another tool creates between the read and the PUT is kept: ARM
// refuses the PUT, which is merged from a new read and sent again, a few times at
// most.
//
//guard:if-match
func TestGuardPreconditionRetry(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason   string
		times    int
		requests []string
		sent     bool
	}{
		"once":   {"one other writer", 1, []string{"GET net", "PUT net", "GET net", "PUT net"}, true},
		"always": {"the retries are bounded, then it is a verdict", 99, []string{"GET net", "PUT net", "GET net", "PUT net", "GET net", "PUT net", "GET net", "PUT net"}, false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var w *world
			w = newWorld(t, func(s *setup) {
				s.handler = changeBeforePut(c.times, func(n int) {
					w.put(fmt.Sprintf("%s/subnets/s%d", networkText, n), `{"properties":{"addressPrefix":"10.0.1.0/24"}}`)
				})
			})
			w.put(networkText, `{"location":"westus2"}`)
			got, err := run(w, w.acts.PutResource, PutResourceInput{Desired: desired(t, networkText, `{"location":"westus2","tags":{"a":"1"}}`), ObservedAt: w.now()})
			must(t, err)
			if got.Sent != c.sent {
				t.Errorf("%s: result %+v", c.reason, got)
			}
			if diff := cmp.Diff(c.requests, slices.DeleteFunc(w.requests(), func(r string) bool { return r == "GET rg1" })); diff != "" {
				t.Errorf("%s: requests (-want +got)\n%s", c.reason, diff)
			}
			if !c.sent {
				want(t, got.Verdict, resource.ActionBlock, "PreconditionFailed", resource.RetrySlow)
				return
			}
			if diff := cmp.Diff([]string{"subnets/s1"}, w.stored(networkText)); diff != "" {
				t.Errorf("%s: children (-want +got)\n%s", c.reason, diff)
			}
		})
	}
}

// TestIgnoredETags sends a PUT to a service that refuses the ETags that it shows: the
// first one needs a second read, later ones of the type are sent without If-Match.
//
//guard:if-match
func TestIgnoredETags(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(s *setup) { s.sim.RefusedETags = []string{"Contoso.Things/things"} })
	for i, size := range []string{"7", "8"} {
		w.put(thingText, `{"location":"westus2","tags":{"theirs":"1"},"properties":{"size":1}}`)
		before := w.puts(thingText)
		got, err := run(w, w.acts.PutResource, PutResourceInput{Desired: desired(t, thingText, `{"location":"westus2","properties":{"size":`+size+`}}`), ObservedAt: w.now()})
		must(t, err)
		if !got.Sent || w.puts(thingText) != before+1 {
			t.Errorf("PUT %d: %d accepted, want one: %s", i+1, w.puts(thingText)-before, got.Verdict.Message)
		}
		response, err := w.acts.Client.Get(t.Context(), id(t, thingText), "2023-08-15")
		must(t, err)
		if !strings.Contains(string(response.Body), `"theirs":"1"`) {
			t.Errorf("PUT %d took the tags of another tool: %s", i+1, response.Body)
		}
	}
	if !w.acts.etags.ignoresETags(http.MethodPut, "contoso.things/THINGS") || w.acts.etags.ignoresETags(http.MethodPut, "Contoso.Things/others") {
		t.Error("the type is not remembered, or another one is")
	}
}

// A resource that disappears between the read and the PUT is not recreated by the
// merge: the next pass proves its absence.
//
//guard:if-match
func TestGuardDeletedDuringPut(t *testing.T) {
	t.Parallel()
	var w *world
	w = newWorld(t, func(s *setup) { s.handler = changeBeforePut(1, func(int) { w.sim.Delete(networkText) }) })
	w.put(networkText, `{"location":"westus2"}`)
	got, err := run(w, w.acts.PutResource, PutResourceInput{Desired: desired(t, networkText, `{"location":"westus2","tags":{"a":"1"}}`), ObservedAt: w.now()})
	must(t, err)
	want(t, got.Verdict, resource.ActionBlock, resource.ReasonDisappeared, resource.RetrySlow, "disappeared since this pass read it")
	if len(w.sim.Resources(networkText, "")) != 0 {
		t.Error("the network was recreated")
	}
}

// The verdict names what others set and the PUT removes: identity, sku and other
// top-level settings, and map keys. The tags of others stay.
//
//guard:removals-are-named
func TestGuardNamesDrops(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const observed = `{"location":"westus2","identity":{"type":"SystemAssigned"},"sku":{"name":"S1"},"zones":["1"],"tags":{"theirs":"x"},
		"properties":{"size":1,"settings":{"ours":"1","theirs":"2"}}}`
	d := desired(t, thingText, `{"location":"westus2","properties":{"size":2,"settings":{"ours":"1"}}}`)
	d.Put = resource.PutReplace
	got := local(w, w.acts.PreCheck, PreCheckInput{Desired: d, Observed: json.RawMessage(observed), Applied: true})
	want(t, got.Verdict, resource.ActionProceed, resource.ReasonDrift, "", "the PUT removes", "identity", "sku", "zones")
	if diff := cmp.Diff([]string{"identity", "sku", "zones", "properties.settings.theirs"}, got.Verdict.Drops); diff != "" {
		t.Errorf("drops (-want +got)\n%s", diff)
	}
}

// An autoscaler's count that the manifest ignores survives a PUT for another
// reason, and is no reason for one.
//
//guard:ignore
func TestGuardAutoscaler(t *testing.T) {
	t.Parallel()
	const pool = groupText + "/providers/Microsoft.ContainerService/managedClusters/aks/agentPools/p"
	w := newWorld(t)
	w.put(pool, `{"properties":{"count":3,"vmSize":"Standard_DS2_v2","nodeLabels":{"team":"a"}}}`)
	d := desired(t, pool, `{"properties":{"count":3,"vmSize":"Standard_DS2_v2","nodeLabels":{"team":"a"}}}`)
	d.Ignore = []string{"properties.count"}
	must(t, w.sim.Patch(pool, map[string]any{"properties": map[string]any{"count": 7}}))
	want(t, w.wholePass(d, true), resource.ActionSkip, resource.ReasonInSync, "")
	must(t, w.sim.Patch(pool, map[string]any{"properties": map[string]any{"nodeLabels": map[string]any{"team": "b"}}}))
	want(t, w.wholePass(d, true), resource.ActionProceed, "", "")
	properties, _ := w.lastPut()["properties"].(map[string]any)
	if labels, _ := properties["nodeLabels"].(map[string]any); fmt.Sprint(properties["count"]) != "7" || labels["team"] != "a" {
		t.Errorf("sent %v, want the autoscaler's count and the manifest's label", properties)
	}
}

// With recreate: never a resource that was deleted outside Armature is not
// recreated; otherwise it is, with the reason Disappeared and within the budget of
// corrections.
//
//guard:put-budget
//guard:recreate-never
func TestGuardDisappeared(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(s *setup) { s.options.PutBudget = 1 })
	w.put(groupText, `{"location":"westus2"}`)
	d := desired(t, thingText, thingBody)
	d.Recreate = resource.RecreateNever
	want(t, w.wholePass(d, true), resource.ActionBlock, resource.ReasonDisappeared, resource.RetryVerySlow, "recreate: never")
	if n := w.puts(thingText); n != 0 {
		t.Fatalf("%d PUTs of a deleted resource", n)
	}
	d.Recreate = resource.RecreateAlways
	want(t, w.wholePass(d, true), resource.ActionProceed, "", "")
	if n := w.puts(thingText); n != 1 {
		t.Errorf("%d PUTs, want it recreated", n)
	}
	w.sim.Delete(thingText)
	want(t, w.wholePass(d, true), resource.ActionBlock, resource.ReasonHeld, resource.RetrySlow)
}

// A resource that disappears between the read of the pass and its PUT is not created by that PUT,
// not even by an attempt after a lost one: one 404 proves no absence.
//
//guard:absence-is-proven
func TestGuardDisappearedSinceRead(t *testing.T) {
	t.Parallel()
	for _, recreate := range []resource.Recreate{resource.RecreateAlways, resource.RecreateNever} {
		for _, maySent := range []bool{false, true} {
			w := newWorld(t)
			w.put(groupText, `{"location":"westus2"}`)
			d := desired(t, thingText, thingBody)
			d.Recreate = recreate
			got, _ := finish(w, w.acts.PutResource, PutResourceInput{Desired: d, ObservedAt: w.now(), MaySent: maySent})
			if n := w.puts(thingText); n != 0 || got.Sent {
				t.Errorf("recreate %s, may be sent %t: %d PUTs, %+v", recreate, maySent, n, got)
			}
			want(t, got.Verdict, resource.ActionBlock, resource.ReasonDisappeared, resource.RetrySlow, "disappeared since this pass read it")
		}
	}
}

// With adopt: never a resource that exists and was never applied is not written,
// not even when it was created between the read and the PUT.
//
//guard:adopt
func TestGuardAdoptNever(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put(groupText, `{"location":"westus2"}`)
	d := desired(t, thingText, thingBody)
	d.Adopt = resource.AdoptNever
	w.put(thingText, `{"location":"westus2","tags":{"theirs":"x"}}`)
	put, _ := finish(w, w.acts.PutResource, PutResourceInput{Desired: d, Kind: PutCreationAgain, ObservedAt: w.now()})
	if put.Sent || w.puts(thingText) != 0 {
		t.Errorf("a resource of another tool was written: %+v", put.Verdict)
	}
	read, _ := finish(w, w.acts.GetResource, GetResourceInput{Target: resource.Target{ID: d.ID, APIVersion: d.APIVersion}})
	got := local(w, w.acts.PreCheck, PreCheckInput{Desired: d, Observed: read.Observed})
	want(t, got.Verdict, resource.ActionError, resource.ReasonAlreadyExists, resource.RetryNone)
}

// A resource that another tool creates between the read of the pass and the PUT is
// not changed where the manifest does not adopt it: it is read right before the
// PUT, and the PUT requires that it does not exist.
//
//guard:adopt
func TestGuardCreatedSinceRead(t *testing.T) {
	t.Parallel()
	const theirs = `{"location":"westus2","tags":{"theirs":"x"}}`
	cases := map[string]struct {
		reason string
		adopt  resource.Adopt
		late   bool
		stale  bool
		puts   int
		why    resource.Reason
	}{
		"never, stale reads":     {reason: "the list shows it", adopt: resource.AdoptNever, stale: true, why: resource.ReasonAlreadyExists},
		"as-is, stale reads":     {reason: "the list shows it", adopt: resource.AdoptAsIs, stale: true, why: resource.ReasonAlreadyExists},
		"never, before the read": {reason: "a provider may ignore If-None-Match", adopt: resource.AdoptNever, why: resource.ReasonAlreadyExists},
		"never, after it":        {reason: "If-None-Match refuses it", adopt: resource.AdoptNever, late: true, why: resource.ReasonAlreadyExists},
		"as-is, before the read": {reason: "its differences are to be kept", adopt: resource.AdoptAsIs, why: resource.ReasonAlreadyExists},
		"as-is, after it":        {reason: "If-None-Match refuses it", adopt: resource.AdoptAsIs, late: true, why: resource.ReasonAlreadyExists},
		"always":                 {reason: "it is adopted", adopt: resource.AdoptAlways, puts: 1},
		"always, after the read": {reason: "it is adopted with its values", adopt: resource.AdoptAlways, late: true, puts: 1},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var w *world
			w = newWorld(t, func(s *setup) {
				s.handler = func(next http.Handler) http.Handler {
					return http.HandlerFunc(func(answer http.ResponseWriter, r *http.Request) {
						if r.Method == http.MethodPut && c.late {
							w.put(thingText, theirs)
						}
						next.ServeHTTP(answer, r)
					})
				}
			})
			w.put(groupText, `{"location":"westus2"}`)
			if !c.late {
				w.put(thingText, theirs)
			}
			if c.stale {
				w.sim.AddFault(armsim.Fault{Method: http.MethodGet, Path: thingText, Status: 404, Code: "ResourceNotFound"})
			}
			d := desired(t, thingText, thingBody)
			d.Adopt = c.adopt
			got, _ := finish(w, w.acts.PutResource, PutResourceInput{Desired: d, Kind: PutCreationAgain, ObservedAt: w.now()})
			if n := w.puts(thingText); n != c.puts || got.Sent != (c.puts > 0) {
				t.Errorf("%s: %d PUTs, %+v", c.reason, n, got)
			}
			if c.why != "" {
				want(t, got.Verdict, resource.ActionBlock, c.why, resource.RetrySlow)
			}
			if !strings.Contains(w.storedBody(thingText), `"theirs":"x"`) {
				t.Errorf("%s: the tag of the other tool is gone: %s", c.reason, w.storedBody(thingText))
			}
		})
	}
}

// A resource that is stopped between the read of the pass and the PUT is not
// started by that PUT; --force sends it.
//
//guard:stopped-resources-stay-stopped
func TestGuardStoppedSinceRead(t *testing.T) {
	t.Parallel()
	const gateway = groupText + "/providers/Microsoft.Network/applicationGateways/gw"
	w := newWorld(t)
	w.put(gateway, `{"location":"westus2","properties":{"operationalState":"Stopped"}}`)
	must(t, w.sim.Patch(gateway, stopAt("properties.operationalState")))
	d := desired(t, gateway, `{"location":"westus2","tags":{"a":"1"},"properties":{}}`)
	for _, uncompared := range []bool{false, true} {
		got, _ := finish(w, w.acts.PutResource, PutResourceInput{Desired: d, Kind: kindIf(uncompared, PutUncompared, PutChange), ObservedAt: w.now()})
		want(t, got.Verdict, resource.ActionBlock, resource.ReasonStopped, resource.RetryVerySlow, "after this pass read it", "operationalState")
		if w.puts(gateway) != 0 || got.Sent || got.Unknown {
			t.Errorf("uncompared %t: %d PUTs of a stopped resource, %+v", uncompared, w.puts(gateway), got)
		}
	}
	if got, _ := finish(w, w.acts.PutResource, PutResourceInput{Desired: d, PassFacts: PassFacts{Mandate: Mandate{Force: true}}, ObservedAt: w.now()}); !got.Sent {
		t.Errorf("with --force: %+v", got.Verdict)
	}
}

// Every child that its parent's body could list takes turns with its parent: a
// parent that was read before the child was created must not be written after it.
//
//guard:turns
func TestGuardTurns(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for parent, child := range map[string]string{
		networkText: "subnets/s", groupText + "/providers/Microsoft.Network/vpnGateways/g": "natRules/r",
		groupText + "/providers/Microsoft.Compute/virtualMachineScaleSets/s": "extensions/e",
	} {
		of, ok := w.acts.Registry.FamilyHead(id(t, parent+"/"+child))
		own, owns := w.acts.Registry.FamilyHead(id(t, parent))
		if !ok || !owns || !of.Equal(id(t, parent)) || !own.Equal(of) {
			t.Errorf("%s takes its turn at %s, its parent at %s", child, of, own)
		}
	}
	// Where no body lists the children, the table of families names the parent.
	const server = groupText + "/providers/Microsoft.DBforPostgreSQL/flexibleServers/s"
	if of, ok := w.acts.Registry.FamilyHead(id(t, server+"/firewallRules/r")); !ok || !of.Equal(id(t, server)) {
		t.Errorf("a firewall rule takes its turn at %q", of)
	}
}

// The activities that compare, or list what a DELETE removes, return the turn: the
// workflow takes it.
//
//guard:turns
func TestGuardTurnsInResults(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put(networkText, `{"location":"westus2"}`)
	subnet := networkText + "/subnets/s"
	for _, text := range []string{networkText, subnet} {
		checked := local(w, w.acts.PreCheck, PreCheckInput{Desired: desired(t, text, `{"properties":{}}`)})
		if !checked.Turn.Equal(id(t, networkText)) {
			t.Errorf("a PUT of %s needs the turn of %q", text, checked.Turn)
		}
		for _, cascade := range []bool{false, true} {
			looked, _ := finish(w, w.acts.CheckContents, contents.Request{ID: id(t, text), APIVersion: "2023-08-15", Cascade: cascade, By: "ada@host"})
			if !looked.Turn.Equal(id(t, networkText)) {
				t.Errorf("a DELETE of %s (cascade %t) needs the turn of %q", text, cascade, looked.Turn)
			}
		}
	}
}

// A service may give If-None-Match another meaning, or have a stale read: after a 412 the resource
// counts as absent if neither a read nor a list shows it, and is created without the condition.
//
//guard:adopt
func TestGuardRefusedCreation(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		exists bool
		adopt  resource.Adopt
		sent   bool
		why    resource.Reason
	}{
		"absent":        {reason: "nothing shows it", sent: true},
		"stale read":    {reason: "the list shows it", exists: true, why: "PreconditionFailed"},
		"absent, never": {reason: "the manifest must not change a resource of another tool", adopt: resource.AdoptNever, why: "PreconditionFailed"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.put(groupText, `{"location":"westus2"}`)
			if c.exists {
				w.put(thingText, `{"location":"westus2"}`)
				w.sim.AddFault(armsim.Fault{Method: http.MethodGet, Path: thingText, Status: 404, Code: "ResourceNotFound"})
			}
			w.sim.AddFault(armsim.Fault{Method: http.MethodPut, Path: thingText, Status: 412, Code: "PreconditionFailed", Count: 1})
			d := desired(t, thingText, thingBody)
			d.Adopt = c.adopt
			got, _ := finish(w, w.acts.PutResource, PutResourceInput{Desired: d, Kind: PutCreation, ObservedAt: w.now()})
			if got.Sent != c.sent || got.Verdict.Reason != c.why {
				t.Errorf("%s: %+v", c.reason, got)
			}
		})
	}
}
