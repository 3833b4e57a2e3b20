package drift_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/armature-io/armature/drift"
)

// TestOneShots follows a database that was made from another one: how it was made is sent
// at its creation, and when the manifest changes it.
//
//guard:creations-are-not-repeated
func TestOneShots(t *testing.T) {
	const (
		copied = `{"location":"westus2","properties":{"createMode":"Copy","sourceDatabaseId":"/d/1","collation":"A"}}`
		shown  = `{"location":"westus2","properties":{"collation":"A"}}`
		plain  = `{"location":"westus2","properties":{"collation":"A"}}`
	)
	cases := map[string]struct {
		reason, before, after, desired, now, want string
		differs                                   bool
		merge                                     bool
	}{
		"unchanged": {reason: "the database exists", before: copied, after: shown, desired: copied, now: shown, want: plain},
		"another value in Azure": {
			reason: "the service shows another mode later", before: copied, after: copied, desired: copied,
			now: `{"location":"westus2","properties":{"collation":"A","createMode":"Default"}}`, want: plain,
		},
		"drift beside it": {
			reason: "a correction must not copy again", before: copied, after: shown, desired: copied,
			now: `{"location":"westus2","properties":{"collation":"B"}}`, want: plain, differs: true,
		},
		"changed": {
			reason: "the manifest names another source", before: copied, after: shown, now: shown, differs: true,
			desired: `{"location":"westus2","properties":{"createMode":"Copy","sourceDatabaseId":"/d/2","collation":"A"}}`,
			want:    `{"location":"westus2","properties":{"createMode":"Copy","sourceDatabaseId":"/d/2","collation":"A"}}`,
		},
		"added": {
			reason: "the manifest stated none before", before: plain, after: shown, now: shown, differs: true,
			desired: copied, want: copied,
		},
		"removed from the manifest": {reason: "nothing is to be done about it", before: copied, after: shown, desired: plain, now: shown, want: plain},
		"shown and removed":         {reason: "nor if Azure still shows it", before: copied, after: copied, desired: plain, now: copied, want: plain},
		"adopted":                   {reason: "the database exists", desired: copied, now: shown, want: plain},
		"adopted, merged":           {reason: "what Azure shows of its creation is not sent back", desired: plain, now: copied, want: plain, merge: true},
		"creation failed": {
			reason: "the next PUT is the creation", desired: copied, now: `{"properties":{"provisioningState":"Failed"}}`, want: copied,
		},
		"absent": {reason: "it is created", desired: copied, now: `null`, want: copied},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			opts := drift.Options{Type: "Microsoft.Sql/servers/databases", Facts: factsOf("Microsoft.Sql/servers/databases"), APIVersion: "2021-11-01", Key: []byte("key"), KeepOthers: !c.merge, Merge: c.merge}
			if c.before != "" {
				after := opts
				after.Put, after.Sent = true, true
				opts.Baseline = stored(t, drift.NewBaseline(body(t, []byte(c.before)), body(t, []byte(c.after)), after))
			}
			desired, now := body(t, []byte(c.desired)), body(t, []byte(c.now))
			sent := drift.Body(desired, desired, now, opts).Body
			if diff := cmp.Diff(body(t, []byte(c.want)), sent); diff != "" {
				t.Errorf("%s: body (-want +got)\n%s", c.reason, diff)
			}
			if result := drift.Compare(desired, now, opts); c.before != "" && result.InSync == c.differs {
				t.Errorf("%s: differences %+v", c.reason, result.Differences)
			}
		})
	}
}

// TestOneShotsAreNotSentBack shows that no PUT repeats how Azure says that a resource was
// made.
func TestOneShotsAreNotSentBack(t *testing.T) {
	desired := body(t, []byte(`{"properties":{"enableFreeTier":true}}`))
	shown := body(t, []byte(`{"properties":{"enableFreeTier":false,"createMode":"Restore","restoreParameters":{"restoreMode":"PointInTime"},"disableLocalAuth":true}}`))
	want := body(t, []byte(`{"properties":{"enableFreeTier":true,"disableLocalAuth":true}}`))
	for _, opts := range []drift.Options{{KeepOthers: true}, {Merge: true}} {
		opts.Type, opts.APIVersion = "Microsoft.DocumentDB/databaseAccounts", "2023-11-15"
		sent := drift.Body(desired, desired, shown, opts).Body
		properties, _ := sent["properties"].(map[string]any)
		for _, required := range []string{"databaseAccountOfferType", "locations"} {
			delete(properties, required)
		}
		if diff := cmp.Diff(want, sent); diff != "" {
			t.Errorf("merge %t (-want +got)\n%s", opts.Merge, diff)
		}
	}
}
