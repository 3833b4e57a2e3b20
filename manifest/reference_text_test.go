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

The body is what a PUT sends, as ARM documents it. Two things are replaced:

| written | becomes |
|---|---|
| ` + "`{$ref: vnet1}`" + ` | the resource ID of a manifest of the same apply, or of the named resource ID (` + "`ID@api-version`" + ` if the api-version is not known). It is a dependency: it must be Ready first |
| ` + "`{$ref: vnet1, path: properties.x}`" + ` | the observed value at that path |
| ` + "`{$secret: env:NAME}`" + ` | the worker's environment variable, read for the PUT only; ` + "`secrets.env-prefix`" + ` of the worker restricts the names |
| ` + "`{$secret: file:NAME}`" + ` | a file in the worker's folder ` + "`secrets.dir`" + ` |
| ` + "`{$secret: 'keyvault:https://VAULT.vault.azure.net/secrets/NAME'}`" + ` | a secret of a key vault, read with the resource's credential; append ` + "`/VERSION`" + ` to pin a version |

A secret never appears in a history, a log or a response, and is refused under tags, names and locations, which are public. A literal text under a property with the name of a secret (password, key, token …) is refused.

Numbers keep every digit. Dates, ` + "`yes`, `no`, `on` and `off`" + ` are texts. Anchors, aliases and merge keys work. ` + "`id`, `name` and `type`" + ` at the top of a body must agree with the manifest and are not sent.

Paths have the form ` + "`a.b`, `list[*].c`, `list[name=x].c` or `tags['a.b/c']`" + `.

