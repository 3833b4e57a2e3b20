package manifest

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"

	"github.com/armature-io/armature/resource"
)

// FuzzLoad checks that Load never panics and returns either issues or resources
// that survive a JSON round trip, and that Validate finds what Load does. Its seeds run with every `go test`.
func FuzzLoad(f *testing.F) {
	seeds := []string{
		"", "-", "---\n", "&a *a", "&a {<<: *a}", "&a [*a]", "a: &a {<<: [*a, *a]}", "? ? ? a", "{[]: {}}", "!!map a", "! a: ! b", "\t", "\xff", "%YAML 9.9\n---\na", "*a",
		"type: a\nname: b\nbody: c", "{", "[", "[[[[", "null", "{}{}", `{"a":1}{"b"`, `{"type":"A.B/c@2020-01-01","name":"","owner":"/","body":{}}`,
		account + "body: {}\n", account + "body: &b {a: *b}\n", account + "body: {$ref: acc}\n", account + "body: {a: {$ref: acc, path: '['}}\n",
		account + "body: {\"a']b\": {$secret: env:A}}\n", account + "body: {'': {'': [{name: '='}]}}\n", account + "body: {a: !!float x, b: !!bool 1, c: !!null x, d: !!int 1}\n",
		account + "body: {<<: {a: 1}, <<: {a: 2}}\nreconcile: {interval: 9999999h}\nlabels: {'': ''}\n",
		"type: A.B/c@2020-01-01\nname: a\nowner: b\nbody: {}\n---\ntype: A.B/c/d@2020-01-01\nname: b\nowner: a\nbody: {}\n",
		"type: Microsoft.Resources/resourceGroups@2020-01-01\nname: a/b\nbody: {}\n", "type: Microsoft.Resources/providers@2020-01-01\nname: a\nowner: /\nbody: {}\n",
		"type: A.B/providers/c@2020-01-01\nname: x/y\nbody: {}\n", "type: Microsoft.Management/managementGroups@2020-01-01\nname: subscriptions\nbody: {}\n",
		"type: A.B/c@2020-01-01\nname: ' '\nowner: /subscriptions\nbody: {}\n",
		validAccount + "  properties: &p {a: *p, networkAcls: [{$ref: acc}], $secret: 1}\n", validAccount + "  properties: {encryption: {keySource: {}, services: [[]]}, ~: 1}\nreconcile: {validation: strict}\n",
		"type: Microsoft.Storage/storageAccounts@0000-00-00\nname: ''\nbody: {sku: {$ref: 1}, properties: {networkAcls: {ipRules: [1, {}, {$x: 1}]}}}\n", "type: A.B/c@2020-01-01\nname: x\nowner: /providers/A.B@2020-01-01\nbody: {}\n",
	}
	for _, seed := range seeds {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		options := Options{ResourceGroup: "g", Subscription: "11111111-2222-3333-4444-555555555555", Stdin: bytes.NewReader(data)}
		set, err := Load(options, "-")
		options.Stdin = bytes.NewReader(data)
		for _, issue := range Validate(options, "-").Issues {
			if issue.Severity == "" || issue.Rule == "" || issue.Message == "" || issue.Line < 0 || issue.Column < 0 {
				t.Fatalf("incomplete issue %#v", issue)
			}
		}
		var issues Issues
		if err != nil {
			if !errors.As(err, &issues) || len(issues) == 0 || err.Error() == "" || len(set.Resources) > 0 {
				t.Fatalf("the error is %v with %d resources", err, len(set.Resources))
			}
			return
		}
		for _, d := range set.Resources {
			if err := CheckDesired(d); err != nil {
				t.Fatalf("%s loads, and does not pass the check of specs: %v", d.ID, err)
			}
			raw, err := json.Marshal(d)
			if err != nil {
				t.Fatalf("%s cannot be encoded: %v", d.ID, err)
			}
			var back resource.Desired
			if err := json.Unmarshal(raw, &back); err != nil || !back.ID.Equal(d.ID) || !back.Owner.Equal(d.Owner) {
				t.Fatalf("%s does not survive a round trip: %v", raw, err)
			}
			if _, err := resource.DecodeBody(d.Body); err != nil {
				t.Fatal(err)
			}
			checkDerived(t, d)
			for _, path := range append(append([]string(nil), d.Secret...), d.Plain...) {
				if _, err := resource.ParsePath(path); err != nil {
					t.Fatal(err)
				}
			}
		}
	})
}
