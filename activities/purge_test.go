package activities

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/activities/writing"
	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/types"
)

const purgeVault = groupText + "/providers/Microsoft.KeyVault/vaults/v1"

// deleteNow deletes a resource and waits for its end.
func deleteNow(w *world, spec resource.Desired) DeleteResourceResult {
	w.t.Helper()
	sent, _ := finish(w, w.acts.DeleteResource, DeleteResourceInput{Desired: spec})
	if sent.Token != "" {
		w.fresh()
		finish(w, w.acts.PollOperation, PollOperationInput{Target: resource.Target{ID: spec.ID, APIVersion: spec.APIVersion}, Token: sent.Token, Delete: true})
	}
	return sent
}

// TestPurgeFreesTheName purges deleted resources of several types. Until then their name
// is taken.
//
//guard:purges-are-stated
func TestPurgeFreesTheName(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		purgeVault,
		groupText + "/providers/Microsoft.CognitiveServices/accounts/a1",
		groupText + "/providers/Microsoft.ApiManagement/service/s1",
		groupText + "/providers/Microsoft.AppConfiguration/configurationStores/c1",
	} {
		at := id(t, text)
		t.Run(at.Type(), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.put(groupText, `{"location":"westus2"}`)
			spec := desired(t, text, `{"location":"West US 2","properties":{}}`)
			spec.APIVersion, spec.Deletion.Purge = types.Newest(at.Type()), true
			w.put(text, string(spec.Body))
			deleteNow(w, spec)
			if _, err := w.acts.Client.Put(w.writes(t.Context()), at, spec.APIVersion, spec.Body, arm.PutOptions{}); err == nil {
				t.Fatal("the name is free before the purge")
			}
			in := PurgeResourceInput{Desired: spec, Since: w.now()}
			for range 10 {
				got, _ := finish(w, w.acts.PurgeResource, in)
				in.Sent = in.Sent || got.Sent
				if !got.Verdict.Stops() {
					if got.Verdict.Message != "purged" {
						t.Errorf("the purge ended with %q", got.Verdict.Message)
					}
					break
				}
				w.advance(30 * time.Second)
				w.fresh()
			}
			if _, err := w.acts.Client.Put(w.writes(t.Context()), at, spec.APIVersion, spec.Body, arm.PutOptions{}); err != nil {
				t.Errorf("the name is not free after the purge: %v", err)
			}
		})
	}
}

// TestGuardPurge verifies what keeps a deleted vault from its purge.
//
//guard:purges-are-stated
func TestGuardPurge(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		body   string
		change func(*world, *resource.Desired)
		action resource.Action
		part   string
	}{
		"frozen": {
			reason: "a freeze stops every write", change: func(w *world, d *resource.Desired) {
				d.Labels = map[string]string{"stack": "prod"}
				w.fleet.freeze, w.fleet.frozen = writing.Freeze{Selector: "stack=prod", By: "ada@host", Since: w.now()}, true
			},
			action: resource.ActionBlock, part: "froze",
		},
		"policy":     {reason: "the policy allows no DELETE", change: func(_ *world, d *resource.Desired) { d.Policy = resource.PolicyProtect }, action: resource.ActionError, part: "nothing was sent"},
		"protection": {reason: "Azure would refuse it", body: `{"location":"westus2","properties":{"enablePurgeProtection":true}}`, action: resource.ActionProceed, part: "purge protection"},
		"other vault": {
			reason: "the deleted vault of this name was in another group", change: func(_ *world, d *resource.Desired) {
				d.ID, _ = resource.ParseID(strings.Replace(purgeVault, "/rg1/", "/other/", 1))
			},
			action: resource.ActionProceed, part: "not purged: the deleted resource of this name is " + purgeVault,
		},
		"no location": {reason: "the path needs it", change: func(_ *world, d *resource.Desired) { d.Body = []byte(`{}`) }, action: resource.ActionProceed, part: "no location"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.put(groupText, `{"location":"westus2"}`)
			if tc.body == "" {
				tc.body = `{"location":"westus2","properties":{}}`
			}
			w.put(purgeVault, tc.body)
			spec := desired(t, purgeVault, tc.body)
			spec.Deletion.Purge = true
			deleteNow(w, spec)
			if tc.change != nil {
				tc.change(w, &spec)
			}
			got, _ := finish(w, w.acts.PurgeResource, PurgeResourceInput{Desired: spec, Since: w.now()})
			if got.Verdict.Action != tc.action || !strings.Contains(got.Verdict.Message, tc.part) || got.Sent {
				t.Errorf("%s: %s %q, sent %t", tc.reason, got.Verdict.Action, got.Verdict.Message, got.Sent)
			}
			if !w.sim.Recoverable(purgeVault) {
				t.Errorf("%s: the vault was purged", tc.reason)
			}
		})
	}
}

