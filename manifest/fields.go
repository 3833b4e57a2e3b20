package manifest

import (
	"fmt"
	"strings"

	"github.com/armature-io/armature/resource"
)

// FieldKind is the kind of a field's value, as the reference names it.
type FieldKind string

// The kinds of fields.
const (
	KindText     FieldKind = "text"
	KindMapping  FieldKind = "mapping"
	KindTexts    FieldKind = "mapping of texts"
	KindChoice   FieldKind = "one of a few words"
	KindDuration FieldKind = "duration (`30m`, `1h30m`)"
	KindPaths    FieldKind = "list of paths"
	KindNames    FieldKind = "list of names or resource IDs"
	KindExports  FieldKind = "list of exports"
)

// Field describes one field of a manifest, for the reference and for editors.
type Field struct {
	// Name is the field, or "reconcile.field".
	Name     string
	Kind     FieldKind
	Required bool
	// Effect is the description, in Markdown.
	Effect string
	// Allowed are the words of a KindChoice, the default first.
	Allowed []string
}

// Fields returns all fields of a manifest, in the order in which users write them.
func Fields() []Field {
	return []Field{
		{
			Name: "type", Kind: KindText, Required: true,
			Effect: "The resource type and the api-version, in the form that Bicep uses. The api-version defines the meaning of the body; another one is a new generation.",
		},
		{
			Name: "name", Kind: KindText, Required: true,
			Effect: "The resource's own name, the last part of its ID. Without an owner, a name with slashes (`adx/telemetry`) contains the names of the owners.",
		},
		{
			Name: "alias", Kind: KindText,
			Effect: "A second name by which other manifests of the same apply, and patches, may call this one: in `owner`, `$ref`, `dependsOn` and `${ref.ALIAS}`. It stays the same where the name differs between environments, and is never sent.",
		},
		{
			Name: "owner", Kind: KindText,
			Effect: "The parent or scope: the name of another manifest of the same apply or of a [managed resource](environments.md#names-of-managed-resources), a resource ID (`ID@api-version`), or `/` for the tenant. The default is the resource group of `--resource-group` and `--subscription`. The owner is checked before every PUT: a database waits until its cluster is running.",
		},
		{
			Name: "body", Kind: KindMapping, Required: true,
			Effect: fmt.Sprintf("What a PUT sends, up to %d KiB as JSON. Properties that it does not state are not compared. If another tool or user set them and a PUT would remove them, a message names them. `null` states that a property is absent.", resource.MaxBodyBytes>>10),
		},
		{
			Name: "reconcile", Kind: KindMapping,
			Effect: "How the resource is reconciled; each field is described below.",
		},
		{
			Name: "reconcile.policy", Kind: KindChoice,
			Effect:  "`manage` writes and deletes. `observe` writes nothing and reports drift as `DriftDetected`. `detach-on-delete` writes, and a delete leaves the resource in Azure. `protect` writes, and refuses every delete.",
			Allowed: texts(resource.Policies()...),
		},
		{
			Name: "reconcile.adopt", Kind: KindChoice,
			Effect:  "What happens to a resource that exists in Azure before its first apply. `always` adopts it. `as-is` adopts it and keeps its differences as the baseline, so nothing is written. `never` refuses it (reason `AlreadyExists`). `only` never creates: the resource must exist.",
			Allowed: texts(resource.AdoptAlways, resource.AdoptAsIs, resource.AdoptNever, resource.AdoptOnly),
		},
		{
			Name: "reconcile.recreate", Kind: KindChoice,
			Effect:  "What happens after the resource was deleted outside Armature: `always` recreates it, `never` waits for the user (reason `Disappeared`). Without it the type decides: what held data, an identity, rights, credentials or money, or expires by itself, is not recreated. At most `disappearance-budget` resources are recreated in an hour (reason `Held`). `on-immutable`: as without it; and where Azure refuses to change a property of the resource, `armature reconcile --recreate` deletes it and creates it again, unless its type is not recreated by default or a deleted one keeps its name.",
			Allowed: texts(resource.RecreateAlways, resource.RecreateNever, resource.RecreateOnImmutable),
		},
		{
			Name: "reconcile.put", Kind: KindChoice,
			Effect:  "What a PUT sends, besides the tags and the children that other tools or users created (a subnet that the body of its network does not state). `default`: the body, and the values that it does not state and that others set since the last PUT; with If-Match if ARM supports it. `merge`: the last GET overlaid with the body, which also keeps items that others add to lists. `replace`: the body alone. `patch`: a PATCH with the body alone, for a resource that exists and belongs to others: it is never created, and without a stated `policy` a delete leaves it in Azure. What a PUT removes of others is named in the plan, and a correction that removes something is `Held`.",
			Allowed: texts(resource.PutDefault, resource.PutMerge, resource.PutReplace, resource.PutPatch),
		},
		{
			Name: "reconcile.interval", Kind: KindDuration,
			Effect: "How often a Ready resource is reconciled. `0`: only on a message; the minimum is " + strings.TrimSuffix(resource.MinInterval.String(), "0s") + ".",
		},
		{
			Name: "reconcile.timeout", Kind: KindDuration,
			Effect: "How long one long-running operation of Azure may take. After that the reason is `OperationTimeout`: Armature continues to poll the operation, and sends nothing until it ends.",
		},
		{
			Name: "reconcile.ignore", Kind: KindPaths,
			Effect: "Paths that are neither compared nor written: a PUT carries the observed value. Use it for values that another tool sets, such as the count of an autoscaler. A path with brackets needs quotes inside a list in brackets.",
		},
		{
			Name: "reconcile.dependsOn", Kind: KindNames,
			Effect: "Resources that must be Ready first although the body does not name them. Like a `$ref`, each is a manifest of the same apply, a managed resource or a resource ID.",
		},
		{
			Name: "reconcile.waitFor", Kind: KindChoice,
			Effect:  "What the resources that this one needs must reach first. `ready`: the owner, and what `$ref` and `dependsOn` name, must be Ready in Armature where they are managed: their post-check passed, for example an approval was given. `provisioned`: their provisioning state in Azure is sufficient, also for `dependsOn`. `default`: the provisioning state for the owner and `$ref`, the Ready condition for `dependsOn`. A resource that is not managed counts by its provisioning state. Do not use `ready` where the owner becomes Ready only after this resource exists.",
			Allowed: texts(resource.WaitForDefault, resource.WaitForReady, resource.WaitForProvisioned),
		},
		{
			Name: "reconcile.credential", Kind: KindText,
			Effect: "The credential for every request about the resource: a name from the section `credentials` of the worker's configuration. The default is the one that the configuration assigns to its subscription, otherwise `azure.credential`.",
		},
		{
			Name: "reconcile.delete", Kind: KindMapping,
			Effect: fmt.Sprintf("How the resource is deleted, as it was last applied. `query`: up to %d parameters of the DELETE beside the api-version, such as `forceDeletion` of a virtual machine; no secrets. `purge: true`: afterwards, what Azure keeps of the deleted resource is purged, so that its name is free and nothing restores it; only for the types in [safety.md](safety.md#purge), never by default.", maxDeleteParameters),
		},
		{
			Name: "reconcile.validation", Kind: KindChoice,
			Effect:  "How findings of the published resource types count for this manifest. `default`: faults refuse it, warnings are printed. `strict`: warnings are faults. `warn`: faults are warnings. `off`: no check. `--validation` of a command overrides it. [validation.md](validation.md) lists the findings.",
			Allowed: texts(Validations()...),
		},
		{
			Name: "labels", Kind: KindTexts,
			Effect: fmt.Sprintf("`-l key=value` selects resources by label, in the CLI and in Temporal's lists (`ReconcileLabels`). A label has at most %d bytes as key=value, all labels together %d.", maxLabelBytes, maxLabelsBytes),
		},
		{
			Name: "outputs", Kind: KindTexts,
			Effect: "Observed values for programs, by name: paths like `properties.defaultHostName`. `armature outputs` reads them from Azure. A secret is refused.",
		},
		{
			Name: "export", Kind: KindExports,
			Effect: fmt.Sprintf("Values that the worker writes to key vaults, up to %d: `to: keyvault:https://VAULT.vault.azure.net/secrets/NAME`, and `from` with a `path` of the observed body, an `action` that lists values and a `path` of its answer, or a `text` with both in `${}`. A secret is written when its value differs, after a PUT and in every pass, and no value is in a history. [exports.md](exports.md) has all fields and examples.", maxExports),
		},
	}
}

// texts returns words as texts.
func texts[W ~string](words ...W) []string {
	list := make([]string, len(words))
	for i, word := range words {
		list[i] = string(word)
	}
	return list
}
