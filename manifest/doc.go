// Package manifest reads manifests (YAML or JSON) into resource.Desired. It
// owns the format: fields, owners, $ref, $secret, and every check that needs no
// ARM and no worker. It must not know Temporal, ARM clients or secret values: it
// checks how a $secret is written and never resolves one.
//
// A manifest with a fault is refused before anything starts; one error carries
// all faults of all files (Issues). With Options.Validate the types, names, owners and
// bodies are also checked against package types; such an issue is a fault or a warning,
// and Validation changes which.
//
// # The format
//
//	type: Microsoft.Kusto/clusters/databases@2023-08-15
//	name: telemetry
//	owner: adx
//	body:
//	  location: westus2
//	  properties: {softDeletePeriod: P30D}
//	reconcile: {policy: manage, interval: 1h, timeout: 6h, ignore: [properties.x], dependsOn: [vnet1], validation: warn}
//	labels: {stack: prod}
//
// owner is the name of a manifest of the same load or, with Options.Managed, of a managed
// resource in the same resource group or with the labels of the manifest; a resource ID
// (ID@api-version), or "/" for the tenant. For a nested type it is the ARM
// parent; for any other type a resource group, a subscription, a management
// group, or the scope of an extension resource (a role assignment). An ID without
// api-version, here, in $ref and in dependsOn, is read with the newest stable one
// that the worker finds. Without an owner the resource is in the group of Options; a
// name with slashes ("adx/telemetry") then names the chain of owners, where a
// manifest named "adx" of the right type comes before the group of Options.
//
// dependsOn lists further resources that must exist first: like a $ref, each is a
// manifest of the same load or a resource ID (ID@api-version). The needs of a
// resource (owner, references, dependsOn) contain neither the resource, nor its
// children, nor a cycle.
//
// Names need not be unique, resource IDs must be. A name that is used as owner, in
// $ref or in dependsOn must identify one manifest; "adx/telemetry" and the resource
// ID are the longer forms.
//
// # Decisions
//
// The body may state id, name and type at its top level if they match the manifest;
// Desired.Body omits them, because ARM takes them from the URL. Numbers keep their
// digits; numbers that are not valid JSON (0x10, 017, 1_000, .5, NaN) are refused.
// Dates, yes, on and off are texts. Anchors, aliases and merge keys work, up to
// maxNodes nodes per document.
package manifest
