package activities

import (
	"slices"
	"strings"
	"testing"

	"github.com/armature-io/armature/resource"
)

// TestGuardHeldDrops lets another tool add to a resource what a correction would remove:
// the correction names it and waits for a user.
//
//guard:merged-bodies-are-checked
//guard:removals-wait-for-a-user
func TestGuardHeldDrops(t *testing.T) {
	t.Parallel()
	const document, storage = groupText + "/providers/Microsoft.DocumentDB/databaseAccounts/cosmos", groupText + "/providers/Microsoft.Storage/storageAccounts/acct"
	const account = `{"location":"westus2","kind":"StorageV2","sku":{"name":"Standard_LRS"},"properties":{"accessTier":"Hot"}}`
	cases := map[string]struct {
		reason, id, version, body, theirs, drift string
		put                                      resource.Put
		names                                    []string
	}{
		"item of a stated list": {
			reason: "an operator opened the account for an office", id: document, version: "2023-11-15",
			body:   `{"location":"westus2","properties":{"databaseAccountOfferType":"Standard","locations":[{"locationName":"westus2"}],"enableAutomaticFailover":true,"ipRules":[{"ipAddressOrRange":"192.0.2.1"}]}}`,
			theirs: `{"properties":{"ipRules":[{"ipAddressOrRange":"192.0.2.1"},{"ipAddressOrRange":"203.0.113.7"}]}}`,
			drift:  `{"properties":{"enableAutomaticFailover":false}}`, names: []string{"properties.ipRules[1]"},
		},
		"replace": {
			reason: "put: replace removes what a policy set", id: storage, version: "2023-01-01", put: resource.PutReplace,
			body: account, theirs: `{"identity":{"type":"SystemAssigned"},"properties":{"minimumTlsVersion":"TLS1_2","networkAcls":{"defaultAction":"Deny","bypass":"None"}}}`,
			drift: `{"properties":{"accessTier":"Cool"}}`, names: []string{"identity", "properties.minimumTlsVersion", "properties.networkAcls"},
		},
		"value that the shape does not have": {
			reason: "it is not sent back, so that the PUT may remove it", id: storage, version: "2023-01-01",
			body: account, theirs: `{"properties":{"networkAcls":{"defaultAction":"Audited","bypass":"None"}}}`,
			drift: `{"properties":{"accessTier":"Cool"}}`, names: []string{"properties.networkAcls"},
		},
		"replace, nothing of others": {
			reason: "what the service had set by itself is there again", id: storage, version: "2023-01-01", put: resource.PutReplace,
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
			if len(c.names) > 0 {
				got := p.pass()
				want(t, got, resource.ActionBlock, resource.ReasonHeld, resource.RetryVerySlow, append([]string{"armature reconcile"}, c.names...)...)
				if !slices.Equal(got.Drops, c.names) || len(got.Differences) == 0 || p.puts != 1 {
					t.Errorf("%s: drops %v, differences %v, %d PUTs", c.reason, got.Drops, got.Differences, p.puts)
				}
				late, _ := finish(w, w.acts.PutResource, PutResourceInput{Desired: p.spec, PassFacts: PassFacts{Mandate: Mandate{Correction: true}}, Memory: p.memory, ObservedAt: w.now()})
				want(t, late.Verdict, resource.ActionBlock, resource.ReasonHeld, resource.RetryVerySlow, c.names...)
				if late.Sent || late.Unknown || w.puts(c.id) != 1 {
					t.Errorf("%s: set since the read: %+v", c.reason, late)
				}
				p.approved = true
			}
			if got := p.pass(); got.Stops() || p.puts != 2 {
				t.Errorf("%s: %d PUTs, %s %s", c.reason, p.puts, got.Reason, got.Message)
			}
			if stored := string(p.read().Observed); strings.Contains(stored, "203.0.113.7") || strings.Contains(stored, "TLS1_2") {
				t.Errorf("%s: an approved PUT removes what it named: %s", c.reason, stored)
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
