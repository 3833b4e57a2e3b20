package drift_test

import (
	"testing"

	"github.com/armature-io/armature/drift"
)

// TestNull compares a value that the manifest states as null, which means that there is
// none: what Azure shows after the PUT is its own choice, and any other value is drift.
func TestNull(t *testing.T) {
	const desired = `{"properties":{"size":1,"mode":null,"group":null}}`
	cases := map[string]struct {
		reason, after, now string
		want               []string
		cold               bool
	}{
		"absent":                  {reason: "there is none", after: `{}`, now: `{}`},
		"empty":                   {reason: "an empty text is none", after: `{}`, now: `{"mode":""}`},
		"set by another tool":     {reason: "the PUT had removed it", after: `{}`, now: `{"mode":"a"}`, want: []string{"properties.mode"}},
		"default of the service":  {reason: "the service fills it in after each PUT", after: `{"mode":"a"}`, now: `{"mode":"a"}`},
		"another value":           {reason: "the default was replaced", after: `{"mode":"a"}`, now: `{"mode":"b"}`, want: []string{"properties.mode"}},
		"first contact, a value":  {reason: "the service may have set it", now: `{"mode":"a"}`, cold: true},
		"first contact, resource": {reason: "no service refers to a resource by itself", now: `{"group":{"id":"/subscriptions/s/g"}}`, want: []string{"properties.group"}, cold: true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			shown := func(text string) map[string]any {
				observed := body(t, []byte(`{"properties":`+text+`}`))
				observed["properties"].(map[string]any)["size"] = body(t, []byte(`{"n":1}`))["n"]
				return observed
			}
			opts := drift.Options{APIVersion: "1", Key: []byte("k")}
			if !c.cold {
				after := opts
				after.Put, after.Sent = true, true
				opts.Baseline = stored(t, drift.NewBaseline(body(t, []byte(desired)), shown(c.after), after))
			}
			result := drift.Compare(body(t, []byte(desired)), shown(c.now), opts)
			var got []string
			for _, d := range result.Differences {
				got = append(got, d.Path)
			}
			if len(got) != len(c.want) || len(got) == 1 && got[0] != c.want[0] {
				t.Errorf("%s: differences %v, want %v", c.reason, got, c.want)
			}
		})
	}
}

// TestNullIsSent shows that no mode puts a value back that the manifest states as null.
func TestNullIsSent(t *testing.T) {
	const storage = "Microsoft.Storage/storageAccounts"
	desired, observed := body(t, []byte(`{"properties":{"accessTier":"Hot","minimumTlsVersion":null,"networkAcls":null}}`)),
		body(t, []byte(`{"properties":{"accessTier":"Hot","minimumTlsVersion":"TLS1_2","networkAcls":{"defaultAction":"Deny"},"allowBlobPublicAccess":false}}`))
	for _, opts := range []drift.Options{{KeepOthers: true}, {Merge: true}, {}} {
		opts.Type, opts.APIVersion = storage, "2023-01-01"
		sent := drift.Body(desired, desired, observed, opts).Body
		properties, _ := sent["properties"].(map[string]any)
		if properties["minimumTlsVersion"] != nil || properties["networkAcls"] != nil {
			t.Errorf("%+v sends %v", opts, sent)
		}
		if _, kept := properties["allowBlobPublicAccess"]; kept != (opts.KeepOthers || opts.Merge) {
			t.Errorf("%+v sends %v", opts, sent)
		}
	}
}
