package activities

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/armature-io/armature/activities/writing"
	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/resource"
)

// A frozen resource gets no PUT and no DELETE, and its reads continue; resources
// with other labels are not frozen.
//
//guard:budgets-before-modifiers
//guard:freeze
func TestGuardFrozen(t *testing.T) {
	t.Parallel()
	var calls atomic.Int32
	w := newWorld(t, func(s *setup) {
		s.entries = append(s.entries, extensions.Entry{Type: "Contoso.Things/things", Link: counting{calls: &calls}})
	})
	w.put(thingText, thingBody)
	w.fleet.frozen = true
	w.fleet.freeze = writing.Freeze{Selector: "stack=prod", By: "ada@host", Reason: "INC-42", Since: w.now()}
	d := desired(t, thingText, `{"location":"westus2","tags":{"a":"1"}}`)
	d.Labels = map[string]string{"stack": "prod"}
	put, _ := finish(w, w.acts.PutResource, PutResourceInput{Desired: d, ObservedAt: w.now()})
	want(t, put.Verdict, resource.ActionBlock, resource.ReasonFrozen, resource.RetrySlow,
		"ada@host (unverified) froze every resource with stack=prod", "INC-42", "armature unfreeze -l stack=prod")
	if put.Sent || put.Unknown {
		t.Errorf("result %+v, want a PUT that was not sent", put)
	}
	if calls.Load() != 0 {
		t.Error("an extension that may write was called for the payload of a frozen resource")
	}
	deleted, _ := finish(w, w.acts.DeleteResource, DeleteResourceInput{Desired: d})
	want(t, deleted.Verdict, resource.ActionBlock, resource.ReasonFrozen, resource.RetrySlow)
	got, _ := finish(w, w.acts.GetResource, GetResourceInput{Target: resource.Target{ID: d.ID, APIVersion: d.APIVersion}})
	if !got.Exists {
		t.Errorf("a read of a frozen resource returns %+v", got.Verdict)
	}
	if n := w.puts(thingText); n != 0 {
		t.Errorf("%d writes of a frozen resource", n)
	}
	d.Labels = map[string]string{"stack": "dev"}
	put, _ = finish(w, w.acts.PutResource, PutResourceInput{Desired: d, ObservedAt: w.now()})
	if !put.Sent {
		t.Errorf("another stack is frozen too: %+v", put.Verdict)
	}
}

// A freeze that starts while the payload is built still applies.
//
//guard:freeze
func TestGuardFrozenDuringPut(t *testing.T) {
	t.Parallel()
	var calls atomic.Int32
	var w *world
	w = newWorld(t, func(s *setup) {
		s.entries = append(s.entries, extensions.Entry{Type: "Contoso.Things/things", Link: counting{&calls, func() { w.fleet.frozen = true }}})
	})
	w.put(thingText, thingBody)
	d := desired(t, thingText, `{"location":"westus2","tags":{"a":"1"}}`)
	d.Labels = map[string]string{"stack": "prod"}
	put, _ := finish(w, w.acts.PutResource, PutResourceInput{Desired: d, ObservedAt: w.now()})
	want(t, put.Verdict, resource.ActionBlock, resource.ReasonFrozen, resource.RetrySlow)
	if calls.Load() != 1 || w.puts(thingText) != 0 || put.Sent || put.Unknown {
		t.Errorf("%d payloads, %d PUTs, result %+v", calls.Load(), w.puts(thingText), put)
	}
}

// A worker that cannot look up freezes writes nothing.
//
//guard:freeze
func TestGuardFreezeUnknown(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put(thingText, thingBody)
	w.fleet.err = errors.New("Temporal is away")
	d := desired(t, thingText, `{"location":"westus2","tags":{"a":"1"}}`)
	put, _ := finish(w, w.acts.PutResource, PutResourceInput{Desired: d, ObservedAt: w.now()})
	want(t, put.Verdict, resource.ActionError, resource.ReasonCheckFailed, resource.RetrySlow, "cannot look up freezes of t1", "Temporal is away")
	deleted, _ := finish(w, w.acts.DeleteResource, DeleteResourceInput{Desired: d})
	want(t, deleted.Verdict, resource.ActionError, resource.ReasonCheckFailed, resource.RetrySlow, "cannot look up freezes of t1")
	if writes := slices.DeleteFunc(w.requests(), func(r string) bool { return strings.HasPrefix(r, "GET ") }); len(writes) > 0 || put.Sent || put.Unknown {
		t.Errorf("wrote %v without knowing, result %+v", writes, put)
	}
}

