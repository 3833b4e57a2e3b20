package manifest

import (
	"fmt"
	"testing"

	"github.com/armature-io/armature/resource"
)

const referenceIntro = `# The manifest

<!-- Written by ` + "`make docs`" + ` from the parser and its answers; a test fails when it is stale. -->

YAML or JSON. A file holds any number of manifests (YAML documents; JSON objects one after the other, or lists of them), a folder is read with what is below it (*.yaml, *.yml, *.json; hidden files and *.rules.yaml are left out), and ` + "`-f -`" + ` is standard input. Everything is checked before anything starts, and all faults of all files are told at once, with file, line, field, and what to write instead.

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

The body is what a PUT sends, in ARM's own words. Two things are replaced:

| written | becomes |
|---|---|
| ` + "`{$ref: vnet1}`" + ` | the resource ID of a manifest of the same apply, or of a resource ID (` + "`ID@api-version`" + ` where the api-version is not known); and a dependency: it must be ready first |
| ` + "`{$ref: vnet1, path: properties.x}`" + ` | the value that was observed there |
| ` + "`{$secret: env:NAME}`" + ` | the worker's environment variable, read for the PUT only; ` + "`secrets.env-prefix`" + ` of the worker says which are allowed |
| ` + "`{$secret: file:NAME}`" + ` | a file in the worker's folder ` + "`secrets.dir`" + ` |
| ` + "`{$secret: 'keyvault:https://VAULT.vault.azure.net/secrets/NAME'}`" + ` | a secret of a key vault, read with the resource's credential; append ` + "`/VERSION`" + ` to pin a version |

A secret never stands in a history, a log or an answer, and is refused under tags, names and locations, which everybody sees. A plain text under a property whose name says that it is secret (password, key, token …) is refused.

Numbers are kept digit by digit. Dates, ` + "`yes`, `no`, `on` and `off`" + ` are texts. Anchors, aliases and merge keys work. ` + "`id`, `name` and `type`" + ` at the top of a body must agree with the manifest, and are left out.

Paths are written ` + "`a.b`, `list[*].c`, `list[name=x].c` or `tags['a.b/c']`" + `.

## Fields
`

