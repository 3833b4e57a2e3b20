package e2e

import (
	"fmt"
	"maps"
	"strings"

	"github.com/armature-io/armature/resource"
)

// badInput is a manifest that must not start a workflow.
type badInput struct {
	reason string
	yaml   string
	// files replace yaml; flags are added to every call.
	files map[string]string
	flags []string
	// want has essential parts of standard error.
	want []string
	// hides must not appear in the output.
	hides string
}

const (
	badGroup   = subscription + "/resourceGroups/bad"
	badAccount = "type: Microsoft.Storage/storageAccounts@2021-04-01\nname: acc\nowner: " + badGroup + "\n"
	badSecret  = "hunter22-plain"
)

// badManifests returns every kind of bad input in a manifest.
func badManifests() map[string]badInput {
	cases := map[string]badInput{
		"broken YAML": {
			reason: "the line of a syntax error is shown",
			yaml:   "type: a\n  name: b\n",
			want:   []string{"m.yaml:2: broken YAML: mapping values are not allowed in this context"},
		},
		"broken JSON": {
			reason: "JSON is a form of manifests too",
			files:  map[string]string{"m.json": "{\"type\": \"a\",\n \"name\": }"},
			want:   []string{"m.json:2: broken JSON"},
		},
		"unknown field": {
			reason: "a misspelt field would have no effect",
			yaml:   badAccount + "bodi: {}\nbody: {}\nreconcile: {intervall: 1h}\n",
			want:   []string{"m.yaml:4:1: bodi: unknown field; did you mean body?", "m.yaml:6:13: reconcile.intervall: unknown field; did you mean interval?"},
		},
		"credential that is no name": {
			reason: "no worker's config can have it",
			yaml:   badAccount + "body: {}\nreconcile: {credential: Prod EU}\n",
			want:   []string{`m.yaml:5:25: reconcile.credential: "Prod EU" is not a credential name; write the name of a credential of the worker's config`},
		},
		"missing api-version": {
			reason: "the version decides what a body means",
			yaml:   strings.Replace(badAccount, "@2021-04-01", "", 1) + "body: {}\n",
			want:   []string{`m.yaml:1:1: type: "Microsoft.Storage/storageAccounts" has no api-version; write it like Microsoft.Storage/storageAccounts@2023-08-15`},
		},
		"owner that does not exist": {
			reason: "a name that no manifest has, and no managed resource",
			yaml:   strings.Replace(badAccount, badGroup, "nowhere", 1) + "body: {}\n",
			want:   []string{`m.yaml:3:1: owner: neither a manifest nor a managed resource is named "nowhere"; write a name or a resource ID`},
		},
		"reference cycle": {
			reason: "neither can be first",
			yaml: badAccount + "body: {properties: {network: {$ref: net}}}\n---\n" +
				"type: Microsoft.Network/virtualNetworks@2020-11-01\nname: net\nowner: " + badGroup + "\nbody: {properties: {account: {$ref: acc}}}\n",
			want: []string{"m.yaml:9:37: body.properties.account: owners, references and dependsOn form a cycle: acc -> net -> acc"},
		},
		"owner cycle": {
			reason: "owners cannot own each other",
			yaml:   "type: Contoso.Web/marks@2022-04-01\nname: a\nowner: b\nbody: {}\n---\ntype: Contoso.Web/marks@2022-04-01\nname: b\nowner: a\nbody: {}\n",
			want:   []string{"owner: the owners form a cycle: a -> b -> a"},
		},
		"literal password": {
			reason: "it would end up in histories; it is not repeated either",
			yaml:   badAccount + "body: {properties: {adminPassword: " + badSecret + "}}\n",
			want:   []string{"m.yaml:4:36: body.properties.adminPassword: is a literal secret; write {$secret: env:NAME} or {$secret: file:NAME}"},
			hides:  badSecret,
		},
		"two manifests with one ID": {
			reason: "they would overwrite each other; IDs ignore case",
			files:  map[string]string{"a.yaml": badAccount + "body: {}\n", "b.yaml": strings.Replace(badAccount, "acc", "ACC", 1) + "body: {}\n"},
			want:   []string{"b.yaml:2:1: name: the manifest in ", "a.yaml:1 has the same resource ID: " + badGroup + "/providers/Microsoft.Storage/storageAccounts/ACC"},
		},
		"subscription that is no GUID": {
			reason: "a display name is no ID",
			yaml:   strings.Replace(badAccount, subscription, "/subscriptions/prod", 1) + "body: {}\n",
			want:   []string{`m.yaml:3:1: owner: the subscription "prod" is not a GUID; write its ID, like 11111111-2222-3333-4444-555555555555`},
		},
		"subscription flag that is no GUID": {
			reason: "the flag has the same rule",
			yaml:   "type: Microsoft.Resources/resourceGroups@2021-04-01\nname: bad\nbody: {}\n",
			flags:  []string{"--subscription", "prod"},
			want:   []string{`--subscription: the subscription "prod" is not a GUID`},
		},
		"interval below a minute": {
			reason: "a pass a second would use up the subscription's budget",
			yaml:   badAccount + "body: {}\nreconcile: {interval: 59s}\n",
			want:   []string{"m.yaml:5:23: reconcile.interval: 59s is below the minimum of 1m; write 0 to disable it"},
		},
		"body over the limit": {
			reason: "Temporal refuses large payloads",
			yaml:   badAccount + "body: {properties: {text: '" + strings.Repeat("x", resource.MaxBodyBytes) + "'}}\n",
			want:   []string{"m.yaml:4:7: body: takes 524", "bytes as JSON; at most 524288 are allowed"},
		},
		"secret under tags": {
			reason: "tags are public",
			yaml:   badAccount + "body: {tags: {a: {$secret: env:ARMATURE_SECRET_X}}}\n",
			want:   []string{"m.yaml:4:18: body.tags.a: $secret is not allowed under tags, which is public"},
		},
		"secret as a name": {
			reason: "names and locations are public",
			yaml:   badAccount + "body: {location: {$secret: env:ARMATURE_SECRET_X}, properties: {name: {$secret: env:ARMATURE_SECRET_X}}}\n",
			want:   []string{"body.location: $secret is not allowed under location", "body.properties.name: $secret is not allowed under name"},
		},
		"secret written into its reference": {
			reason: "what may be the secret is not repeated",
			yaml:   badAccount + "body: {properties: {a: {$secret: " + badSecret + "}}}\n",
			want:   []string{"m.yaml:4:24: body.properties.a: $secret names no source; write env:NAME, file:NAME or keyvault:https://VAULT/secrets/NAME"},
			hides:  badSecret,
		},
		"secret file outside of the folder": {
			reason: "a manifest must not read the worker's files",
			yaml:   badAccount + "body: {properties: {a: {$secret: 'file:../key'}, b: {$secret: file:/etc/passwd}}}\n",
			want:   []string{"body.properties.a: $secret: file: needs a path inside the worker's folder", "body.properties.b: $secret: file: needs a path inside"},
		},
		"several issues": {
			reason: "all issues of all files are reported at once",
			files: map[string]string{
				"a.yaml": badAccount + "body: {properties: {adminPassword: " + badSecret + "}}\nreconcile: {interval: 1s}\n",
				"b.yaml": "type: a\n  name: b\n",
			},
			flags: []string{"--subscription", "prod"},
			want: []string{
				"(4 issues)", "--subscription: the subscription", "a.yaml:4:36: body.properties.adminPassword: is a literal",
				"a.yaml:5:23: reconcile.interval: 1s is below", "b.yaml:2: broken YAML",
			},
			hides: badSecret,
		},
		"good beside bad": {
			reason: "one issue stops the whole apply",
			files: map[string]string{
				"a.yaml": badAccount + "body: {}\n",
				"b.yaml": "type: Contoso.Web/marks\nname: b\nowner: acc\nbody: {}\n",
			},
			want: []string{"b.yaml:1:1: type:", "has no api-version"},
		},
	}
	maps.Copy(cases, badSegments())
	return cases
}

