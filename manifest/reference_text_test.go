package manifest

import (
	"fmt"
	"testing"

	"github.com/armature-io/armature/resource"
)

const referenceIntro = `# The manifest

<!-- Written by ` + "`make docs`" + ` from the parser; a test fails when it is stale. -->

YAML or JSON. A file holds any number of manifests (YAML documents; JSON objects one after the other, or lists of them), a folder is read with its subfolders (*.yaml, *.yml, *.json; hidden files and *.rules.yaml are skipped), and ` + "`-f -`" + ` is standard input. Everything is checked before anything starts, and all issues of all files are reported at once, with file, line, field, and what to write instead.

` + "```yaml" + `
type: Microsoft.Kusto/clusters/databases@2023-08-15
name: telemetry
owner: adx
body:
  location: westus2
  kind: ReadWrite
  properties: {softDeletePeriod: P30D}
reconcile: {policy: manage, interval: 1h, ignore: [properties.hotCachePeriod]}
labels: {stack: prod, team: data}
` + "```" + `

## Inside a body

The body is what a PUT sends, as ARM documents it. These mappings are replaced:

| written | becomes |
|---|---|
| ` + "`{$ref: vnet1}`" + ` | the resource ID of a manifest of the same apply, of a [managed resource](environments.md#names-of-managed-resources) with the name, or of the named resource ID (` + "`ID@api-version`" + ` if the api-version is not known). It is a dependency: it must be Ready first |
| ` + "`{$ref: vnet1, path: properties.x}`" + ` | the observed value at that path |
| ` + "`{$secret: env:NAME}`" + ` | the worker's environment variable, read for the PUT only; the [allow-list](encryption.md#secrets-of-the-worker) of the resource's credential restricts the names |
| ` + "`{$secret: file:NAME}`" + ` | a file in the folder of that allow-list (` + "`secrets.dir`" + `) |
| ` + "`{$secret: 'keyvault:https://VAULT.vault.azure.net/secrets/NAME'}`" + ` | a secret of a key vault, read with the resource's credential; append ` + "`/VERSION`" + ` to pin a version |
| ` + "`{$plain: VALUE}`" + ` | the value, a text or a list of texts, where the name of the property or the form of the text is that of a secret and it is none |
| ` + "`{$text: 'https://${ref.api.properties.host}/x'}`" + ` | a text with expressions in ` + "`${}`" + `: [values that the resource ` + "`api`" + ` shows](environments.md#texts), and parameters |
| ` + "`{$guid: [{$ref: vnet1}, reader]}`" + ` | the GUID that follows from these texts, always the same: for the names of role assignments |
| ` + "`{$param: sku}`" + ` | the value of a [parameter](environments.md) |

The last three are also allowed in all other fields, ` + "`$text`" + ` there without ` + "`ref`" + `.

A secret never appears in a history, a log or a response, and is refused under tags, names and locations, which are public. A literal text that [is a secret](encryption.md#what-is-a-secret) by the name of its property (password, key, token, everything in protectedSettings …) or by its form (a connection string, a JWT, the address of a hook …) is refused, unless ` + "`$plain`" + ` states that it is none: its value is then shown in plans, histories and messages. The ` + "`key`" + ` of a filter, a label selector or a pair and the ` + "`keys`" + ` of an index need no ` + "`$plain`" + `.

Numbers keep every digit. Dates, ` + "`yes`, `no`, `on` and `off`" + ` are texts. Anchors, aliases and merge keys work. ` + "`id`, `name` and `type`" + ` at the top of a body must agree with the manifest and are not sent.

Paths have the form ` + "`a.b`, `list[*].c`, `list[name=x].c` or `tags['a.b/c']`" + `.

## Fields
`

// referenceCase is what the page shows of a field besides its description: refusals come
// from the parser.
type referenceCase struct {
	// initial reads the default of a manifest that does not state the field.
	initial func(d resource.Desired) string
	// example and bad are YAML of the field; each bad one is refused.
	example string
	bad     []string
}

