package activities

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

// TestPartsAreMasked checks that no secret of a part is in what leaves the activities, and that
// a correction sends it all the same.
func TestPartsAreMasked(t *testing.T) {
	const site, foreign = groupText + "/providers/Microsoft.Web/sites/shop", "f0reign-s3cret-value"
	t.Setenv("ARMATURE_SECRET_KEY", planted)
	w := newWorld(t)
	w.put(groupText, `{"location":"westus2"}`)
	d := desired(t, site, `{"location":"westus2","properties":{"httpsOnly":true,"siteConfig":{`+
		`"appSettings":[{"name":"MODE","value":"a"},{"name":"API_KEY","value":{"$secret":"env:ARMATURE_SECRET_KEY"}}],`+
		`"connectionStrings":[{"name":"db","connectionString":{"$secret":"env:ARMATURE_SECRET_KEY"},"type":"Custom"}],`+
		`"azureStorageAccounts":{"share":{"type":"AzureFiles","accountName":"a","shareName":"s","mountPath":"/m","accessKey":{"$secret":"env:ARMATURE_SECRET_KEY"}}}}}}`)
	d.APIVersion = "2023-12-01"
	put, _ := finish(w, w.acts.PutResource, PutResourceInput{Desired: d, ObservedAt: w.now(), Kind: PutCreation})
	read := func() GetResourceResult {
		t.Helper()
		target := w.acts.resourceReader.target(d.WithSecrets())
		if len(target.Parts) != 3 {
			t.Fatalf("the parts are %v", target.Parts)
		}
		got, _ := finish(w, w.acts.GetResource, GetResourceInput{Target: target})
		return got
	}
	got := read()
	post := local(w, w.acts.PostCheck, PostCheckInput{Desired: d, Observed: got.Observed, Completed: got.Completed, Put: true, Sent: true, Secrets: put.Secrets})
	must(t, w.sim.Put(site+"/config/appsettings", map[string]any{"properties": map[string]any{"MODE": "b", "API_KEY": planted, "OTHER_PASSWORD": foreign}}))
	must(t, w.sim.Put(site+"/config/azurestorageaccounts", map[string]any{"properties": map[string]any{
		"share": map[string]any{"type": "AzureFiles", "accountName": "a", "shareName": "s", "mountPath": "/m", "accessKey": planted},
		"more":  map[string]any{"type": "AzureFiles", "accountName": "b", "shareName": "s", "mountPath": "/n", "accessKey": foreign},
	}}))
	w.advance(time.Hour)
	got = read()
	pre := local(w, w.acts.PreCheck, PreCheckInput{Desired: d, Observed: got.Observed, Completed: got.Completed, Applied: true, Existed: true, Memory: post.Memory, PassFacts: PassFacts{Mandate: Mandate{Correction: true}}})
	again, _ := finish(w, w.acts.PutResource, PutResourceInput{Desired: d, ObservedAt: w.now(), Memory: post.Memory, PassFacts: PassFacts{Mandate: Mandate{Correction: true}}})
	for name, result := range map[string]any{"GetResource": got, "PreCheck": pre, "PutResource": again, "PostCheck": post} {
		encoded, err := json.Marshal(result)
		must(t, err)
		if text := string(encoded); strings.Contains(text, planted) || strings.Contains(text, foreign) {
			t.Errorf("%s has a secret: %s", name, text)
		}
	}
	if text := w.log.String(); strings.Contains(text, planted) || strings.Contains(text, foreign) {
		t.Error("a secret is in the log")
	}
	sent, err := json.Marshal(w.sim.Resources(site, "")[0].LastPut)
	must(t, err)
	for _, want := range []string{`{"name":"OTHER_PASSWORD","value":"` + foreign + `"}`, `"value":"a"`, planted, `"more":{"accessKey":"` + foreign + `"`} {
		if !strings.Contains(string(sent), want) {
			t.Errorf("%s is not sent: %s (%s %s)", want, sent, again.Verdict.Reason, again.Verdict.Message)
		}
	}
}