// badSegments are names and owners with which a URL would address another
// resource.
func badSegments() map[string]badInput {
	cases := map[string]badInput{
		"resource group flag ..": {
			reason: "flags make IDs too",
			yaml:   "type: Microsoft.Storage/storageAccounts@2021-04-01\nname: acc\nbody: {}\n",
			flags:  []string{"--subscription", "11111111-2222-3333-4444-555555555555", "--resource-group", ".."},
			want:   []string{`--resource-group: the segment ".." is not allowed`},
		},
	}
	for segment, want := range map[string]string{
		"..":        `the segment ".." is not allowed`,
		".":         `the segment "." is not allowed`,
		"a%2fb":     `contains '%'; / \ ? # % and control characters are not allowed`,
		"a?b":       `contains '?'`,
		"a#b":       `contains '#'`,
		"a\\b":      `contains '\\'`,
		"a\x7fb":    `contains '\x7f'`,
		"a\tb":      `contains '\t'`,
		" a":        `starts or ends with white space`,
		"a\u00a0":   `starts or ends with white space`,
		"a/../../b": `the segment ".." is not allowed`,
	} {
		quoted := fmt.Sprintf("%q", segment)
		cases["name "+quoted] = badInput{
			reason: "the name is the last segment of the ID",
			yaml:   strings.Replace(badAccount, "acc", quoted, 1) + "body: {}\n",
			want:   []string{"m.yaml:2:1: name: ", want},
		}
		cases["owner "+quoted] = badInput{
			reason: "an owner becomes segments of the ID",
			yaml:   strings.Replace(badAccount, badGroup, fmt.Sprintf("%q", subscription+"/resourceGroups/"+segment), 1) + "body: {}\n",
			want:   []string{"m.yaml:3:1: owner: parse resource ID ", want},
		}
	}
	return cases
}