// referenceCases returns the examples of all fields by name.
func referenceCases() map[string]referenceCase {
	return map[string]referenceCase{
		"type": {
			example: "type: Microsoft.Storage/storageAccounts@2023-01-01",
			bad:     []string{"type: Microsoft.Storage/storageAccounts", "type: storageAccounts@2023-01-01", "type: Microsoft.Storage/storageAccounts@latest", "type: Microsoft.Resources/subscriptions@2021-04-01"},
		},
		"name": {
			example: "name: acc1",
			bad:     []string{"name: 5", "name: ''", "name: a/b", "name: a?b", "name: '..'"},
		},
		"alias": {
			example: "alias: data",
			bad:     []string{"alias: 5", "alias: a/b"},
		},
		"owner": {
			example: "owner: " + group,
			bad:     []string{"owner: nowhere", "owner: [a, b]", "owner: /subscriptions/prod/resourceGroups/rg1", "owner: acc1"},
		},
		"body": {
			example: "body:\n  location: westus2\n  sku: {name: Standard_LRS}\n  properties:\n    networkAcls: {virtualNetworkRules: [{id: {$ref: vnet1}}]}\n  tags: {team: data}",
			bad: []string{
				"body: [a]", "body: {name: other}", "body: {x: {$ref: nowhere}}", "body: {properties: {adminPassword: abc}}",
				"body: {tags: {key: {$secret: env:KEY}}}", "body: {x: 010}", "body: {x: .nan}",
			},
		},
		"reconcile": {
			example: "reconcile: {policy: manage, interval: 30m}",
			bad:     []string{"reconcile: [manage]", "reconcile: {intervall: 1h}"},
		},
		"reconcile.policy": {
			initial: func(d resource.Desired) string { return string(d.Policy) },
			example: "reconcile: {policy: protect}",
			bad:     []string{"reconcile: {policy: mange}", "reconcile: {policy: true}"},
		},
		"reconcile.adopt": {
			example: "reconcile: {adopt: as-is}",
			bad:     []string{"reconcile: {adopt: sometimes}", "reconcile: {adopt: true}"},
		},
		"reconcile.recreate": {
			initial: func(d resource.Desired) string { return string(d.Recreate) }, // the type decides
			example: "reconcile: {recreate: never}",
			bad:     []string{"reconcile: {recreate: maybe}"},
		},
		"reconcile.put": {
			example: "reconcile: {put: merge}",
			bad:     []string{"reconcile: {put: post}"},
		},
		"reconcile.interval": {
			initial: func(d resource.Desired) string { return short(d.Interval) },
			example: "reconcile: {interval: 30m}",
			bad:     []string{"reconcile: {interval: 5}", "reconcile: {interval: 7d}", "reconcile: {interval: 30s}", "reconcile: {interval: -1h}"},
		},
		"reconcile.timeout": {
			initial: func(d resource.Desired) string { return short(d.Timeout) },
			example: "reconcile: {timeout: 2h}",
			bad:     []string{"reconcile: {timeout: 0s}", "reconcile: {timeout: soon}"},
		},
		"reconcile.ignore": {
			example: "reconcile:\n  ignore: ['properties.agentPoolProfiles[name=a].count', \"tags['hidden/x']\"]",
			bad:     []string{"reconcile: {ignore: properties.x}", "reconcile: {ignore: ['a..b']}", "reconcile: {ignore: [5]}"},
		},
		"reconcile.initial": {
			example: "reconcile:\n  initial: [properties.siteConfig.linuxFxVersion]",
			bad:     []string{"reconcile: {initial: properties.x}", "reconcile: {initial: [properties.x], ignore: [properties.x]}"},
		},
		"reconcile.enforce": {
			example: "reconcile:\n  enforce: [sku.capacity]",
			bad:     []string{"reconcile: {enforce: {a: b}}", "reconcile: {enforce: ['l[x']}"},
		},
		"reconcile.dependsOn": {
			example: "reconcile: {dependsOn: [vnet1]}",
			bad:     []string{"reconcile: {dependsOn: vnet1}", "reconcile: {dependsOn: [nowhere]}", "reconcile: {dependsOn: [acc1]}"},
		},
		"reconcile.waitFor": {
			example: "reconcile: {waitFor: ready}",
			bad:     []string{"reconcile: {waitFor: approved}", "reconcile: {waitFor: [ready]}"},
		},
		"reconcile.credential": {
			example: "reconcile: {credential: prod-eu}",
			bad:     []string{"reconcile: {credential: Prod EU}", "reconcile: {credential: 5}"},
		},
		"reconcile.delete": {
			example: "reconcile: {delete: {query: {forceDeletion: true}, purge: false}}",
			bad: []string{
				"reconcile: {delete: true}", "reconcile: {delete: {query: {api-version: 2023-01-01}}}", "reconcile: {delete: {query: {sig: abc}}}",
				"reconcile: {delete: {query: {force: [true]}}}", "reconcile: {delete: {purge: yes please}}", "reconcile: {delete: {unmanaged: delete}}", "reconcile: {delete: {force: true}}",
			},
		},
		"reconcile.validation": {
			example: "reconcile: {validation: warn}",
			bad:     []string{"reconcile: {validation: lax}", "reconcile: {validation: false}"},
		},
		"outputs": {
			example: "outputs: {BLOB_URL: properties.primaryEndpoints.blob}",
			bad:     []string{"outputs: [a]", "outputs: {a-b: properties.x}", "outputs: {a: 'x[['}", "outputs: {key: properties.accessKey}"},
		},
		"export": {
			example: "export: [{to: 'keyvault:https://v.vault.azure.net/secrets/app-id', from: {path: properties.appId}}]",
			bad: []string{
				"export: {a: b}",
				"export: [{from: {path: properties.x}}]",
				"export: [{to: 'https://v.vault.azure.net/secrets/app', from: {path: properties.x}}]",
				"export: [{to: 'keyvault:https://v.vault.azure.net/secrets/app', from: {}}]",
				"export: [{to: 'keyvault:https://v.vault.azure.net/secrets/app', from: {text: 'no value'}}]",
				"export: [{to: 'keyvault:https://v.vault.azure.net/secrets/app', from: {text: '${action.key}'}}]",
				"export: [{to: 'keyvault:https://v.vault.azure.net/secrets/app', from: {path: properties.x}, policy: always}]",
				"export: [{to: 'keyvault:https://v.vault.azure.net/secrets/app', from: {path: properties.x}, interval: 5s}]",
			},
		},
		"labels": {
			example: "labels: {stack: prod, team: data}",
			bad:     []string{"labels: [prod]", "labels: {rank: 5}", "labels: {'a,b': x}"},
		},
	}
}

// referenceBounds returns the section about the limits of files.
func referenceBounds(t *testing.T) string {
	t.Helper()
	return fmt.Sprintf("\n## Limits\n\n| of | at most |\n|---|---|\n| a file | %d MiB |\n| a body | %d KiB as JSON |\n| values in a document, with aliases expanded | %d |\n| values in all files of a command | %d |\n| nesting | %d levels |\n",
		maxFileBytes>>20, resource.MaxBodyBytes>>10, maxNodes, maxValues, maxDepth)
}
