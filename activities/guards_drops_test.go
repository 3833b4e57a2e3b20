package activities

import (
	"slices"
	"strings"
	"testing"

	"github.com/armature-io/armature/resource"
)

// TestGuardHeldDrops lets another tool add settings to a resource that a correction would
// remove: the correction is sent with them, and a removal waits for a user.
//
//guard:merged-bodies-are-checked
//guard:removals-wait-for-a-user
func TestGuardHeldDrops(t *testing.T) {
	t.Parallel()
	const document, storage = groupText + "/providers/Microsoft.DocumentDB/databaseAccounts/cosmos", groupText + "/providers/Microsoft.Storage/storageAccounts/acct"
	const widgetText = groupText + "/providers/Contoso.Private/widgets/w1"
	const account = `{"location":"westus2","kind":"StorageV2","sku":{"name":"Standard_LRS"},"properties":{"accessTier":"Hot"}}`
	cases := map[string]struct {
		reason, id, version, body, theirs, drift string
		put                                      resource.Put
		// stays is a part of the settings of others, held the paths that wait for a user.
		stays string
		held  []string
	}{
		"item of a stated list": {
			reason: "an operator opened the account for an office", id: document, version: "2023-11-15",
			body:   `{"location":"westus2","properties":{"databaseAccountOfferType":"Standard","locations":[{"locationName":"westus2"}],"enableAutomaticFailover":true,"ipRules":[{"ipAddressOrRange":"192.0.2.1"}]}}`,
			theirs: `{"properties":{"ipRules":[{"ipAddressOrRange":"192.0.2.1"},{"ipAddressOrRange":"203.0.113.7"}]}}`,
			drift:  `{"properties":{"enableAutomaticFailover":false}}`, stays: "203.0.113.7", held: []string{"properties.ipRules[ipAddressOrRange=203.0.113.7]"},
		},
		"replace": {
			reason: "put: replace would remove the settings of a policy", id: storage, version: "2023-01-01", put: resource.PutReplace,
			body: account, theirs: `{"identity":{"type":"SystemAssigned"},"properties":{"minimumTlsVersion":"TLS1_2","networkAcls":{"defaultAction":"Deny","bypass":"None"}}}`,
			drift: `{"properties":{"accessTier":"Cool"}}`, stays: "TLS1_2",
		},
		"value that the shape does not have": {
			reason: "a correction sends it as Azure shows it", id: storage, version: "2023-01-01",
			body: account, theirs: `{"properties":{"networkAcls":{"defaultAction":"Audited","bypass":"None"}}}`,
			drift: `{"properties":{"accessTier":"Cool"}}`, stays: "Audited",
		},
		"unpublished": {
			reason: "without a shape the body is merged", id: widgetText, version: "2024-01-01",
			body: `{"location":"westus2","properties":{"mode":"Hot"}}`, theirs: `{"properties":{"firewall":{"rules":["203.0.113.7"]},"secret":"***"}}`,
			drift: `{"properties":{"mode":"Cool"}}`, stays: "203.0.113.7",
		},
		"unpublished, replace": {
			reason: "a correction sends the members of others as Azure shows them", id: widgetText, version: "2024-01-01", put: resource.PutReplace,
			body: `{"location":"westus2","properties":{"mode":"Hot"}}`, theirs: `{"properties":{"firewall":{"rules":["203.0.113.7"]}}}`,
			drift: `{"properties":{"mode":"Cool"}}`, stays: "203.0.113.7",
		},
		"replace, nothing of others": {
			reason: "values of the service are there again", id: storage, version: "2023-01-01", put: resource.PutReplace,
			body: account, theirs: `{}`, drift: `{"properties":{"accessTier":"Cool"}}`,
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, func(s *setup) { s.sim.TimeScale = 1e6 })
			w.put(groupText, `{"location":"westus2"}`)
			p := &passRunner{world: w, spec: desired(t, c.id, c.body)}
			p.spec.APIVersion, p.spec.Put = c.version, c.put
			if got := p.pass(); got.Stops() || p.puts != 1 {
				t.Fatalf("creation: %d PUTs, %s %s", p.puts, got.Reason, got.Message)
			}
			p.patch(c.theirs)
			p.patch(c.drift)
			for range 2 { // the second pass has nothing to correct
				got := p.pass()
				if !slices.Equal(got.Drops, c.held) || (got.Reason == resource.ReasonHeld) != (len(c.held) > 0) {
					t.Errorf("%s: %s %s, waiting %v", c.reason, got.Reason, got.Message, got.Drops)
				}
				stored := string(p.read().Observed)
				if p.puts != 2 || !strings.Contains(stored, c.stays) || strings.Contains(stored, "Cool") || strings.Contains(stored, `"enableAutomaticFailover":false`) {
					t.Errorf("%s: after %d PUTs %s", c.reason, p.puts, stored)
				}
			}
			if len(c.held) == 0 {
				return
			}
			p.approved = true
			if got := p.pass(); got.Stops() || p.puts != 3 || strings.Contains(string(p.read().Observed), c.stays) {
				t.Errorf("%s: an approved PUT removes it: %d PUTs, %s %s", c.reason, p.puts, got.Reason, got.Message)
			}
		})
	}
}

// TestGuardUnsoundBody merges what a user requests with what another tool set, where the
// two do not fit: nothing is sent.
//
//guard:merged-bodies-are-checked
func TestGuardUnsoundBody(t *testing.T) {
	t.Parallel()
	const document = groupText + "/providers/Microsoft.DocumentDB/databaseAccounts/cosmos"
	w := newWorld(t)
	w.put(groupText, `{"location":"westus2"}`)
	w.put(document, `{"location":"westus2","properties":{"databaseAccountOfferType":"Standard","locations":[{"locationName":"westus2"}],"backupPolicy":{"type":"Continuous","continuousModeProperties":{"tier":"Continuous7Days"}}}}`)
	before := w.puts(document)
	spec := desired(t, document, `{"location":"westus2","properties":{"databaseAccountOfferType":"Standard","locations":[{"locationName":"westus2"}],"backupPolicy":{"periodicModeProperties":{"backupIntervalInMinutes":60}}}}`)
	spec.APIVersion = "2023-11-15"
	got, _ := finish(w, w.acts.PutResource, PutResourceInput{Desired: spec, ObservedAt: w.now()})
	want(t, got.Verdict, resource.ActionBlock, resource.ReasonHeld, resource.RetryVerySlow, "properties.backupPolicy.periodicModeProperties", "put: replace")
	if got.Sent || got.Verdict.Actor == "" || w.puts(document) != before {
		t.Errorf("%d PUTs, %+v", w.puts(document)-before, got)
	}
}
