package drift_test

import (
	"testing"

	"github.com/armature-io/armature/drift"
	"github.com/google/go-cmp/cmp"
)

// TestOwned follows the values of switches and of reconcile.initial through edits, moves of
// their owner and PUTs. A step is a read, or a PUT of the body that Body makes.
//
//guard:values-of-other-owners
func TestOwned(t *testing.T) {
	inflate := drift.Switch{Path: "properties.isAutoInflateEnabled", On: []string{"true"}, Kind: drift.SwitchFloats, Values: []string{"sku.capacity"}}
	pools := drift.Switch{Path: "properties.pools[*].auto", On: []string{"true"}, Kind: drift.SwitchFloats, Values: []string{"properties.pools[*].count"}}
	channel := drift.Switch{Path: "properties.channel", On: []string{"*"}, Off: []string{"none"}, Kind: drift.SwitchAtLeast, Values: []string{"properties.version"}}
	disk := drift.Switch{Kind: drift.SwitchAtLeast, Values: []string{"properties.diskSizeGB"}}
	zones := drift.Switch{Path: "properties.ha", On: []string{"ZoneRedundant"}, Kind: drift.SwitchSwaps, Values: []string{"properties.zone", "properties.standby"}}
	type step struct {
		// reason says what happened before; manifest and azure replace the bodies if not "".
		reason, manifest, azure string
		// by is the owner's body, wanted the request of a user.
		owner  string
		wanted bool
		// sent is the body of the PUT, "" if none is due; owned are the values left to others.
		sent  string
		owned []string
	}
	cases := map[string]struct {
		initial, enforce []string
		switches         []drift.Switch
		steps            []step
	}{
		"an autoscaler moves a count, a user edits it, and turns the switch off": {
			switches: []drift.Switch{inflate},
			steps: []step{
				{reason: "adopted at another count", manifest: `{"sku":{"capacity":2},"properties":{"isAutoInflateEnabled":true}}`, azure: `{"sku":{"capacity":11},"properties":{"isAutoInflateEnabled":true}}`, owned: []string{"sku.capacity belongs to properties.isAutoInflateEnabled"}},
				{reason: "the autoscaler moves it", azure: `{"sku":{"capacity":5},"properties":{"isAutoInflateEnabled":true}}`, owned: []string{"sku.capacity belongs to properties.isAutoInflateEnabled"}},
				{reason: "the manifest moves it", manifest: `{"sku":{"capacity":3},"properties":{"isAutoInflateEnabled":true}}`, wanted: true, sent: `{"properties":{"isAutoInflateEnabled":true},"sku":{"capacity":3}}`},
				{reason: "the autoscaler moves it again", azure: `{"sku":{"capacity":7},"properties":{"isAutoInflateEnabled":true}}`, owned: []string{"sku.capacity belongs to properties.isAutoInflateEnabled"}},
				{reason: "switch and value in one edit", manifest: `{"sku":{"capacity":4},"properties":{"isAutoInflateEnabled":false}}`, wanted: true, sent: `{"properties":{"isAutoInflateEnabled":false},"sku":{"capacity":7}}`, owned: []string{"sku.capacity belongs to properties.isAutoInflateEnabled"}},
				{reason: "the next PUT may change the value", wanted: true, sent: `{"properties":{"isAutoInflateEnabled":false},"sku":{"capacity":4}}`},
				{reason: "without the switch it is drift", azure: `{"sku":{"capacity":9},"properties":{"isAutoInflateEnabled":false}}`, sent: `{"properties":{"isAutoInflateEnabled":false},"sku":{"capacity":4}}`},
			},
		},
		"a third party turns the switch off": {
			switches: []drift.Switch{inflate},
			steps: []step{
				{reason: "the manifest does not state the switch", manifest: `{"sku":{"capacity":2}}`, azure: `{"sku":{"capacity":6},"properties":{"isAutoInflateEnabled":true}}`, owned: []string{"sku.capacity belongs to properties.isAutoInflateEnabled"}},
				{reason: "the value is not free", azure: `{"sku":{"capacity":6},"properties":{"isAutoInflateEnabled":false}}`, owned: []string{"sku.capacity 6 -> 2 belonged to properties.isAutoInflateEnabled, which is off now"}},
				{reason: "until a user decides", wanted: true, sent: `{"sku":{"capacity":2}}`},
				{reason: "then it is the manifest's", azure: `{"sku":{"capacity":8},"properties":{"isAutoInflateEnabled":false}}`, sent: `{"properties":{"isAutoInflateEnabled":false},"sku":{"capacity":2}}`, owned: []string{"properties.isAutoInflateEnabled"}},
			},
		},
		"a stated switch is turned on again, and the value stays": {
			switches: []drift.Switch{inflate},
			steps: []step{
				{reason: "somebody turned it off and moved the value", manifest: `{"sku":{"capacity":2},"properties":{"isAutoInflateEnabled":true}}`, azure: `{"sku":{"capacity":6},"properties":{"isAutoInflateEnabled":false}}`, sent: `{"properties":{"isAutoInflateEnabled":true},"sku":{"capacity":6}}`, owned: []string{"sku.capacity belongs to properties.isAutoInflateEnabled"}},
			},
		},
		"a switch in the same item": {
			switches: []drift.Switch{pools},
			steps: []step{{
				reason: "one pool scales, one does not", manifest: `{"properties":{"pools":[{"name":"a","auto":true,"count":1},{"name":"b","count":1}]}}`, azure: `{"properties":{"pools":[{"name":"b","count":5},{"name":"a","auto":true,"count":5}]}}`,
				sent: `{"properties":{"pools":[{"auto":true,"count":5,"name":"a"},{"count":1,"name":"b"}]}}`, owned: []string{"properties.pools[name=a].count belongs to properties.pools[name=a].auto"},
			}},
		},
		"a version of an upgrade channel": {
			switches: []drift.Switch{channel},
			steps: []step{
				{reason: "Azure upgraded it", manifest: `{"properties":{"version":"1.29","channel":"stable"}}`, azure: `{"properties":{"version":"1.30.2","channel":"stable"}}`, owned: []string{"properties.version belongs to properties.channel"}},
				{reason: "the manifest wants more", manifest: `{"properties":{"version":"1.31","channel":"stable"}}`, sent: `{"properties":{"channel":"stable","version":"1.31"}}`},
				{reason: "the channel is none", manifest: `{"properties":{"version":"1.29","channel":"none"}}`, azure: `{"properties":{"version":"1.30","channel":"none"}}`, sent: `{"properties":{"channel":"none","version":"1.29"}}`},
			},
		},
		"a switch of the owner": {
			switches: []drift.Switch{{Path: "properties.channel", Owner: true, On: []string{"stable"}, Kind: drift.SwitchAtLeast, Values: []string{"properties.version"}}},
			steps: []step{
				{reason: "on", owner: `{"properties":{"channel":"stable"}}`, manifest: `{"properties":{"version":"1.29"}}`, azure: `{"properties":{"version":"1.30"}}`, owned: []string{"properties.version belongs to properties.channel of the owner"}},
			},
		},
		"a disk that somebody grew": {
			switches: []drift.Switch{disk},
			steps: []step{
				{reason: "a lower value is never sent", manifest: `{"properties":{"diskSizeGB":128},"tags":{"a":"b"}}`, azure: `{"properties":{"diskSizeGB":256}}`, sent: `{"properties":{"diskSizeGB":256},"tags":{"a":"b"}}`, owned: []string{"properties.diskSizeGB belongs to Azure"}},
				{reason: "a higher one is", manifest: `{"properties":{"diskSizeGB":512}}`, azure: `{"properties":{"diskSizeGB":256}}`, sent: `{"properties":{"diskSizeGB":512}}`},
			},
		},
		"zones of a failover": {
			switches: []drift.Switch{zones},
			steps: []step{
				{reason: "the zones are swapped", manifest: `{"properties":{"ha":"ZoneRedundant","zone":"1","standby":"2"}}`, azure: `{"properties":{"ha":"ZoneRedundant","zone":"2","standby":"1"}}`, owned: []string{"properties.zone belongs to properties.ha", "properties.standby belongs to properties.ha"}},
				{reason: "an edit of one moves both", manifest: `{"properties":{"ha":"ZoneRedundant","zone":"3","standby":"2"}}`, wanted: true, sent: `{"properties":{"ha":"ZoneRedundant","standby":"2","zone":"3"}}`},
			},
		},
		"a release pipeline sets an initial value": {
			initial: []string{"properties.image"},
			steps: []step{
				{reason: "first contact", manifest: `{"properties":{"image":"a:1"}}`, azure: `{"properties":{"image":"a:7"}}`, owned: []string{"properties.image belongs to reconcile.initial"}},
				{reason: "another edit carries it", manifest: `{"properties":{"image":"a:1"},"tags":{"x":"y"}}`, wanted: true, sent: `{"properties":{"image":"a:7"},"tags":{"x":"y"}}`, owned: []string{"properties.image belongs to reconcile.initial"}},
				{reason: "the manifest changes it", manifest: `{"properties":{"image":"a:8"},"tags":{"x":"y"}}`, wanted: true, sent: `{"properties":{"image":"a:8"},"tags":{"x":"y"}}`},
				{reason: "and the pipeline goes on", azure: `{"properties":{"image":"a:9"},"tags":{"x":"y"}}`, owned: []string{"properties.image belongs to reconcile.initial"}},
				{reason: "a recreation sends the manifest's value", azure: "null", sent: `{"properties":{"image":"a:8"},"tags":{"x":"y"}}`},
				{reason: "and the pipeline deploys again", azure: `{"properties":{"image":"a:10"},"tags":{"x":"y"}}`, owned: []string{"properties.image belongs to reconcile.initial"}},
			},
		},
		"a manifest begins to state the value": {
			switches: []drift.Switch{inflate},
			steps: []step{
				{reason: "it states something else", manifest: `{"properties":{"isAutoInflateEnabled":true}}`, azure: `{"sku":{"capacity":9},"properties":{"isAutoInflateEnabled":true}}`},
				{reason: "an edit", manifest: `{"sku":{"capacity":2},"properties":{"isAutoInflateEnabled":true}}`, wanted: true, sent: `{"properties":{"isAutoInflateEnabled":true},"sku":{"capacity":2}}`},
			},
		},
		"enforce overrules a switch": {
			switches: []drift.Switch{inflate}, enforce: []string{"sku.capacity"},
			steps: []step{{reason: "the value is the manifest's", manifest: `{"sku":{"capacity":2},"properties":{"isAutoInflateEnabled":true}}`, azure: `{"sku":{"capacity":11},"properties":{"isAutoInflateEnabled":true}}`, sent: `{"properties":{"isAutoInflateEnabled":true},"sku":{"capacity":2}}`}},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var manifest, azure map[string]any
			var baseline drift.Baseline
			for _, step := range c.steps {
				if step.manifest != "" {
					manifest = body(t, []byte(step.manifest))
				}
				if step.azure != "" {
					azure = body(t, []byte(step.azure))
				}
				var owner map[string]any
				if step.owner != "" {
					owner = body(t, []byte(step.owner))
				}
				base := drift.Options{Type: "contoso.things/things", APIVersion: "2024-01-01", Key: []byte("key"), Facts: drift.Facts{Switches: c.switches}, Initial: c.initial, Enforce: c.enforce, Baseline: baseline}
				base.Hold = !step.wanted
				opts := base.WithOwned(manifest, azure, owner)
				found := drift.Compare(manifest, azure, opts)
				var owned []string
				for _, o := range found.Owned {
					owned = append(owned, o.String())
				}
				owned = append(owned, found.Held.Paths...)
				if diff := cmp.Diff(step.owned, owned); diff != "" {
					t.Errorf("%s: owned (-want +got):\n%s", step.reason, diff)
				}
				sent := ""
				after := opts
				if !found.InSync {
					payload := drift.Body(manifest, manifest, azure, opts)
					sent = text(payload.Body)
					azure = body(t, []byte(sent))
					after = base.WithOwned(manifest, azure, owner)
					after.Put, after.Sent, after.Kept, after.Reasons = true, true, payload.Kept, found.Differences
				}
				if sent != step.sent {
					t.Errorf("%s: sent %s, want %s", step.reason, sent, step.sent)
				}
				baseline = stored(t, drift.NewBaseline(manifest, azure, after))
			}
		})
	}
}
