package resource

import (
	"encoding/json"
	"strings"
	"time"
)

// Policy defines which writes Armature may send for a resource.
type Policy string

// The policies. Manage enforces the manifest. Observe reports differences and
// writes nothing. DetachOnDelete enforces the manifest and leaves the resource in
// Azure on deletion. Protect enforces the manifest and refuses the deletion.
const (
	PolicyManage         Policy = "manage"
	PolicyObserve        Policy = "observe"
	PolicyDetachOnDelete Policy = "detach-on-delete"
	PolicyProtect        Policy = "protect"
)

// Adopt defines how to handle a resource that exists and was never applied here.
type Adopt string

// The ways to adopt. AsIs accepts the present differences and PUTs only later
// changes of the manifest. Only never creates the resource.
const (
	AdoptAlways Adopt = "always"
	AdoptAsIs   Adopt = "as-is"
	AdoptNever  Adopt = "never"
	AdoptOnly   Adopt = "only"
)

// Recreate defines how to handle a resource that was deleted outside Armature.
type Recreate string

// The ways to handle a disappearance. Without one the type decides
// (extensionhost.Registry.Recreation).
const (
	RecreateAlways Recreate = "always"
	RecreateNever  Recreate = "never"
	// RecreateOnImmutable lets a user approve to delete the resource and to create it again
	// where Azure refuses to change a property. A disappearance is decided by the type.
	RecreateOnImmutable Recreate = "on-immutable"
)

// Put defines the body of a PUT.
type Put string

// PutDefault, which is the empty text in a spec, sends the manifest's body with what
// other tools set since the last PUT; that needs a published type, for other types it is
// PutMerge. PutReplace sends the manifest's body alone. PutMerge merges it into the
// body of the last GET, so that all values and list items that the manifest does not
// state remain. PutPatch sends a PATCH with the manifest's body alone, for a resource that
// exists: what the body does not state belongs to others.
const (
	PutDefault Put = "default"
	PutReplace Put = "replace"
	PutMerge   Put = "merge"
	PutPatch   Put = "patch"
)

// Policies returns all policies.
func Policies() []Policy {
	return []Policy{PolicyManage, PolicyObserve, PolicyDetachOnDelete, PolicyProtect}
}

// Detaches reports whether a delete only stops managing the resource and leaves it
// in Azure.
func (p Policy) Detaches() bool { return p == PolicyDetachOnDelete || p == PolicyObserve }

// PreventsDelete reports whether a delete sends no DELETE.
func (p Policy) PreventsDelete() bool { return p.Detaches() || p == PolicyProtect }

// Defaults and limits of a manifest.
const (
	DefaultInterval = time.Hour
	MinInterval     = time.Minute
	DefaultTimeout  = 6 * time.Hour
	// MaxBodyBytes is the maximum size of the JSON body: Temporal refuses payloads
	// of 2 MB and warns at 512 KB.
	MaxBodyBytes = 512 * 1024
)

// The markers inside Desired.Body.
//
//	{"$secret": "env:NAME"} or {"$secret": "file:NAME"}
//	{"$ref": "/subscriptions/...", "path": "properties.x", "apiVersion": "2023-01-01"}
//	{"$text": "https://${ref.api.properties.host}", "refs": {"api": {"$ref": "/subscriptions/...", "apiVersion": "2023-01-01"}}}
//
// A plain reference (without path) is replaced by the resource ID when the
// manifest is loaded; only references with a path stay in the body.
const (
	SecretMarker = "$secret"
	RefMarker    = "$ref"
	// PlainMarker states a text, or a list of texts, that is no secret although its
	// property has the name of one: {"$plain": "data.color"}. A loaded manifest has the
	// value in its place, and the path in Desired.Plain.
	PlainMarker = "$plain"
	// TextMarker is a text with expressions in ${}. A loaded manifest has it only where an
	// expression reads observed values of other resources.
	TextMarker = "$text"
	// GUIDMarker is a GUID that follows from a list of texts, and ParamMarker the value of
	// a parameter. A loaded manifest has the value in its place.
	GUIDMarker  = "$guid"
	ParamMarker = "$param"
)

// Markers returns all markers of manifests.
func Markers() []string {
	return []string{SecretMarker, RefMarker, PlainMarker, TextMarker, GUIDMarker, ParamMarker}
}