// counting is a modifier that counts its calls and runs a function in each.
type counting struct {
	calls *atomic.Int32
	then  func()
}

func (c counting) ModifyARMResource(
	ctx context.Context, payload map[string]any, obj, owner *resource.Object, resolver extensions.Resolver,
	client extensions.ARMClient, log *slog.Logger, next extensions.ARMResourceModifierFunc,
) (map[string]any, error) {
	c.calls.Add(1)
	if c.then != nil {
		c.then()
	}
	return next(ctx, payload, obj, owner, resolver, client, log)
}

// A worker sends a budget of corrections per hour; a PUT that a user requested is
// not limited.
//
//guard:put-budget
func TestGuardPutBudget(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(s *setup) { s.options.PutBudget = 2 })
	w.put(thingText, thingBody)
	correct := func(tag string, correction bool) PutResourceResult {
		in := PutResourceInput{Desired: desired(t, thingText, `{"location":"westus2","tags":{"a":"`+tag+`"}}`), PassFacts: PassFacts{Mandate: Mandate{Correction: correction}}, ObservedAt: w.now(), Token: tag}
		result, _ := finish(w, w.acts.PutResource, in)
		return result
	}
	for _, tag := range []string{"a", "b"} {
		if got := correct(tag, true); !got.Sent {
			t.Fatalf("a PUT within the budget was stopped: %+v", got.Verdict)
		}
	}
	got := correct("c", true)
	want(t, got.Verdict, resource.ActionBlock, resource.ReasonHeld, resource.RetrySlow, "corrected 2 resources")
	if got.Verdict.RetryAfter != time.Hour || got.Sent || got.Unknown {
		t.Errorf("result %+v, want nothing sent and a try in an hour", got)
	}
	asked := PutResourceInput{Desired: desired(t, thingText, `{"location":"westus2","tags":{"a":"asked"}}`), PassFacts: PassFacts{Mandate: Mandate{RequestedAt: w.now(), Correction: true}}, ObservedAt: w.now(), Token: "asked"}
	if got, _ := finish(w, w.acts.PutResource, asked); !got.Sent {
		t.Errorf("a correction that a user requested was stopped: %+v", got.Verdict)
	}
	if got := correct("d", false); !got.Sent {
		t.Errorf("a new spec was stopped: %+v", got.Verdict)
	}
	w.advance(61 * time.Minute)
	if got := correct("e", true); !got.Sent {
		t.Errorf("after an hour one more is allowed: %+v", got.Verdict)
	}
}

//guard:adopt
//guard:recreate-never
func TestGuardAdoptAndRecreate(t *testing.T) {
	t.Parallel()
	const differs, same = `{"location":"westus2","tags":{"a":"1"}}`, `{"location":"westus2"}`
	cases := map[string]struct {
		reason   string
		adopt    resource.Adopt
		recreate resource.Recreate
		observed string
		applied  bool
		action   resource.Action
		why      resource.Reason
		class    resource.RetryClass
		create   bool
		keeps    bool
		parts    []string
	}{
		"always, differs": {reason: "a resource that exists is adopted", observed: same, action: resource.ActionProceed, why: resource.ReasonDrift},
		"as-is, differs":  {reason: "its differences become the baseline", adopt: resource.AdoptAsIs, observed: same, action: resource.ActionSkip, why: resource.ReasonInSync, keeps: true, parts: []string{"differences from the manifest (1)"}},
		"as-is, later":    {reason: "once applied, a difference is drift", adopt: resource.AdoptAsIs, observed: same, applied: true, action: resource.ActionProceed, why: resource.ReasonDrift},
		"as-is, in sync":  {reason: "nothing to keep", adopt: resource.AdoptAsIs, observed: differs, action: resource.ActionSkip, why: resource.ReasonInSync},
		"as-is, absent":   {reason: "an absent resource is created", adopt: resource.AdoptAsIs, action: resource.ActionProceed, why: resource.ReasonNotFound, create: true},
		"never, exists":   {reason: "a resource of another tool is not changed", adopt: resource.AdoptNever, observed: same, action: resource.ActionError, why: resource.ReasonAlreadyExists, class: resource.RetryNone, parts: []string{"adopt: never"}},
		"never, in sync":  {reason: "not even when nothing differs", adopt: resource.AdoptNever, observed: differs, action: resource.ActionError, why: resource.ReasonAlreadyExists, class: resource.RetryNone},
		"never, ours":     {reason: "what this workflow wrote is not adopted", adopt: resource.AdoptNever, observed: same, applied: true, action: resource.ActionProceed, why: resource.ReasonDrift},
		"never, absent":   {reason: "it is created", adopt: resource.AdoptNever, action: resource.ActionProceed, why: resource.ReasonNotFound, create: true},
		"only, absent":    {reason: "it is never created", adopt: resource.AdoptOnly, action: resource.ActionBlock, why: resource.ReasonNotFound, class: resource.RetryVerySlow},
		"only, exists":    {reason: "it is kept in line with the manifest", adopt: resource.AdoptOnly, observed: same, action: resource.ActionProceed, why: resource.ReasonDrift},
		"vanished":        {reason: "it is recreated, with the reason Disappeared", applied: true, action: resource.ActionProceed, why: resource.ReasonDisappeared, create: true},
		"vanished, never": {reason: "its deletion is respected", applied: true, recreate: resource.RecreateNever, action: resource.ActionBlock, why: resource.ReasonDisappeared, class: resource.RetryVerySlow, parts: []string{"recreate: never"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			d := desired(t, thingText, differs)
			d.Adopt, d.Recreate = c.adopt, c.recreate
			in := PreCheckInput{Desired: d, Applied: c.applied, Existed: c.applied}
			if c.observed != "" {
				in.Observed = json.RawMessage(c.observed)
			}
			got := local(w, w.acts.PreCheck, in)
			want(t, got.Verdict, c.action, c.why, c.class, c.parts...)
			if got.Verdict.Create != c.create || got.Adopt != c.keeps {
				t.Errorf("%s: create %t, adopt %t", c.reason, got.Verdict.Create, got.Adopt)
			}
		})
	}
}

