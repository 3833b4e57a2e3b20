package activities

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/activities/writing"
	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/resource"
)

// patchRunner is a resource of others that a manifest patches.
func patchRunner(t *testing.T, body string, change ...func(*setup)) *passRunner {
	t.Helper()
	w := newWorld(t, change...)
	w.put(groupText, `{"location":"westus2"}`)
	w.put(thingText, `{"location":"westus2","sku":{"name":"S1"},"tags":{"theirs":"1"},"properties":{"a":"1","b":"2","list":["x"]}}`)
	d := desired(t, thingText, body)
	d.Put = resource.PutPatch
	return &passRunner{world: w, spec: d}
}

func (p *passRunner) mustBeReady(rounds int) {
	p.t.Helper()
	for range rounds {
		if got := p.pass(); got.Action != resource.ActionSuccess {
			p.t.Fatalf("got %s %s: %s", got.Action, got.Reason, got.Message)
		}
	}
}

// TestGuardPatch: put: patch sends the stated part only, once, and keeps the tags of
// others, which a PATCH replaces as a whole.
//
//guard:put-patch
func TestGuardPatch(t *testing.T) {
	t.Parallel()
	p := patchRunner(t, `{"tags":{"ours":"2"},"properties":{"a":"9","b":"7"}}`)
	p.spec.Ignore = []string{"properties.b"}
	p.mustBeReady(3)
	writes := p.sim.Writes()
	if len(writes) != 1 || p.puts != 1 {
		t.Fatalf("%d writes", len(writes))
	}
	sent := jsonOf(writes[0].Body)
	for _, part := range []string{`"a":"9"`, `"ours":"2"`, `"theirs":"1"`} {
		if !strings.Contains(sent, part) {
			t.Errorf("the PATCH %s lacks %s", sent, part)
		}
	}
	for _, part := range []string{"sku", "list", "westus2", `"b"`} {
		if strings.Contains(sent, part) {
			t.Errorf("the PATCH %s states %s", sent, part)
		}
	}
	for _, request := range p.sim.Requests() {
		if request.Method == http.MethodPut {
			t.Errorf("a PUT was sent: %+v", request)
		}
	}
	p.patch(`{"properties":{"a":"8"}}`)
	p.mustBeReady(3)
	// A tag that is no longer stated is removed with the tags that still are.
	p.spec.Body = []byte(`{"tags":{"more":"3"},"properties":{"a":"9"}}`)
	p.mustBeReady(2)
	if sent := jsonOf(p.sim.Writes()[2].Body); strings.Contains(sent, "ours") || !strings.Contains(sent, "theirs") || !strings.Contains(sent, "more") {
		t.Errorf("the PATCH of the tags is %s", sent)
	}
	// What the manifest no longer states belongs to others: it is left, and no difference.
	p.spec.Body = []byte(`{"properties":{"list":["x"]}}`)
	p.mustBeReady(2)
	p.patch(`{"properties":{"a":"7"}}`)
	p.mustBeReady(2)
	if p.puts != 3 {
		t.Errorf("%d writes, want one for the start, one for the drift and one for the tags", p.puts)
	}
}

// TestGuardPatchCreatesNothing: what does not exist, or disappeared, is not created.
//
//guard:put-patch
func TestGuardPatchCreatesNothing(t *testing.T) {
	t.Parallel()
	for name, existed := range map[string]bool{"never seen": false, "disappeared": true} {
		p := patchRunner(t, `{"properties":{"a":"9"}}`)
		p.sim.Delete(thingText)
		in := PreCheckInput{Desired: p.spec, PassFacts: PassFacts{Mandate: Mandate{Approved: Approvals{Recreation: true}}}, Existed: existed, Applied: existed}
		got := local(p.world, p.acts.PreCheck, in).Verdict
		if got.Action != resource.ActionBlock || got.Class != resource.RetryVerySlow || !strings.Contains(got.Message, "put: patch") {
			t.Errorf("%s: got %s %s %s", name, got.Action, got.Class, got.Message)
		}
	}
	p := patchRunner(t, `{"properties":{"a":"9"}}`)
	p.sim.Delete(thingText)
	put, _ := finish(p.world, p.acts.PutResource, PutResourceInput{Desired: p.spec, PassFacts: PassFacts{Mandate: Mandate{Approved: Approvals{Recreation: true}}}, ObservedAt: p.now()})
	want(t, put.Verdict, resource.ActionBlock, resource.ReasonDisappeared, put.Verdict.Class)
	if n := len(p.sim.Writes()); n != 0 {
		t.Errorf("%d writes", n)
	}
}

// TestGuardPatchIsGuarded: freezes, budgets and policies hold a PATCH as they hold a PUT.
//
//guard:put-patch
func TestGuardPatchIsGuarded(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*passRunner)
		reason resource.Reason
	}{
		"frozen":   {func(p *passRunner) { p.fleet.frozen = true; p.spec.Labels = map[string]string{"stack": "prod"} }, resource.ReasonFrozen},
		"budget":   {func(p *passRunner) { p.fleet.budgetErr = writing.ErrTemporalUnavailable }, resource.ReasonTemporalUnavailable},
		"observed": {func(p *passRunner) { p.spec.Policy = resource.PolicyObserve }, resource.ReasonProtected},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := patchRunner(t, `{"properties":{"a":"9"}}`, func(s *setup) { s.options.PutBudget = 1 })
			c.change(p)
			put, _ := finish(p.world, p.acts.PutResource, PutResourceInput{Desired: p.spec, PassFacts: PassFacts{Mandate: Mandate{Correction: true}}, ObservedAt: p.now()})
			if put.Verdict.Reason != c.reason || len(p.sim.Writes()) != 0 {
				t.Errorf("got %s with %d writes: %s", put.Verdict.Reason, len(p.sim.Writes()), put.Verdict.Message)
			}
		})
	}
}

// TestTypeWithoutPut: a resource of a type without PUT is changed by PATCH, and the PUT is
// not tried again.
func TestTypeWithoutPut(t *testing.T) {
	t.Parallel()
	p := patchRunner(t, `{"location":"westus2","properties":{"a":"9"}}`)
	p.spec.Put = ""
	p.sim.AddFault(armsim.Fault{Method: http.MethodPut, Status: http.StatusMethodNotAllowed, Code: "MethodNotAllowed"})
	p.mustBeReady(2)
	p.advance(time.Minute)
	p.patch(`{"properties":{"a":"8"}}`)
	p.mustBeReady(2)
	if tried := p.sim.Faults()[0].Fired; tried != 1 || p.puts != 2 {
		t.Errorf("%d PUTs tried, %d writes accepted; want 1 and 2", tried, p.puts)
	}
	// A type without PUT cannot be created: its refusal is the verdict.
	p.sim.Delete(thingText)
	put, _ := finish(p.world, p.acts.PutResource, PutResourceInput{Desired: p.spec, Kind: PutCreationAgain, ObservedAt: p.now()})
	want(t, put.Verdict, resource.ActionError, "MethodNotAllowed", resource.RetryVerySlow)
}
