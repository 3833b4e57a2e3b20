package extensionhost

import (
	"log/slog"
	"time"

	"github.com/armature-io/armature/drift"
	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/secrets"
)

// Request is the input of a step. Object.ID is always set, the rest as far as
// the step has it.
type Request struct {
	// Object is the resource, without Observed in CheckOwner.
	Object *resource.Object
	// Owner is nil when there is none or when it was not read. Exists() is false
	// when it is absent in Azure.
	Owner *resource.Object
	// OwnerNote explains why an owner that exists was not read, for example "not
	// readable, not checked". It becomes part of the verdict.
	OwnerNote string
	// References are the resources that the body refers to, resolved.
	References []ResolvedReference
	Resolver   extensions.Resolver
	Client     extensions.ARMClient
	// Masker finds the secrets that links read with Client, so that no verdict shows one. It
	// may be nil.
	Masker *secrets.Masker
	// Log may be nil.
	Log *slog.Logger
	// Facts are the facts of the type for comparisons, from Registry.Facts.
	Facts drift.Facts
	// Baseline, and the paths of the manifest, are for the comparison of PreCheck.
	Baseline                 drift.Baseline
	Ignore, Initial, Enforce []string
	// ChildLists are drift.Options.ChildLists.
	ChildLists []string
	// Owners are the owners of values by path: other resources that name this one.
	Owners map[string]string
	// HashKey keys the hashes in Baseline; without it they have none. FormerHashKey is
	// drift.Options.FormerKey.
	HashKey, FormerHashKey []byte
	// Merge means that a PUT lays desired over observed, KeepOthers that it keeps what
	// other tools set since the last PUT.
	Merge, KeepOthers bool
	// StatedOnly means that a PATCH leaves what desired does not state.
	StatedOnly bool
	// Hold is set for a correction: no user requested that the PUT removes settings of others.
	Hold bool
	// Secrets are hashes of the values behind $secret references, if their rotation
	// counts as a difference, by reference; nil where there is none.
	Secrets map[string]string
	// Now is the time of the pass.
	Now time.Time
	// Force skips the owner check and the guards against operations in progress
	// once, at a user's request.
	Force bool
	// Purpose is why a PUT is sent, in Modify only.
	Purpose extensions.Purpose
	// BlockedFor is the time for which the resource has been blocked. After hours,
	// the guard against operations in progress mentions --force.
	BlockedFor time.Duration
}

// ResolvedReference is a reference and the result of resolving it. An Err of ARM
// with status 403 means "not readable" and blocks nothing.
type ResolvedReference struct {
	Reference  resource.Reference
	Resolution extensions.Resolution
	Err        error
	// Managed is set when Resolution.Ready is the Ready condition of the resource's own
	// workflow, not its provisioning state.
	Managed bool
}

func (r Request) log() *slog.Logger {
	if r.Log == nil {
		return slog.New(slog.DiscardHandler)
	}
	return r.Log
}

// Comparison returns the options of every comparison of the resource. The one
// that requests a PUT, the one that finds it needless and the one that records
// the baseline must not differ.
func (r Request) Comparison() drift.Options {
	var owner map[string]any
	if r.Owner.Exists() {
		owner = r.Owner.Observed
	}
	options := drift.Options{
		Type: r.Object.ID.Type(), ID: r.Object.ID, APIVersion: r.Object.APIVersion, Facts: r.Facts,
		Ignore: r.Ignore, Baseline: r.Baseline, Key: r.HashKey, FormerKey: r.FormerHashKey,
		Secrets: r.Secrets, Now: r.Now, Merge: r.Merge, KeepOthers: r.KeepOthers, StatedOnly: r.StatedOnly,
		Initial: r.Initial, Enforce: r.Enforce, Owners: r.Owners, Hold: r.Hold, ChildLists: r.ChildLists, Completed: r.Object.Completed,
	}
	return options.WithOwned(r.Object.Desired, r.Object.Observed, owner)
}

func (r Request) resourceType() string { return r.Object.ID.Type() }

// owner returns the owner for the links: nil for an owner that could not be
// read, because an object without observation means "absent".
func (r Request) owner() *resource.Object {
	if r.OwnerNote != "" && !r.Owner.Exists() {
		return nil
	}
	return r.Owner
}
