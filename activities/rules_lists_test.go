package activities

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/extensions/rules"
	"github.com/armature-io/armature/resource"
)

// withRules returns a setup with the rules of a text.
func withRules(t *testing.T, text string) func(*setup) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "r.yaml")
	must(t, os.WriteFile(path, []byte(text), 0o600))
	set, _, err := rules.Load(path)
	must(t, err)
	return func(s *setup) { s.entries = append(s.entries, set.Entry()) }
}

const (
	farmText  = groupText + "/providers/Contoso.Things/farms/f1"
	plotsText = farmText + "/plots/"
)

// plotRules block a plot while the other plots of the farm need more than its water.
const plotRules = `rules:
  - name: water
    type: Contoso.Things/farms/plots
    at: pre
    read: {plots: {list: Contoso.Things/farms/plots, max: 3, apiVersion: '2023-01-01'}}
    when: sum(plots.map(p, p.properties.water)) + number(desired.properties.water, 0) > number(owner.properties.water, 0)
    block: the farm has no more water, and one plot has the key ${plots.map(p, p.properties.apiKey)}
`

// TestRulesListThroughTheCache holds that lists of rules are shared by the resources of a
// worker, masked, dated, and read again after a change of a resource in them, a write of this
// worker, a request of a user, and their maximum age.
func TestRulesListThroughTheCache(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withRules(t, plotRules))
	w.put(farmText, `{"location":"westus2","properties":{"water":10}}`)
	w.put(plotsText+"p1", `{"properties":{"water":3,"apiKey":"`+planted+`"}}`)
	w.put(plotsText+"p2", `{"properties":{"water":4}}`)
	check := func(name string, facts PassFacts) resource.Verdict {
		spec := desired(t, plotsText+name, `{"properties":{"water":5}}`)
		return local(w, w.acts.PreCheck, PreCheckInput{Desired: spec, PassFacts: facts}).Verdict
	}
	lists := func() int {
		return len(slices.DeleteFunc(w.requests(), func(request string) bool { return !strings.Contains(request, "plots") }))
	}
	got := check("p9", PassFacts{})
	want(t, got, resource.ActionBlock, resource.ReasonReconciliationBlocked, resource.RetrySlow)
	if strings.Contains(fmt.Sprint(got), planted) || !strings.Contains(got.Message, "(masked)") {
		t.Errorf("a secret of a list is in %+v", got)
	}
	if !strings.Contains(got.Freshness, "plots of f1 read now") || len(got.WaitingFor) != 3 {
		t.Errorf("got %q waiting for %v, want the age of the list, the owner and two plots", got.Freshness, got.WaitingFor)
	}
	if got := check("p2", PassFacts{}); got.Stops() {
		t.Errorf("without itself there is water: %+v", got)
	}
	steps := []struct {
		reason string
		do     func()
		facts  PassFacts
		more   int
	}{
		{reason: "the list is shared", do: func() { w.advance(20 * time.Second) }},
		{reason: "it is too old", do: func() { w.advance(11 * time.Second) }, more: 1},
		{reason: "a plot changed", do: func() {
			w.advance(time.Second)
			w.acts.noteChanges([]Change{{ID: id(t, plotsText+"p2"), State: "written", At: w.now()}})
			w.advance(time.Second)
		}, more: 1},
		{reason: "another resource changed", do: func() {
			w.acts.noteChanges([]Change{{ID: id(t, netText), State: "written", At: w.now()}})
		}},
		{reason: "this worker wrote a plot", do: func() {
			w.advance(time.Second)
			w.acts.lookup.Drop(t.Context(), id(t, plotsText+"p1"), "2023-01-01")
			w.advance(time.Second)
		}, more: 1},
		{reason: "a user asked", do: func() { w.advance(time.Second) }, facts: PassFacts{Mandate: Mandate{RequestedAt: w.now().Add(time.Hour)}}, more: 1},
	}
	for _, s := range steps {
		before := lists()
		s.do()
		if !s.facts.RequestedAt.IsZero() {
			s.facts.RequestedAt = w.now()
		}
		check("p9", s.facts)
		if more := lists() - before; more != s.more {
			t.Errorf("%s: %d more lists, want %d", s.reason, more, s.more)
		}
	}
	w.advance(10 * time.Second)
	if got := check("p9", PassFacts{}); got.RetryWithin <= 0 || got.RetryWithin > 31*time.Second || !strings.Contains(got.Freshness, "plots of f1 read 1") {
		t.Errorf("got %q within %s, want a retry when the list expires", got.Freshness, got.RetryWithin)
	}
}

