package activities

import (
	"testing"
	"time"

	"github.com/armature-io/armature/resource"
)

// A property that Azure accepted in a create and does not show is never in sync
// without a word. The simulator drops what the type does not have, as most providers
// do.
func TestCreateNotShown(t *testing.T) {
	t.Parallel()
	const account = groupText + "/providers/Microsoft.Storage/storageAccounts/misspelt21"
	const start, end = `{"location":"westus2","kind":"StorageV2","sku":{"name":"Standard_LRS"},"properties":`, `}`
	cases := map[string]struct {
		reason, properties string
		why                resource.Reason
		severity           resource.Severity
		parts              []string
	}{
		"misspelt": {
			reason: "the nearest property that Azure shows is named", properties: `{"minimumTlsVerison":"TLS1_2","supportsHttpsTrafficOnly":true}`,
			why: resource.ReasonChangeNotTaken, severity: resource.SeverityWarning,
			parts: []string{"does not show properties.minimumTlsVerison (did you mean properties.minimumTlsVersion?)", "not written again"},
		},
		"other value": {
			reason: "a value that Azure keeps is named in the message", properties: `{"minimumTlsVersion":"TLS1_2","primaryLocation":"eastus"}`,
			why: resource.ReasonSucceeded, parts: []string{"properties.primaryLocation"},
		},
		"right": {
			reason: "everything is shown", properties: `{"minimumTlsVersion":"TLS1_2","supportsHttpsTrafficOnly":true}`, why: resource.ReasonSucceeded,
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.put(groupText, `{"location":"westus2"}`)
			d := desired(t, account, start+c.properties+end)
			d.APIVersion = "2023-05-01"
			target := GetResourceInput{Target: d.Target()}
			put, _ := finish(w, w.acts.PutResource, PutResourceInput{Desired: d, Kind: PutCreationAgain, ObservedAt: w.now()})
			if put.Verdict.Stops() {
				t.Fatalf("PUT: %+v", put.Verdict)
			}
			w.advance(2 * time.Minute)
			read, _ := finish(w, w.acts.GetResource, target)
			p := &passes{world: w, desired: d}
			got := p.post(string(read.Observed), true, nil)
			want(t, got, resource.ActionSuccess, c.why, "", c.parts...)
			if got.Severity != c.severity {
				t.Errorf("%s: %+v", c.reason, got)
			}
			next := p.pre(string(read.Observed))
			if next.Action != resource.ActionSkip || (next.Reason == resource.ReasonChangeNotTaken) != (c.why == resource.ReasonChangeNotTaken) {
				t.Errorf("the next pass: %+v", next)
			}
		})
	}
}
