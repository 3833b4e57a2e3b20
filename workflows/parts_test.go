package workflows_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/resource"
)

const (
	functionApp = `{"location":"westus2","kind":"functionapp,linux","properties":{"httpsOnly":true%s}}`
	appConfig   = `,"siteConfig":{"minTlsVersion":"1.2","healthCheckPath":"/health","ipSecurityRestrictionsDefaultAction":"Deny",` +
		`"ipSecurityRestrictions":[{"name":"fd","action":"Allow","priority":100,"tag":"ServiceTag","ipAddress":"AzureFrontDoor.Backend"}]` + appSettings + `}`
	appSettings = `,"appSettings":[{"name":"FUNCTIONS_EXTENSION_VERSION","value":"~4"},{"name":"API_KEY","value":"@Microsoft.KeyVault(SecretUri=https://v.vault.azure.net/secrets/a)"}]`
	onlyConfig  = `,"siteConfig":{"minTlsVersion":"1.2"}`
)

// TestSplitResources changes a function app outside Armature in each of its parts, and counts
// what is corrected, what stays, and the requests for it.
func TestSplitResources(t *testing.T) {
	const (
		packageSetting = `{"FUNCTIONS_EXTENSION_VERSION":"~4","API_KEY":"@Microsoft.KeyVault(SecretUri=https://v.vault.azure.net/secrets/a)","WEBSITE_RUN_FROM_PACKAGE":"https://store/pkg.zip"}`
		insecure       = `{"properties":{"httpsOnly":false}}`
		opened         = `{"properties":{"siteConfig":{"ipSecurityRestrictions":[],"ipSecurityRestrictionsDefaultAction":"Allow"}}}`
		foreignRule    = `{"properties":{"siteConfig":{"minTlsVersion":"1.0","ipSecurityRestrictions":[{"name":"fd","action":"Allow","priority":100,"tag":"ServiceTag","ipAddress":"AzureFrontDoor.Backend"},{"name":"home","action":"Allow","priority":90,"ipAddress":"1.2.3.4/32"}]}}}`
		otherVersion   = `{"FUNCTIONS_EXTENSION_VERSION":"~3","WEBSITE_RUN_FROM_PACKAGE":"https://store/pkg.zip"}`
	)
	const full = appConfig
	for name, c := range map[string]struct {
		reason, config string
		// settings and patch change the site after two hours.
		settings, patch string
		fault           *armsim.Fault
		lock, slot      bool
		puts            int
		why             resource.Reason
		// message is a part of the last message, has and hasNot of what the service has then.
		message     string
		has, hasNot []string
		// reads are the requests of one pass without a change.
		reads int
	}{
		"code of a pipeline":  {reason: "httpsOnly is corrected, the setting stays", config: full, settings: packageSetting, patch: insecure, puts: 2, why: resource.ReasonSucceeded, has: []string{"httpsOnly:true", "WEBSITE_RUN_FROM_PACKAGE", "~4"}, reads: 3},
		"slot":                {reason: "a slot is read as its site is", config: full, settings: packageSetting, patch: opened, slot: true, puts: 2, why: resource.ReasonSucceeded, has: []string{"WEBSITE_RUN_FROM_PACKAGE", "AzureFrontDoor.Backend"}, reads: 3},
		"only the setting":    {reason: "a setting of others is no drift", config: full, settings: packageSetting, puts: 1, why: resource.ReasonSucceeded, has: []string{"WEBSITE_RUN_FROM_PACKAGE"}, reads: 3},
		"setting changed":     {reason: "a stated setting is corrected, also one that is gone", config: full, settings: otherVersion, puts: 2, why: resource.ReasonSucceeded, has: []string{"WEBSITE_RUN_FROM_PACKAGE", "~4", "API_KEY"}, hasNot: []string{"~3"}, reads: 3},
		"opened to the world": {reason: "restrictions are seen in config/web", config: full, patch: opened, puts: 2, why: resource.ReasonSucceeded, has: []string{"AzureFrontDoor.Backend", "ipSecurityRestrictionsDefaultAction:Deny"}, hasNot: []string{"Allow all"}, reads: 3},
		"foreign restriction": {reason: "the rest is corrected, the restriction waits for a user", config: full, patch: foreignRule, puts: 2, why: resource.ReasonHeld, message: "ipSecurityRestrictions[name=home]", has: []string{"home", "minTlsVersion:1.2"}, reads: 3},
		"no siteConfig":       {reason: "nothing more is read", patch: insecure, puts: 2, why: resource.ReasonSucceeded, has: []string{"httpsOnly:true"}, reads: 1},
		"config alone":        {reason: "settings are not read", config: onlyConfig, patch: `{"properties":{"siteConfig":{"minTlsVersion":"1.0"}}}`, puts: 2, why: resource.ReasonSucceeded, has: []string{"minTlsVersion:1.2"}, reads: 2},
		"settings forbidden": {reason: "the pass goes on without the settings, and no correction sends them", config: full, settings: otherVersion, patch: insecure,
			fault: &armsim.Fault{Method: "POST", Status: 403, Code: "AuthorizationFailed"}, puts: 2, why: resource.ReasonSucceeded, message: "1 stated property cannot be verified", has: []string{"httpsOnly:true", "~3", "WEBSITE_RUN_FROM_PACKAGE"}, hasNot: []string{"~4"}, reads: 3},
		"config forbidden": {reason: "nothing of siteConfig is compared or sent but the settings", config: full, patch: opened,
			fault: &armsim.Fault{Method: "GET", Type: "Microsoft.Web/sites/config", Status: 403, Code: "AuthorizationFailed"}, puts: 1, why: resource.ReasonSucceeded, message: "4 stated properties cannot be verified", hasNot: []string{"AzureFrontDoor"}, reads: 3},
		"locked": {reason: "a lock refuses each action: the settings are not compared", config: full, settings: otherVersion, lock: true, puts: 1, why: resource.ReasonSucceeded, message: "1 stated property cannot be verified", has: []string{"~3"}, reads: 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			spec := specOf("Microsoft.Web/sites/shop", "2023-12-01", fmt.Sprintf(functionApp, c.config))
			if c.slot {
				spec = specOf("Microsoft.Web/sites/shop/slots/blue", "2023-12-01", string(spec.Body))
			}
			spec.Interval, spec.Owner = time.Hour, spec.ID.Owner()
			site := spec.ID.String()
			s := newSimulated(t, spec)
			if c.slot {
				must(t, s.sim.Put(spec.Owner.String(), map[string]any{"location": "westus2"}))
			}
			s.apply(spec)
			s.after(2*time.Hour+time.Minute, func(sim *armsim.Simulator) {
				if c.fault != nil {
					sim.AddFault(*c.fault)
				}
				if c.lock {
					must(t, sim.Put(site+"/providers/Microsoft.Authorization/locks/l1", map[string]any{"properties": map[string]any{"level": "ReadOnly"}}))
				}
				if c.settings != "" {
					must(t, sim.Put(site+"/config/appsettings", map[string]any{"properties": decodedJSON(t, c.settings)}))
				}
				if c.patch != "" {
					must(t, sim.Patch(site, decodedJSON(t, c.patch).(map[string]any)))
				}
			})
			count := func() (n int) {
				for _, r := range s.sim.Requests() {
					if r.Method != "PUT" && strings.HasPrefix(strings.ToLower(r.ID), strings.ToLower(site)) {
						n++
					}
				}
				return n
			}
			var before, after int
			first, last := s.statusAt(5*time.Hour), s.statusAt(11*time.Hour)
			s.after(5*time.Hour, func(*armsim.Simulator) { before = count() })
			s.after(11*time.Hour, func(*armsim.Simulator) { after = count() })
			s.start(11*time.Hour + time.Minute)
			passes := int(last.Pass - first.Pass)
			if got := s.requests("PUT", spec.ID); got != c.puts || passes == 0 || after-before != passes*c.reads {
				t.Errorf("%s: %d PUTs, want %d; %d reads in %d passes, want %d in each", c.reason, got, c.puts, after-before, passes, c.reads)
			}
			if last.Condition.Reason != c.why || !strings.Contains(last.Condition.Message, c.message) || c.message == "" && strings.Contains(last.Condition.Message, "verified") {
				t.Errorf("%s: %s %s", c.reason, last.Condition.Reason, last.Condition.Message)
			}
			if foreign := strings.Join(last.Foreign, " "); strings.Contains(foreign, " all") {
				t.Errorf("%s: the rule of the service counts as one of others: %s", c.reason, foreign)
			}
			stored := fmt.Sprint(s.stored(spec.ID))
			for _, text := range c.has {
				if !strings.Contains(stored, text) {
					t.Errorf("%s: %s is missing in %s", c.reason, text, stored)
				}
			}
			for _, text := range c.hasNot {
				if strings.Contains(stored, text) {
					t.Errorf("%s: %s is in %s", c.reason, text, stored)
				}
			}
		})
	}
}

// stored returns a resource as the simulator has it, also what no request shows.
func (s *simulated) stored(id resource.ID) map[string]any {
	snapshot, err := s.sim.Snapshot()
	must(s.t, err)
	var saved []struct {
		ID   string
		Body map[string]any
	}
	must(s.t, json.Unmarshal(snapshot, &saved))
	for _, r := range saved {
		if parsedID(r.ID).Equal(id) {
			return r.Body
		}
	}
	return nil
}
