package extensions

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/armature-io/armature/drift"
	"github.com/armature-io/armature/resource"
)

// AllTypes is the Type of an entry that takes part for every resource.
const AllTypes = "*"

// Entry puts one link, or a fact about a type, into the registry.
type Entry struct {
	// Type is the ARM type in any case, or AllTypes for a link.
	Type string
	// Link implements one or more of the points. It may be nil in an entry that
	// only states one of the facts below.
	Link any
	// Serialises names the children ("subnets") that ARM refuses to change while
	// another one of them, or the resource itself, changes; see
	// Registry.Serialised.
	Serialises []string
	// Leaf says that a type can have no children in ARM and that no other
	// resource waits for it; see Registry.Leaf.
	Leaf bool
}

// states reports whether the entry states a fact about its type.
func (e Entry) states() bool { return e.Leaf || len(e.Serialises) > 0 }

// Registry finds the links of a type and runs their chains: one method per
// step of a pass. It is safe for concurrent use and never changes.
type Registry struct {
	entries  []Entry
	families map[string]map[string]bool
	leaves   map[string]bool
	hanging  *hanging
}

// New makes a registry. Within a chain the earlier entry is the outer one. An
// entry without a type, or whose link implements no point (a wrong signature),
// is refused: it would never be called and nobody would notice.
func New(entries ...Entry) (*Registry, error) {
	for i, entry := range entries {
		switch {
		case entry.Type == "":
			return nil, fmt.Errorf("register extension %T: entry %d has no resource type", entry.Link, i)
		case entry.Type != AllTypes && !strings.Contains(entry.Type, "/"):
			return nil, fmt.Errorf("register extension %T: %q is no resource type such as %s", entry.Link, entry.Type, KustoClusterType)
		case entry.states() && entry.Type == AllTypes:
			return nil, fmt.Errorf("register extension %T: Leaf and Serialises are facts about one type, not about all", entry.Link)
		case entry.Link == nil && entry.states():
		case saysFacts(entry.Link) != nil:
			return nil, fmt.Errorf("register extension %T for %s: %w", entry.Link, entry.Type, saysFacts(entry.Link))
		case !implementsPoint(entry.Link):
			return nil, fmt.Errorf("register extension %T for %s: it implements no extension point", entry.Link, entry.Type)
		}
	}
	return &Registry{
		entries: append([]Entry(nil), entries...), families: familiesOf(entries), leaves: leavesOf(entries),
		hanging: &hanging{calls: map[string]int{}},
	}, nil
}

func implementsPoint(link any) bool {
	switch link.(type) {
	case PreReconciliationOwnerChecker, PreReconciliationChecker, PostReconciliationChecker, ARMResourceModifier,
		ErrorClassifier, Deleter, Importer, SuccessfulCreationHandler, ChildLister, RestingStater, LinkSource, ObservationTrimmer:
		return true
	}
	return false
}

// saysFacts asks a link for what it states about its type: a panic there would
// hurt every pass, so it is an error before the first one.
func saysFacts(link any) (err error) {
	defer func() {
		if value := recover(); value != nil {
			err = fmt.Errorf("it panics when asked for its facts: %v", value)
		}
	}()
	if lister, ok := link.(ChildLister); ok {
		lister.Children()
	}
	if stater, ok := link.(RestingStater); ok {
		stater.RestingStates()
	}
	if trimmer, ok := link.(ObservationTrimmer); ok {
		for _, path := range trimmer.TrimObserved() {
			if _, err := resource.ParsePath(path); err != nil {
				return err
			}
		}
	}
	return nil
}

// links are the links of a type in order.
func (r *Registry) links(resourceType string) []any {
	var found []any
	for _, entry := range r.entries {
		if entry.Link == nil || entry.Type != AllTypes && !strings.EqualFold(entry.Type, resourceType) {
			continue
		}
		found = append(found, entry.Link)
		if source, ok := entry.Link.(LinkSource); ok {
			found = append(found, source.Links(resourceType)...)
		}
	}
	return found
}

// Children are the child collections of a type that a delete takes along and
// that have to be listed before it, relative to the resource's ID, for example
// "databases" for a Kusto cluster.
func (r *Registry) Children(resourceType string) []string {
	var children []string
	for _, lister := range implementing[ChildLister](r.links(resourceType)) {
		children = append(children, lister.Children()...)
	}
	return children
}

