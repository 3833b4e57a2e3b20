package activities

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/armature-io/armature/armsim"
)

// TestImportParts imports a function app with what other requests than its GET return. No
// setting that may be a secret is in the result, the plan is in sync, and a correction keeps all
// settings.
func TestImportParts(t *testing.T) {
	t.Parallel()
	const (
		site = groupText + "/providers/Microsoft.Web/sites/shop"
		body = `{"location":"westus2","kind":"functionapp,linux","properties":{"httpsOnly":true,"siteConfig":{"minTlsVersion":"1.2",` +
			`"ipSecurityRestrictions":[{"name":"fd","action":"Allow","priority":100,"tag":"ServiceTag","ipAddress":"AzureFrontDoor.Backend"}],` +
			`"appSettings":[{"name":"FUNCTIONS_EXTENSION_VERSION","value":"~4"},{"name":"API","value":"@Microsoft.KeyVault(SecretUri=https://v.vault.azure.net/secrets/a)"},{"name":"Shop","value":"` + planted + `"}],` +
			`"connectionStrings":[{"name":"db","type":"SQLAzure","connectionString":"` + planted + `"}],` +
			`"azureStorageAccounts":{"files":{"type":"AzureFiles","accountName":"sa1","shareName":"s","mountPath":"/m","accessKey":"` + planted + `"}}}}}`
		lists = "Microsoft.Web/sites/config/list/action"
	)
	for name, c := range map[string]struct {
		reason               string
		fault                *armsim.Fault
		has, hasNot, secrets []string
		unread               []string
	}{
		"all": {
			reason: "everything is stated but secrets, and the rule of the service",
			has:    []string{`"minTlsVersion":"1.2"`, `{"name":"FUNCTIONS_EXTENSION_VERSION","value":"~4"}`, `{"name":"API","value":"@Microsoft.KeyVault(`, `{"name":"Shop"}`, `{"name":"db","type":"SQLAzure"}`, `"mountPath":"/m"`, "AzureFrontDoor.Backend"},
			hasNot: []string{"Allow all", "Deny all"},
			secrets: []string{
				"properties.siteConfig.appSettings[2].value", "properties.siteConfig.azureStorageAccounts.files.accessKey", "properties.siteConfig.connectionStrings[0].connectionString",
			},
		},
		"lists forbidden": {
			reason: "the rest is imported", fault: &armsim.Fault{Method: http.MethodPost, Status: 403, Code: "AuthorizationFailed"},
			has: []string{`"minTlsVersion":"1.2"`, "AzureFrontDoor.Backend"}, hasNot: []string{"appSettings", "connectionStrings", "azureStorageAccounts"},
			unread: []string{"properties.siteConfig.appSettings needs " + lists, "properties.siteConfig.connectionStrings needs " + lists, "properties.siteConfig.azureStorageAccounts needs " + lists},
		},
		"config forbidden": {
			reason: "the settings are imported", fault: &armsim.Fault{Method: http.MethodGet, Type: "Microsoft.Web/sites/config", Status: 403, Code: "AuthorizationFailed"},
			has: []string{`"value":"~4"`}, hasNot: []string{"minTlsVersion"}, unread: []string{"properties.siteConfig needs Microsoft.Web/sites/config/read"},
			secrets: []string{
				"properties.siteConfig.appSettings[2].value", "properties.siteConfig.azureStorageAccounts.files.accessKey", "properties.siteConfig.connectionStrings[0].connectionString",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.put(groupText, `{"location":"westus2"}`)
			w.put(site, body)
			if c.fault != nil {
				w.sim.AddFault(*c.fault)
			}
			got, err := run(w, w.acts.ImportResource, ImportResourceInput{ID: id(t, site), APIVersion: "2023-12-01"})
			must(t, err)
			w.leaks(planted, got)
			for _, text := range c.has {
				if !strings.Contains(string(got.Body), text) {
					t.Errorf("%s: %s is not in %s", c.reason, text, got.Body)
				}
			}
			for _, text := range c.hasNot {
				if strings.Contains(string(got.Body), text) {
					t.Errorf("%s: %s is in %s", c.reason, text, got.Body)
				}
			}
			if diff := cmp.Diff([2][]string{c.secrets, c.unread}, [2][]string{got.Secrets, got.Unread}); diff != "" {
				t.Errorf("%s: secrets and unread parts (-want +got)\n%s", c.reason, diff)
			}
			spec := desired(t, site, string(got.Body))
			spec.APIVersion = "2023-12-01"
			plan, err := run(w, w.acts.PlanResource, PlanResourceInput{Desired: spec})
			must(t, err)
			if plan.Action != PlanNone || len(plan.Differences) > 0 {
				t.Errorf("%s: the plan of the import is %+v", c.reason, plan)
			}
			must(t, w.sim.Patch(site, map[string]any{"properties": map[string]any{"httpsOnly": false}}))
			_, err = run(w, w.acts.PutResource, PutResourceInput{Desired: spec, Kind: PutChange, ObservedAt: w.now()})
			must(t, err)
			if stored := w.storedBody(site); strings.Count(stored, planted) != 3 || !strings.Contains(stored, `"httpsOnly":true`) {
				t.Errorf("%s: after the correction Azure has %s", c.reason, stored)
			}
		})
	}
}