## Fields
`

// referenceFields returns all fields, in the order in which users write them.
func referenceFields() []fieldReference {
	return []fieldReference{
		{
			name: "type", kind: "text", required: true, effect: "The resource type and the api-version, in the form that Bicep uses. The api-version defines the meaning of the body; another one is a new generation.",
			example: "type: Microsoft.Storage/storageAccounts@2023-01-01",
			bad:     []string{"type: Microsoft.Storage/storageAccounts", "type: storageAccounts@2023-01-01", "type: Microsoft.Storage/storageAccounts@latest", "type: Microsoft.Resources/subscriptions@2021-04-01"},
		},
		{
			name: "name", kind: "text", required: true, effect: "The resource's own name, the last part of its ID. Without an owner, a name with slashes (`adx/telemetry`) contains the names of the owners.",
			example: "name: acc1",
			bad:     []string{"name: 5", "name: ''", "name: a/b", "name: a?b", "name: '..'"},
		},
		{
			name: "owner", kind: "text", effect: "The parent or scope: the name of another manifest of the same apply, a resource ID (`ID@api-version`), or `/` for the tenant. The default is the resource group of `--resource-group` and `--subscription`. The owner is checked before every PUT: a database waits until its cluster is running.",
			example: "owner: " + group,
			bad:     []string{"owner: nowhere", "owner: [a, b]", "owner: /subscriptions/prod/resourceGroups/rg1", "owner: acc1"},
		},
		{
			name: "body", kind: "mapping", required: true, effect: fmt.Sprintf("What a PUT sends, up to %d KiB as JSON. Properties that it does not state are not compared. If another tool or user set them and a PUT would remove them, a message names them.", resource.MaxBodyBytes>>10),
			example: "body:\n  location: westus2\n  sku: {name: Standard_LRS}\n  properties:\n    networkAcls: {virtualNetworkRules: [{id: {$ref: vnet1}}]}\n  tags: {team: data}",
			bad: []string{
				"body: [a]", "body: {name: other}", "body: {x: {$ref: nowhere}}", "body: {properties: {adminPassword: abc}}",
				"body: {tags: {key: {$secret: env:KEY}}}", "body: {x: 010}", "body: {x: .nan}",
			},
		},
		{
			name: "reconcile", kind: "mapping", effect: "How the resource is reconciled; each field is described below.",
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
			effect:  "What happens to a resource that exists in Azure before its first apply. `always` adopts it. `as-is` adopts it and keeps its differences as the baseline, so nothing is written. `never` refuses it (reason `AlreadyExists`). `only` never creates: the resource must exist.",
			example: "reconcile: {adopt: as-is}",
			bad:     []string{"reconcile: {adopt: sometimes}", "reconcile: {adopt: true}"},
		},
		{
			name: "reconcile.recreate", kind: "one of a few words",
			effect:  "What happens after the resource was deleted outside Armature: `always` recreates it, `never` waits for the user (reason `Disappeared`).",
			example: "reconcile: {recreate: never}",
			bad:     []string{"reconcile: {recreate: maybe}"},
		},
		{
			name: "reconcile.put", kind: "one of a few words",
			effect:  "What a PUT sends. `replace`: the body, with the tags and the children that other tools or users created (a subnet that the body of its network does not state). `merge`: the last GET overlaid with the body, with If-Match if ARM supports it.",
			example: "reconcile: {put: merge}",
			bad:     []string{"reconcile: {put: patch}"},
		},
		{
			name: "reconcile.interval", kind: "duration (`30m`, `1h30m`)", initial: func(d resource.Desired) string { return short(d.Interval) },
			effect:  "How often a Ready resource is reconciled. `0`: only on a message; the minimum is " + short(resource.MinInterval) + ".",
			example: "reconcile: {interval: 30m}",
			bad:     []string{"reconcile: {interval: 5}", "reconcile: {interval: 7d}", "reconcile: {interval: 30s}", "reconcile: {interval: -1h}"},
		},
		{
			name: "reconcile.timeout", kind: "duration (`30m`, `6h`)", initial: func(d resource.Desired) string { return short(d.Timeout) },
			effect:  "How long one long-running operation of Azure may take. After that the reason is `OperationTimeout`: Armature continues to poll the operation, and sends nothing until it ends.",
			example: "reconcile: {timeout: 2h}",
			bad:     []string{"reconcile: {timeout: 0s}", "reconcile: {timeout: soon}"},
		},
		{
			name: "reconcile.ignore", kind: "list of paths", effect: "Paths that are neither compared nor written: a PUT carries the observed value. Use it for values that another tool sets, such as the count of an autoscaler. A path with brackets needs quotes inside a list in brackets.",
			example: "reconcile:\n  ignore: ['properties.agentPoolProfiles[name=a].count', \"tags['hidden/x']\"]",
			bad:     []string{"reconcile: {ignore: properties.x}", "reconcile: {ignore: ['a..b']}", "reconcile: {ignore: [5]}"},
		},
		{
			name: "reconcile.dependsOn", kind: "list of names or resource IDs", effect: "Resources that must be Ready first although the body does not name them. Like a `$ref`, each is a manifest of the same apply or a resource ID.",
			example: "reconcile: {dependsOn: [vnet1]}",
			bad:     []string{"reconcile: {dependsOn: vnet1}", "reconcile: {dependsOn: [nowhere]}", "reconcile: {dependsOn: [acc1]}"},
		},
		{
			name: "reconcile.credential", kind: "text", effect: "The credential for every request about the resource: a name from the section `credentials` of the worker's configuration. The default is the one that the configuration assigns to its subscription, otherwise `azure.credential`.",
			example: "reconcile: {credential: prod-eu}",
			bad:     []string{"reconcile: {credential: Prod EU}", "reconcile: {credential: 5}"},
		},
		{
			name: "reconcile.validation", kind: "one of a few words", effect: "How findings of the published resource types count for this manifest. `default`: faults refuse it, warnings are printed. `strict`: warnings are faults. `warn`: faults are warnings. `off`: no check. `--validation` of a command overrides it. [validation.md](validation.md) lists the findings.",
			example: "reconcile: {validation: warn}",
			bad:     []string{"reconcile: {validation: lax}", "reconcile: {validation: false}"},
		},
		{
			name: "labels", kind: "mapping of texts", effect: fmt.Sprintf("`-l key=value` selects resources by label, in the CLI and in Temporal's lists (`ReconcileLabels`). A label has at most %d bytes as key=value, all labels together %d.", maxLabelBytes, maxLabelsBytes),
			example: "labels: {stack: prod, team: data}",
			bad:     []string{"labels: [prod]", "labels: {rank: 5}", "labels: {'a,b': x}"},
		},
	}
}

// referenceBounds returns the section about the limits of files.
func referenceBounds(t *testing.T) string {
	t.Helper()
	return fmt.Sprintf("\n## Limits\n\n| of | at most |\n|---|---|\n| a file | %d MiB |\n| a body | %d KiB as JSON |\n| values in a document, with aliases expanded | %d |\n| nesting | %d levels |\n",
		maxFileBytes>>20, resource.MaxBodyBytes>>10, maxNodes, maxDepth)
}
