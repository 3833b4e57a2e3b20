// Package manifest reads manifests (YAML or JSON) into resource.Desired. It
// owns the format: fields, owners, $ref, $secret, and every check that needs no
// ARM and no worker. It must not know Temporal, ARM clients or secret values: it
// checks how a $secret is written and never resolves one.
//
// A manifest with a fault is refused before anything starts; one error carries
// all faults of all files (Faults).
//
// # The format
//
//	type: Microsoft.Kusto/clusters/databases@2023-08-15
//	name: telemetry
//	owner: adx
//	body:
//	  location: westus2
//	  properties: {softDeletePeriod: P30D}
//	reconcile: {policy: manage, interval: 1h, timeout: 6h, ignore: [properties.x], dependsOn: [vnet1]}
//	labels: {stack: prod}
//
// owner is the name of a manifest of the same load, a resource ID
// (ID@api-version), or "/" for the tenant. For a nested type it is the ARM
// parent; for any other type a resource group, a subscription, a management
// group, or the resource that an extension resource (a role assignment) stands
// on. An ID without api-version is read with the newest stable one that the
// worker finds, as one in $ref and dependsOn is. Without an owner the resource stands in the group of Options; a name with
// slashes ("adx/telemetry") then names the chain of owners, where a manifest
// called "adx" of the right type comes before the group of Options.
//
// dependsOn names what comes first although the body does not name it: like a
// $ref, each is a manifest of the same load or a resource ID (ID@api-version).
// What a resource needs (owner, references, dependsOn) is neither itself, nor
// inside it, nor part of a cycle.
//
// Names need not be unique, resource IDs must be. A name that is used as owner,
// $ref or in dependsOn must mean one manifest; "adx/telemetry" and the resource ID are the
// longer forms.
//
// # Decisions
//
// The body may state id, name and type at its top level when they agree with
// the manifest; they are left out of Desired.Body, because ARM takes them from
// the URL. Numbers are kept digit by digit; one that JSON could not write as it
// stands (0x10, 017, 1_000, .5, NaN) is refused. Dates, yes, on and off are
// texts. Anchors, aliases and merge keys work, up to maxNodes nodes a document.
package manifest