// InFlight reports whether a provisioning state means for a type that an
// operation is going on: the table of resource.InFlight, less the words in which
// resources of the type rest.
func (r *Registry) InFlight(resourceType, state string) bool {
	if !resource.InFlight(state) {
		return false
	}
	for _, stater := range implementing[RestingStater](r.links(resourceType)) {
		for _, word := range stater.RestingStates() {
			if strings.EqualFold(word, state) {
				return false
			}
		}
	}
	return true
}

// NeedsOwner reports whether the owner has to be read before CheckOwner: not at
// a root, and never a subscription, management group or tenant, which have no
// state that could refuse anything.
func (r *Registry) NeedsOwner(id resource.ID) bool {
	owner := id.Owner()
	if owner.IsZero() {
		return false
	}
	return !owner.IsContainer() || strings.EqualFold(owner.Type(), resource.TypeResourceGroup)
}

// Modifies reports whether a type has modifiers, which need the resource as the
// last GET showed it, unmasked.
func (r *Registry) Modifies(resourceType string) bool {
	return len(implementing[ARMResourceModifier](r.links(resourceType))) > 0
}

// Request is what the steps know. Object.ID is always set; the rest as far as
// the step has it.
type Request struct {
	// Object is the resource; for CheckOwner without Observed.
	Object *resource.Object
	// Owner is nil when there is none or when it was not read; Exists() is
	// false when it is absent in Azure.
	Owner *resource.Object
	// OwnerNote says why an owner that exists was not read, for example "not
	// readable, not checked"; it becomes part of the verdict.
	OwnerNote string
	// References are the resources that the body names, looked up.
	References []ResolvedReference
	Resolver   Resolver
	Client     ARMClient
	// Log may be nil.
	Log *slog.Logger
	// Memory and Ignore are for the comparison of PreCheck.
	Memory drift.Memory
	Ignore []string
	// HashKey makes the hashes in Memory keyed ones.
	HashKey []byte
	// Merge says that a PUT lays desired over observed.
	Merge bool
	// Secrets are hashes of the values behind $secret references whose rotation is a
	// difference, by reference; nil where none is.
	Secrets map[string]string
	// Now is the time of the pass.
	Now time.Time
	// Force is a person's wish to pass the owner check and the guards of
	// operations in flight, once.
	Force bool
	// BlockedFor is how long the resource is blocked already: after hours the
	// guard of operations in flight names --force.
	BlockedFor time.Duration
}

// ResolvedReference is a reference with what the look-up gave. An Err of ARM
// with status 403 means "not readable" and blocks nothing.
type ResolvedReference struct {
	Reference  resource.Reference
	Resolution Resolution
	Err        error
}

func (r Request) log() *slog.Logger {
	if r.Log == nil {
		return slog.New(slog.DiscardHandler)
	}
	return r.Log
}

// Comparison are the options of every comparison of the resource: the one that
// asks for a PUT, the one that finds it needless and the one that remembers must
// not differ.
func (r Request) Comparison() drift.Options {
	return drift.Options{
		Type: r.Object.ID.Type(), ID: r.Object.ID, APIVersion: r.Object.APIVersion,
		Ignore: r.Ignore, Memory: r.Memory, Key: r.HashKey,
		Secrets: r.Secrets, Now: r.Now, Merge: r.Merge,
	}
}

func (r Request) resourceType() string { return r.Object.ID.Type() }

// owner is what the links see: nil for an owner that could not be read, since
// an object without observation means "absent".
func (r Request) owner() *resource.Object {
	if r.OwnerNote != "" && !r.Owner.Exists() {
		return nil
	}
	return r.Owner
}

type forceKey struct{}

// Forced reports whether a person asked to pass guards of operations in
// flight. A link that only guards against one asks it before it blocks.
func Forced(ctx context.Context) bool {
	forced, _ := ctx.Value(forceKey{}).(bool)
	return forced
}

func withForce(ctx context.Context, force bool) context.Context {
	return context.WithValue(ctx, forceKey{}, force)
}
