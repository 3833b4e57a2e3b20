package drift_test

import (
	"strings"
	"testing"

	"github.com/armature-io/armature/drift"
)

// TestLeaveOut checks which values that no read shows are in the body of a request.
func TestLeaveOut(t *testing.T) {
	const (
		webhooks = "Microsoft.ContainerRegistry/registries/webhooks"
		config   = "Microsoft.Web/sites/config"
		servers  = "Microsoft.Sql/servers"
		headers  = `{"properties":{"status":"enabled","customHeaders":{"a":"1"}}}`
		password = `{"properties":{"minimalTlsVersion":"1.2","administratorLoginPassword":{"$secret":"env:P"}}}`
	)
	kept := drift.Facts{Properties: []drift.PropertyFact{{Path: "properties.administratorLoginPassword", Kept: true}}}
	hashed := func(value string) map[string]string { return map[string]string{"env:P": value} }
	for name, c := range map[string]struct {
		reason, resourceType string
		first                string
		desired              string // "" is first
		before, now          drift.Options
		patch                bool
		want                 bool // whether the body has the value
	}{
		"map in a correction":        {reason: "others may have added to it", resourceType: webhooks, first: headers, now: drift.Options{Hold: true}},
		"map in an apply":            {reason: "the user requests the manifest's", resourceType: webhooks, first: headers, want: true},
		"changed map":                {reason: "the manifest changed it", resourceType: webhooks, first: headers, desired: strings.Replace(headers, "1", "2", 1), now: drift.Options{Hold: true}, want: true},
		"enforced map":               {reason: "reconcile.enforce", resourceType: webhooks, first: headers, now: drift.Options{Hold: true, Enforce: []string{"properties.customHeaders"}}, want: true},
		"list in a correction":       {reason: "others may have added to it", resourceType: config, first: `{"name":"web","properties":{"minTlsVersion":"1.2","appSettings":[{"name":"a","value":"1"}]}}`, now: drift.Options{Hold: true}},
		"required list":              {reason: "each PUT needs it", resourceType: "Microsoft.Security/sensitivitySettings", first: `{"sensitiveInfoTypesIds":["a"]}`, now: drift.Options{Hold: true}, want: true},
		"document in a correction":   {reason: "a template is no list: without it, a stack would have no resources", resourceType: "Microsoft.Resources/deploymentStacks", first: `{"properties":{"template":{"resources":[]}}}`, now: drift.Options{Hold: true}, want: true},
		"secret":                     {reason: "it may have been rotated", resourceType: servers, first: password, before: drift.Options{Secrets: hashed("1")}, now: drift.Options{Facts: kept, Secrets: hashed("1")}},
		"rotated in its source":      {reason: "the new one is to be sent", resourceType: servers, first: password, before: drift.Options{Secrets: hashed("1")}, now: drift.Options{Facts: kept, Secrets: hashed("2")}, want: true},
		"secret that was not hashed": {reason: "nothing proves that it is the same", resourceType: servers, first: password, now: drift.Options{Facts: kept}, want: true},
		"secret without a fact":      {reason: "the service may lose it", resourceType: servers, first: password, before: drift.Options{Secrets: hashed("1")}, now: drift.Options{Hold: true, Secrets: hashed("1")}, want: true},
		"secret in a PATCH":          {reason: "a PATCH keeps what it omits", resourceType: servers, first: password, before: drift.Options{Secrets: hashed("1")}, now: drift.Options{Secrets: hashed("1")}, patch: true},
		"secret in a list, PATCH":    {reason: "a PATCH replaces lists", resourceType: servers, first: `{"properties":{"list":[{"name":"a","password":"1"}]}}`, patch: true, want: true},
	} {
		t.Run(name, func(t *testing.T) {
			desired := body(t, []byte(c.first))
			observed := body(t, []byte(`{"id":"/x","properties":{"minimalTlsVersion":"1.0","minTlsVersion":"1.0","status":"disabled","list":[{"name":"a"}]}}`))
			opts := func(o drift.Options) drift.Options {
				o.Type, o.APIVersion, o.Key, o.KeepOthers = c.resourceType, "2024-01-01", []byte("key"), true
				return o
			}
			before := opts(c.before)
			before.Put, before.Sent = true, true
			now := opts(c.now)
			now.Baseline = stored(t, drift.NewBaseline(desired, observed, before))
			if c.desired != "" {
				desired = body(t, []byte(c.desired))
			}
			sent := drift.Body(desired, desired, observed, now)
			if c.patch {
				sent = drift.Patch(desired, desired, observed, now)
			}
			shown, has := text(sent.Body), false
			for _, part := range []string{"customHeaders", "appSettings", "sensitiveInfoTypesIds", "template", "assword"} {
				has = has || strings.Contains(shown, part)
			}
			if has != c.want {
				t.Errorf("%s: in the body %t, want %t: %s", c.reason, has, c.want, shown)
			}
		})
	}
	// A creation sends everything.
	desired := body(t, []byte(headers))
	if shown := text(drift.Body(desired, desired, nil, drift.Options{Type: webhooks, Hold: true}).Body); !strings.Contains(shown, "customHeaders") {
		t.Errorf("a creation lacks what no read shows: %s", shown)
	}
}