// A resource adopted as-is stays: PostCheck adds the differences to the baseline,
// and the next comparison is in sync.
//
//guard:adopt
func TestGuardAdoptAsIs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := desired(t, thingText, `{"location":"westus2","tags":{"a":"1"},"properties":{"size":"small"}}`)
	d.Adopt = resource.AdoptAsIs
	observed := json.RawMessage(`{"location":"westus2","properties":{"size":"large"}}`)
	first := local(w, w.acts.PreCheck, PreCheckInput{Desired: d, Observed: observed})
	if !first.Adopt {
		t.Fatalf("verdict %+v", first.Verdict)
	}
	kept := local(w, w.acts.PostCheck, PostCheckInput{Desired: d, Observed: observed, Put: true, Adopted: true})
	second := local(w, w.acts.PreCheck, PreCheckInput{Desired: d, Observed: observed, Applied: true, Memory: kept.Memory})
	want(t, second.Verdict, resource.ActionSkip, resource.ReasonInSync, "")
	changed := json.RawMessage(`{"location":"westus2","properties":{"size":"huge"}}`)
	third := local(w, w.acts.PreCheck, PreCheckInput{Desired: d, Observed: changed, Applied: true, Memory: kept.Memory})
	want(t, third.Verdict, resource.ActionProceed, resource.ReasonDrift, "")
}

// put: merge writes the manifest over what exists, with the ETag of the read.
//
//guard:put-merge
func TestGuardPutMerge(t *testing.T) {
	t.Parallel()
	for name, create := range map[string]bool{"exists": false, "created since the read": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			mergedPut(t, create)
		})
	}
}

func mergedPut(t *testing.T, create bool) {
	var header string
	w := newWorld(t, func(s *setup) { s.handler = ifMatch(&header) })
	w.put(thingText, `{"location":"westus2","properties":{"size":"small","count":3}}`)
	d := desired(t, thingText, `{"location":"westus2","properties":{"size":"large"}}`)
	d.Put = resource.PutMerge
	result, _ := finish(w, w.acts.PutResource, PutResourceInput{Desired: d, Kind: kindIf(create, PutCreationAgain, PutChange), ObservedAt: w.now()})
	if !result.Sent || header == "" {
		t.Fatalf("If-Match is %q: %+v", header, result.Verdict)
	}
	got, _ := finish(w, w.acts.GetResource, GetResourceInput{Target: resource.Target{ID: d.ID, APIVersion: d.APIVersion}})
	var now struct{ Properties map[string]any }
	must(t, json.Unmarshal(got.Observed, &now))
	if now.Properties["size"] != "large" || now.Properties["count"] != 3.0 {
		t.Errorf("after the merge the resource is %s", got.Observed)
	}
}

