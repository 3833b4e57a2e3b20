package resource

import (
	"encoding/json"
	"strings"
	"time"
)

// Policy says what Armature may do with a resource.
type Policy string

// The policies: keep it as the manifest says; report differences and write
// nothing; keep it, but leave it in Azure when it is no longer managed; keep it
// and refuse its deletion.
const (
	PolicyManage         Policy = "manage"
	PolicyObserve        Policy = "observe"
	PolicyDetachOnDelete Policy = "detach-on-delete"
	PolicyProtect        Policy = "protect"
)

// Adopt says what to do with a resource that exists and was never applied here.
type Adopt string

// The ways to adopt. As-is keeps its differences as they are, and PUTs only what
// the manifest changes later; only never creates.
const (
	AdoptAlways Adopt = "always"
	AdoptAsIs   Adopt = "as-is"
	AdoptNever  Adopt = "never"
	AdoptOnly   Adopt = "only"
)

// Recreate says what to do with a resource that somebody else deleted.
type Recreate string

// The ways to take a disappearance.
const (
	RecreateAlways Recreate = "always"
	RecreateNever  Recreate = "never"
)

// Put says what a PUT carries.
type Put string

// PutReplace carries the manifest's body; PutMerge lays it over what the last GET
// showed, so that what nobody states stays.
const (
	PutReplace Put = "replace"
	PutMerge   Put = "merge"
)

// Policies are all of them.
func Policies() []Policy {
	return []Policy{PolicyManage, PolicyObserve, PolicyDetachOnDelete, PolicyProtect}
}

// Leaves reports whether a delete only ends the management: the resource stays
// in Azure.
func (p Policy) Leaves() bool { return p == PolicyDetachOnDelete || p == PolicyObserve }

// Spares reports whether a delete does not end in a DELETE.
func (p Policy) Spares() bool { return p.Leaves() || p == PolicyProtect }

// Defaults and limits of a manifest.
const (
	DefaultInterval = time.Hour
	MinInterval     = time.Minute
	DefaultTimeout  = 6 * time.Hour
	// MaxBodyBytes bounds the JSON body: Temporal refuses payloads of 2 MB
	// and warns at 512 KB.
	MaxBodyBytes = 512 * 1024
)

// The markers inside Desired.Body.
//
//	{"$secret": "env:NAME"} or {"$secret": "file:NAME"}
//	{"$ref": "/subscriptions/...", "path": "properties.x", "apiVersion": "2023-01-01"}
//
// A plain reference (without path) is replaced by the resource ID when the
// manifest is loaded; only references with a path stay in the body.
const (
	SecretMarker = "$secret"
	RefMarker    = "$ref"
)

// Desired is what a manifest asks for, complete and checked: every name is
// resolved to an ID.
type Desired struct {
	ID         ID     `json:"id"`
	APIVersion string `json:"apiVersion"`
	// Name is how the manifest is called, for messages.
	Name string `json:"name"`
	// Body is one compact JSON object with ARM's own names, with the markers
	// above for secrets and for observed values of other resources.
	Body json.RawMessage `json:"body"`
	// Owner is the parent in ARM, none at a root; OwnerAPIVersion reads it, the
	// newest stable one of its type where it is "".
	Owner           ID     `json:"owner"`
	OwnerAPIVersion string `json:"ownerAPIVersion,omitempty"`
	// References are the resources that the body names with $ref.
	References []Reference `json:"references,omitempty"`
	// DependsOn are the resources that come first although the body does not
	// name them.
	DependsOn []Reference `json:"dependsOn,omitempty"`
	Policy    Policy      `json:"policy"`
	// Adopt, Recreate and Put are "" for always, always and replace.
	Adopt    Adopt    `json:"adopt,omitempty"`
	Recreate Recreate `json:"recreate,omitempty"`
	Put      Put      `json:"put,omitempty"`
	// Credential names one of the worker's; "" leaves the choice to the
	// subscription (arm.WithCredential).
	Credential string `json:"credential,omitempty"`
	// Interval is the time between two passes of a Ready resource; 0 = never.
	Interval time.Duration `json:"interval"`
	// Ignore are paths that are neither compared nor written.
	Ignore []string `json:"ignore,omitempty"`
	// Plain are paths at which an observed text would be masked but which the
	// manifest states in plain: a tag, a resource ID, a text that only looks like
	// a credential. A tag or such a text stays readable there; under a name that
	// masks (SecretName) only a resource ID does.
	Plain []string `json:"plain,omitempty"`
	// Secret are paths whose value comes from a $secret: observed values there
	// are always masked.
	Secret []string `json:"secret,omitempty"`
	// SecretRefs are the references behind them (env:NAME), each once: what ARM
	// sends back may hold their values anywhere.
	SecretRefs []string `json:"secretRefs,omitempty"`
	// Timeout bounds one long-running operation.
	Timeout time.Duration     `json:"timeout"`
	Labels  map[string]string `json:"labels,omitempty"`
}

// Needs are the resources without which this one cannot be, each once: the
// owner, what the body names with $ref, and dependsOn, in this order. Deletions
// run in the reverse order.
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

// MaxNeeds bounds Needs: the search attribute by which a deletion finds what needs
// a resource holds so many keys, and what is beyond would be deleted first.
const MaxNeeds = 64

// Reference is another resource that must exist and be ready first.
type Reference struct {
	ID ID `json:"id"`
	// APIVersion reads it, the newest stable one of its type where it is "".
	APIVersion string `json:"apiVersion"`
}

// API versions with which containers are read: those of the newest stable
// Microsoft.Resources and Microsoft.Management.
const (
	ResourceGroupAPIVersion   = "2021-04-01"
	SubscriptionAPIVersion    = "2022-12-01"
	ManagementGroupAPIVersion = "2021-04-01"
)

// ContainerAPIVersion is the constant with which a subscription, resource group
// or management group is read; "" for any other resource.
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