// TestListsAreWhole holds that a list of more resources than max, or of more pages than a list
// may take, is a failed check that names the rule, that pages are followed, and that a parent
// that does not exist has no resources.
func TestListsAreWhole(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withRules(t, strings.Replace(plotRules, "max: 3", "max: 20", 1)), func(s *setup) { s.sim.PageSize = 2 })
	check := func() resource.Verdict {
		w.advance(time.Minute)
		return local(w, w.acts.PreCheck, PreCheckInput{Desired: desired(t, plotsText+"p99", `{"properties":{"water":1}}`)}).Verdict
	}
	if got := check(); got.Action != resource.ActionBlock || !strings.Contains(got.Message, "no more water, and one plot has the key []") {
		t.Errorf("without a farm: %+v", got)
	}
	w.put(farmText, `{"location":"westus2","properties":{"water":10}}`)
	for n := range 10 {
		w.put(fmt.Sprintf("%sp%d", plotsText, n), `{"properties":{"water":1,"apiKey":null}}`)
	}
	if got := check(); got.Action != resource.ActionBlock || len(got.WaitingFor) < 10 {
		t.Errorf("five pages: %+v", got)
	}
	w.put(plotsText+"p10", `{"properties":{"water":1}}`)
	got := check()
	if got.Action != resource.ActionError || got.Reason != resource.ReasonCheckFailed || !strings.Contains(got.Origin, "rule water") ||
		!strings.Contains(got.Message, "f1 has more than 20 resources of type Contoso.Things/farms/plots, or more than 5 pages of them") {
		t.Errorf("six pages: %+v", got)
	}
}

// TestRulesReadEachThroughTheCache holds that two rules that read the same IDs make one request
// for each of them.
func TestRulesReadEachThroughTheCache(t *testing.T) {
	t.Parallel()
	const rule = `  - {name: NAME, type: Contoso.Things/things, at: pre, read: {nets: {each: "desired.properties.nets[*].id", waitFor: nothing, apiVersion: "2023-01-01"}}, when: 'nets.exists(n, n == null)', block: NAME}
`
	w := newWorld(t, withRules(t, "rules:\n"+strings.ReplaceAll(rule, "NAME", "first")+strings.ReplaceAll(rule, "NAME", "second")))
	nets := make([]string, 0, 3)
	for n := range 3 {
		net := fmt.Sprintf("%s/providers/Contoso.Things/nets/n%d", groupText, n)
		nets = append(nets, `{"id":"`+net+`"}`)
		if n < 2 {
			w.put(net, `{"properties":{}}`)
		}
	}
	spec := desired(t, thingText, `{"properties":{"nets":[`+strings.Join(nets, ",")+`]}}`)
	got := local(w, w.acts.PreCheck, PreCheckInput{Desired: spec}).Verdict
	if got.Action != resource.ActionBlock || got.Message != "first" || len(got.WaitingFor) != 3 {
		t.Errorf("got %+v", got)
	}
	w.advance(time.Second)
	w.put(groupText+"/providers/Contoso.Things/nets/n2", `{"properties":{}}`)
	w.acts.noteChanges([]Change{{ID: id(t, groupText+"/providers/Contoso.Things/nets/n2"), State: "created", At: w.now()}})
	if got := local(w, w.acts.PreCheck, PreCheckInput{Desired: spec}).Verdict; got.Stops() {
		t.Errorf("woken: got %+v", got)
	}
	reads := slices.DeleteFunc(w.requests(), func(request string) bool { return !strings.HasPrefix(request, "GET n") })
	slices.Sort(reads)
	if !slices.Equal(reads, []string{"GET n0", "GET n1", "GET n2", "GET n2"}) {
		t.Errorf("four checks read %v, want each once, and the changed one once more", reads)
	}
}

// TestListsAreDated holds that a verdict names the age of a list on which it rests, also of an
// empty one, and is repeated when the list expires.
func TestListsAreDated(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withRules(t, `rules:
  - name: alone
    type: Contoso.Things/farms/plots
    at: pre
    read: {plots: {list: Contoso.Things/farms/plots, apiVersion: '2023-01-01'}}
    when: size(plots) == 0 || plots.exists(p, p.properties.water > 3)
    block: 'beside ${plots.map(p, p.name)}'
`))
	w.put(farmText, `{"location":"westus2","properties":{}}`)
	w.put(plotsText+"p1", `{"properties":{"water":4}}`)
	for name, message := range map[string]string{"p1": "beside []", "p9": `beside ["p1"]`} {
		w.advance(time.Hour)
		spec := desired(t, plotsText+name, `{"properties":{}}`)
		local(w, w.acts.PreCheck, PreCheckInput{Desired: spec})
		w.advance(10 * time.Second)
		got := local(w, w.acts.PreCheck, PreCheckInput{Desired: spec}).Verdict
		if got.Message != message || !strings.HasPrefix(got.Freshness, "plots of f1 read 10s ago") || got.RetryWithin != 21*time.Second || len(got.WaitingFor) != 1 {
			t.Errorf("%s: got %q, %q within %s, waiting for %v", name, got.Message, got.Freshness, got.RetryWithin, got.WaitingFor)
		}
	}
}