// TestDeleteParameters sends the parameters of the manifest, over the parameters of an extension,
// and refuses a purge of a type without one.
func TestDeleteParameters(t *testing.T) {
	t.Parallel()
	const (
		plan      = groupText + "/providers/Microsoft.Web/serverfarms/plan1"
		site      = groupText + "/providers/Microsoft.Web/sites/site1"
		workspace = groupText + "/providers/Microsoft.OperationalInsights/workspaces/w1"
	)
	w := newWorld(t)
	w.put(groupText, `{"location":"westus2"}`)
	w.put(plan, `{"location":"westus2","sku":{"name":"B1"}}`)
	w.put(site, `{"location":"westus2","properties":{"serverFarmId":"`+plan+`"}}`)
	spec := desired(t, site, `{"location":"westus2"}`)
	spec.Deletion.Query = map[string]string{"deleteEmptyServerFarm": "true"}
	if got := deleteNow(w, spec); !strings.Contains(got.Verdict.Message, "deleteEmptyServerFarm=true") {
		t.Errorf("the verdict does not name the parameter: %s", got.Verdict.Message)
	}
	if _, err := w.acts.Client.Get(t.Context(), id(t, plan), spec.APIVersion); !arm.IsAbsent(err) {
		t.Errorf("the parameter of the manifest was not sent: %v", err)
	}
	for workspace, purge := range map[string]bool{workspace + "-kept": false, workspace + "-purged": true} {
		w.put(workspace, `{"location":"westus2"}`)
		spec := desired(t, workspace, `{"location":"westus2"}`)
		spec.Deletion.Purge = purge
		deleteNow(w, spec)
		if w.sim.Recoverable(workspace) == purge {
			t.Errorf("purge %t: recoverable %t", purge, purge)
		}
	}
	w.put(thingText, thingBody)
	thing := desired(t, thingText, thingBody)
	thing.Deletion.Purge = true
	before := w.sent(http.MethodDelete)
	got, _ := finish(w, w.acts.DeleteResource, DeleteResourceInput{Desired: thing})
	if got.Verdict.Action != resource.ActionError || !strings.Contains(got.Verdict.Message, "no purge of") || w.sent(http.MethodDelete) != before {
		t.Errorf("%s %q, want a refusal before the DELETE", got.Verdict.Action, got.Verdict.Message)
	}
}

// TestPurgeReadsBeforeItRepeats loses the response to a purge: the next attempt reads what
// Azure keeps, and leaves what belongs to another resource.
func TestPurgeReadsBeforeItRepeats(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put(groupText, `{"location":"westus2"}`)
	spec := desired(t, purgeVault, `{"location":"West US 2","properties":{}}`)
	spec.APIVersion, spec.Deletion.Purge = types.Newest(spec.ID.Type()), true
	w.put(purgeVault, string(spec.Body))
	deleteNow(w, spec)
	seen := len(w.requests())
	w.sim.AddFault(armsim.Fault{Method: http.MethodPost, Reset: true, Count: 1})
	_, failures := finish(w, w.acts.PurgeResource, PurgeResourceInput{Desired: spec, Since: w.now()})
	want := []string{"GET v1", "POST v1", "GET v1", "POST v1"}
	got := slices.DeleteFunc(w.requests()[seen:], func(r string) bool { return r == "POLL" })
	if len(failures) != 1 || !slices.Equal(got, want) {
		t.Errorf("requests %v after %v, want %v", got, failures, want)
	}
}