// Desired is the desired state of one manifest, complete and checked: every name is
// resolved to an ID.
type Desired struct {
	ID         ID     `json:"id"`
	APIVersion string `json:"apiVersion"`
	// Name is the manifest's name, for messages.
	Name string `json:"name"`
	// Body is one compact JSON object with ARM's property names and the markers
	// above for secrets and for observed values of other resources.
	Body json.RawMessage `json:"body"`
	// Owner is the parent in ARM, zero at a root. OwnerAPIVersion is the
	// api-version to read it, "" for the newest stable one of its type.
	Owner           ID     `json:"owner"`
	OwnerAPIVersion string `json:"ownerAPIVersion,omitempty"`
	// References are the resources that the body refers to by $ref.
	References []Reference `json:"references,omitempty"`
	// DependsOn are further resources that must exist first.
	DependsOn []Reference `json:"dependsOn,omitempty"`
	// WaitFor states by what owner, References and DependsOn count as ready.
	WaitFor WaitFor `json:"waitFor,omitempty"`
	Policy  Policy  `json:"policy"`
	// Adopt and Put default to always and replace. Recreate "" means that the type
	// decides.
	Adopt    Adopt    `json:"adopt,omitempty"`
	Recreate Recreate `json:"recreate,omitempty"`
	Put      Put      `json:"put,omitempty"`
	// Credential names one of the worker's credentials; "" leaves the choice to the
	// subscription (arm.WithCredential).
	Credential string `json:"credential,omitempty"`
	// Interval is the time between two passes of a Ready resource; 0 = never.
	Interval time.Duration `json:"interval"`
	// DefaultInterval is set if the manifest states none: it may be longer while a feed reports
	// every change.
	DefaultInterval bool `json:"defaultInterval,omitempty"`
	// Ignore are paths that are neither compared nor written.
	Ignore []string `json:"ignore,omitempty"`
	// Initial are paths whose values are sent by a creation and when the manifest changes them,
	// Enforce paths that no switch of Azure owns.
	Initial []string `json:"initial,omitempty"`
	Enforce []string `json:"enforce,omitempty"`
	// Plain are paths of observed texts that would be masked although the manifest
	// states them in plain: a tag, a resource ID, a text that only looks like a
	// credential. A tag or such a text stays readable there; below a secret name
	// (SecretName) only a resource ID does.
	Plain []string `json:"plain,omitempty"`
	// Secret are paths of values that come from a $secret; observed values there are
	// always masked.
	Secret []string `json:"secret,omitempty"`
	// SecretRefs are the references behind them (env:NAME), each once. ARM may
	// return their values anywhere.
	SecretRefs []string `json:"secretRefs,omitempty"`
	// Deletion states how the resource is deleted.
	Deletion Deletion `json:"delete,omitzero"`
	// Timeout is the maximum duration of one long-running operation.
	Timeout time.Duration     `json:"timeout"`
	Labels  map[string]string `json:"labels,omitempty"`
	// Outputs are paths of observed values that programs read, by name. None is a secret.
	Outputs map[string]string `json:"outputs,omitempty"`
	// Exports are values that are written to key vaults, in the order of the manifest.
	Exports []Export `json:"export,omitempty"`
	// Signature is nil for a spec that is not signed.
	Signature *Signature `json:"signature,omitempty"`
}

// Deletion states how a resource is deleted.
type Deletion struct {
	// Query are parameters of the DELETE beside the api-version: texts that are no
	// secrets.
	Query map[string]string `json:"query,omitempty"`
	// Purge gives up what Azure keeps of a deleted resource, so that its name is free
	// and nothing restores it.
	Purge bool `json:"purge,omitempty"`
	// Unmanaged allows a PUT that deletes resources which no manifest names.
	Unmanaged bool `json:"unmanaged,omitempty"`
}

// IsZero reports whether nothing is stated.
func (d Deletion) IsZero() bool { return len(d.Query) == 0 && !d.Purge && !d.Unmanaged }

// Needs returns the resources that this one requires, each once: the owner, the
// references of the body, and dependsOn, in this order. Deletions run in the
// reverse order.
func (d Desired) Needs() []ID {
	var needs []ID
	known := map[string]bool{}
	add := func(id ID) {
		if !id.IsZero() && !known[id.Key()] {
			known[id.Key()] = true
			needs = append(needs, id)
		}
	}
	add(d.Owner)
	for _, list := range [][]Reference{d.References, d.DependsOn} {
		for _, reference := range list {
			add(reference.ID)
		}
	}
	return needs
}

// MaxNeeds is the maximum length of Needs: the search attribute by which a deletion
// finds dependents stores at most this number of keys, and a resource beyond would
// be deleted first.
const MaxNeeds = 64

// Reference is another resource that must exist and be ready first.
type Reference struct {
	ID ID `json:"id"`
	// APIVersion is the version to read it, "" for the newest stable one of its
	// type.
	APIVersion string `json:"apiVersion"`
}

// API versions to read containers: the newest stable versions of
// Microsoft.Resources and Microsoft.Management.
const (
	ResourceGroupAPIVersion   = "2021-04-01"
	SubscriptionAPIVersion    = "2022-12-01"
	ManagementGroupAPIVersion = "2021-04-01"
)

// ContainerAPIVersion returns the API version to read a subscription, resource
// group or management group; "" for any other resource.
func ContainerAPIVersion(id ID) string {
	switch {
	case strings.EqualFold(id.Type(), TypeResourceGroup):
		return ResourceGroupAPIVersion
	case strings.EqualFold(id.Type(), TypeSubscription):
		return SubscriptionAPIVersion
	case strings.EqualFold(id.Type(), TypeManagementGroup):
		return ManagementGroupAPIVersion
	}
	return ""
}