// referenceFields are all fields, in the order in which people write them.
func referenceFields() []described {
	return []described{
		{
			name: "type", kind: "text", needed: true, effect: "The resource type and the api-version, as Bicep writes them. The api-version decides what the body means; another one is a new generation.",
			example: "type: Microsoft.Storage/storageAccounts@2023-01-01",
			bad:     []string{"type: Microsoft.Storage/storageAccounts", "type: storageAccounts@2023-01-01", "type: Microsoft.Storage/storageAccounts@latest", "type: Microsoft.Resources/subscriptions@2021-04-01"},
		},
		{
			name: "name", kind: "text", needed: true, effect: "The resource's own name, the last part of its ID. Where there is no owner, a name with slashes (`adx/telemetry`) stands for the chain of owners.",
			example: "name: acc1",
			bad:     []string{"name: 5", "name: ''", "name: a/b", "name: a?b", "name: '..'"},
		},
		{
			name: "owner", kind: "text", effect: "What it stands in or on: the name of another manifest of the same apply, a resource ID (`ID@api-version`), or `/` for the tenant. Without it, the resource group of `--resource-group` and `--subscription`. The owner is checked before every PUT: a database waits until its cluster can take it.",
			example: "owner: " + group,
			bad:     []string{"owner: nowhere", "owner: [a, b]", "owner: /subscriptions/prod/resourceGroups/rg1", "owner: acc1"},
		},
		{
			name: "body", kind: "mapping", needed: true, effect: fmt.Sprintf("What a PUT sends, up to %d KiB as JSON. What it does not name is Azure's: it is neither compared nor, where others set it, taken away without a word.", resource.MaxBodyBytes>>10),
			example: "body:\n  location: westus2\n  sku: {name: Standard_LRS}\n  properties:\n    networkAcls: {virtualNetworkRules: [{id: {$ref: vnet1}}]}\n  tags: {team: data}",
			bad: []string{
				"body: [a]", "body: {name: other}", "body: {x: {$ref: nowhere}}", "body: {properties: {adminPassword: abc}}",
				"body: {tags: {key: {$secret: env:KEY}}}", "body: {x: 010}", "body: {x: .nan}",
			},
		},
		{
			name: "reconcile", kind: "mapping", effect: "How the resource is kept; each field is described below.",
			example: "reconcile: {policy: manage, interval: 30m}",
			bad:     []string{"reconcile: [manage]", "reconcile: {intervall: 1h}"},
		},
		{
			name: "reconcile.policy", kind: "one of a few words", initial: func(d resource.Desired) string { return string(d.Policy) },
			effect:  "`manage` writes and deletes. `observe` writes nothing and reports drift as `DriftDetected`. `detach-on-delete` writes, and a delete leaves the resource in Azure. `protect` writes, and refuses every delete.",
			example: "reconcile: {policy: protect}",
			bad:     []string{"reconcile: {policy: mange}", "reconcile: {policy: true}"},
		},
		{
			name: "reconcile.adopt", kind: "one of a few words",
			effect:  "What happens to a resource that exists and was never applied here. `always` takes it over. `as-is` takes it over and keeps its differences as the baseline, so nothing is written. `never` refuses it (reason `AlreadyExists`). `only` never creates: it must exist.",
			example: "reconcile: {adopt: as-is}",
			bad:     []string{"reconcile: {adopt: sometimes}", "reconcile: {adopt: true}"},
		},
		{
			name: "reconcile.recreate", kind: "one of a few words",
			effect:  "What happens after it vanished behind our back: `always` makes it anew, `never` leaves that to somebody (reason `Disappeared`).",
			example: "reconcile: {recreate: never}",
			bad:     []string{"reconcile: {recreate: maybe}"},
		},
		{
			name: "reconcile.put", kind: "one of a few words",
			effect:  "What a PUT sends. `replace`: the body, with the tags and the children that others made (a subnet that its network does not name). `merge`: the body laid over the last GET, with If-Match where ARM takes it.",
			example: "reconcile: {put: merge}",
			bad:     []string{"reconcile: {put: patch}"},
		},
		{
			name: "reconcile.interval", kind: "duration (`30m`, `1h30m`)", initial: func(d resource.Desired) string { return short(d.Interval) },
			effect:  "How often a resource that is Ready is looked at again. `0` = only on a message; the minimum is " + short(resource.MinInterval) + ".",
			example: "reconcile: {interval: 30m}",
			bad:     []string{"reconcile: {interval: 5}", "reconcile: {interval: 7d}", "reconcile: {interval: 30s}", "reconcile: {interval: -1h}"},
		},
		{
			name: "reconcile.timeout", kind: "duration (`30m`, `6h`)", initial: func(d resource.Desired) string { return short(d.Timeout) },
			effect:  "How long one long-running operation of Azure may take. After it the reason is `OperationTimeout`: the operation is read on, and nothing is sent while it is in flight.",
			example: "reconcile: {timeout: 2h}",
			bad:     []string{"reconcile: {timeout: 0s}", "reconcile: {timeout: soon}"},
		},
		{
			name: "reconcile.ignore", kind: "list of paths", effect: "Paths that are neither compared nor written: a PUT carries the value that was observed. For what somebody else owns, such as the count of an autoscaler. A path with brackets needs quotes inside a list in brackets.",
			example: "reconcile:\n  ignore: ['properties.agentPoolProfiles[name=a].count', \"tags['hidden/x']\"]",
			bad:     []string{"reconcile: {ignore: properties.x}", "reconcile: {ignore: ['a..b']}", "reconcile: {ignore: [5]}"},
		},
		{
			name: "reconcile.dependsOn", kind: "list of names or resource IDs", effect: "What must be ready first although the body does not name it. Like a `$ref`, each is a manifest of the same apply or a resource ID.",
			example: "reconcile: {dependsOn: [vnet1]}",
			bad:     []string{"reconcile: {dependsOn: vnet1}", "reconcile: {dependsOn: [nowhere]}", "reconcile: {dependsOn: [acc1]}"},
		},
		{
			name: "reconcile.credential", kind: "text", effect: "The credential for every request about the resource: a name from the section `credentials` of the worker's configuration. Without it, the one that the configuration ties to its subscription, else `azure.credential`.",
			example: "reconcile: {credential: prod-eu}",
			bad:     []string{"reconcile: {credential: Prod EU}", "reconcile: {credential: 5}"},
		},
		{
			name: "labels", kind: "mapping of texts", effect: fmt.Sprintf("By these `-l key=value` chooses, in the CLI and in Temporal's lists (`ReconcileLabels`). A label takes at most %d bytes as key=value, all of them %d.", maxLabelBytes, maxLabelsBytes),
			example: "labels: {stack: prod, team: data}",
			bad:     []string{"labels: [prod]", "labels: {rank: 5}", "labels: {'a,b': x}"},
		},
	}
}

// referenceBounds are the bounds of files.
func referenceBounds(t *testing.T) string {
	t.Helper()
	return fmt.Sprintf("\n## Bounds\n\n| of | at most |\n|---|---|\n| a file | %d MiB |\n| a body | %d KiB as JSON |\n| values in a document, its aliases laid out | %d |\n| nesting | %d levels |\n",
		maxFileBytes>>20, resource.MaxBodyBytes>>10, maxNodes, maxDepth)
}