// A stopped resource is not started by a PUT, and gets no PUT that would fail: the
// pass ends with the differences and how to start it. In sync it is Ready; a
// manifest that states the power state, or --force, overrides that.
//
//guard:stopped-resources-stay-stopped
func TestGuardStopped(t *testing.T) {
	t.Parallel()
	const network, aks = groupText + "/providers/Microsoft.Network/", groupText + "/providers/Microsoft.ContainerService/managedClusters/aks"
	code := func(word string) string { return `"powerState":{"code":"` + word + `"}` }
	at := func(name string) func(string) string {
		return func(word string) string { return `"` + name + `":"` + word + `"` }
	}
	cases := map[string]struct {
		id, path string
		says     func(word string) string
		// start is part of the advice.
		start string
	}{
		"AKS":                 {aks, "properties.powerState.code", code, "az aks start"},
		"agent pool":          {aks + "/agentPools/p", "properties.powerState.code", code, "az aks nodepool start"},
		"application gateway": {network + "applicationGateways/gw", "properties.operationalState", at("operationalState"), "az network application-gateway start"},
		"Kusto":               {clusterText, "properties.state", at("state"), "az kusto cluster start"},
		"PostgreSQL":          {groupText + "/providers/Microsoft.DBforPostgreSQL/flexibleServers/pg", "properties.state", at("state"), "az postgres flexible-server start"},
		"MySQL":               {groupText + "/providers/Microsoft.DBforMySQL/flexibleServers/my", "properties.state", at("state"), "az mysql flexible-server start"},
		"Spring":              {groupText + "/providers/Microsoft.AppPlatform/Spring/sp", "properties.powerState", at("powerState"), "az spring start"},
		"unknown type":        {thingText, "properties.powerState.code", code, "the start action"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.put(c.id, `{"location":"westus2","properties":{`+c.says("Running")+`}}`)
			must(t, w.sim.Patch(c.id, stopAt(c.path)))
			differs := desired(t, c.id, `{"location":"westus2","tags":{"a":"1"},"properties":{}}`)
			got := w.wholePass(differs, false)
			want(t, got, resource.ActionBlock, resource.ReasonStopped, resource.RetryVerySlow, c.path+` is "Stopped"`, "tags", c.start, "--force")
			if len(got.Differences) == 0 || w.puts(c.id) != 0 {
				t.Errorf("differences %v and %d PUTs, want some and none", got.Differences, w.puts(c.id))
			}
			states := desired(t, c.id, `{"location":"westus2","tags":{"a":"1"},"properties":{`+c.says("Running")+`}}`)
			read, _ := finish(w, w.acts.GetResource, GetResourceInput{Target: resource.Target{ID: states.ID, APIVersion: states.APIVersion}})
			in := PreCheckInput{Desired: states, Observed: read.Observed, Applied: true}
			if name != "PostgreSQL" && name != "Kusto" { // which take no PUT of any kind
				want(t, local(w, w.acts.PreCheck, in).Verdict, resource.ActionProceed, resource.ReasonDrift, "")
			}
			in.Desired, in.Force = differs, true
			want(t, local(w, w.acts.PreCheck, in).Verdict, resource.ActionProceed, resource.ReasonDrift, "")
			in.Desired, in.Force = desired(t, c.id, `{"location":"westus2"}`), false
			want(t, local(w, w.acts.PreCheck, in).Verdict, resource.ActionSkip, resource.ReasonInSync, "")
		})
	}
}

// stopAt is a patch that says Stopped at a path of properties.
func stopAt(path string) map[string]any {
	var value any = "Stopped"
	names := strings.Split(path, ".")
	for i := len(names) - 1; i >= 0; i-- {
		value = map[string]any{names[i]: value}
	}
	return value.(map[string]any)
}

// wholePass reads, checks and writes as a pass does, and returns the verdict that
// ended it.
func (w *world) wholePass(d resource.Desired, correction bool) resource.Verdict {
	w.t.Helper()
	read, _ := finish(w, w.acts.GetResource, GetResourceInput{Target: resource.Target{ID: d.ID, APIVersion: d.APIVersion}})
	checked := local(w, w.acts.PreCheck, PreCheckInput{Desired: d, Observed: read.Observed, Applied: true, Existed: true})
	if checked.Verdict.Action != resource.ActionProceed {
		return checked.Verdict
	}
	put, _ := finish(w, w.acts.PutResource, PutResourceInput{Desired: d, PassFacts: PassFacts{Mandate: Mandate{Correction: correction}}, Kind: kindIf(checked.Verdict.Create, PutRecreation, PutChange), ObservedAt: w.now(), Token: fmt.Sprint(len(w.sim.Writes()))})
	return put.Verdict
}
