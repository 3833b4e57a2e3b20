package drift

import (
	"maps"
	"slices"

	"github.com/armature-io/armature/internal/jsontree"
	"github.com/armature-io/armature/resource"
)

// Payload returns the body of a PUT: a copy of desired in which the ignored paths
// have their observed values. If observed lacks a value, desired stays; list
// elements that desired does not have are not added. observed must be unmasked.
func Payload(desired, observed map[string]any, ignore []string) map[string]any {
	payload := jsontree.Clone(desired)
	if payload == nil {
		payload = map[string]any{}
	}
	for _, path := range resource.ParsePaths(ignore) {
		carryProperty(payload, observed, path)
	}
	return payload
}

// Sent is the body of a PUT.
type Sent struct {
	Body map[string]any
	// Kept are the paths of the values of others in Body, for Options.Kept of NewBaseline.
	Kept PathSet
	// Violations are the paths of the values of Body that the published shape of the type does
	// not allow beside others, although it allows the manifest's: such a body must not be sent.
	Violations []string
}

// Body returns the body of a PUT to a resource that Azure shows as observed, unmasked:
// resolved, which is desired with the values of its secrets, the ignored paths, and what
// the mode (Options.KeepOthers, Options.Merge) keeps. It has nothing that only a creation
// uses, nothing that the last applied body stated and desired states no more, no value of others
// that the published shape does not allow, and nothing that leaveOut removes.
func Body(resolved, desired, observed map[string]any, opts Options) Sent {
	sent := bodyOf(resolved, desired, observed, opts)
	if observed != nil {
		withoutUnverified(sent.Body, opts)
		leaveOut(sent.Body, desired, observed, opts, false)
	}
	return sent
}

// Patch returns the body of a PATCH: resolved, without the ignored properties, which stay as they
// are. The items of a list are sent with the values of others, because a PATCH replaces it.
func Patch(resolved, desired, observed map[string]any, opts Options) Sent {
	carrying, carried, mixed := opts.carrying(desired, observed)
	sent := Sent{Body: Payload(resolved, observed, carrying.Ignore), Kept: PathSet("").With(carried...)}
	for _, path := range resource.ParsePaths(carrying.Ignore) {
		if !slices.ContainsFunc(path, func(step resource.Step) bool { return step.Name == "" }) {
			path.Remove(sent.Body)
		}
	}
	for _, list := range mixed {
		setList(sent.Body, list)
	}
	withoutUnverified(sent.Body, opts)
	leaveOut(sent.Body, desired, observed, opts, true)
	return sent
}

// bodyOf is Body with the parts that could not be read.
func bodyOf(resolved, desired, observed map[string]any, opts Options) Sent {
	opts, carried, mixed := opts.carrying(desired, observed)
	own := Payload(resolved, observed, opts.Ignore)
	for _, list := range mixed {
		setList(own, list)
	}
	if observed == nil {
		return Sent{Body: own}
	}
	removeOneShots(own, desired, observed, opts)
	if !opts.KeepOthers && !opts.Merge {
		return Sent{Body: own, Kept: PathSet("").With(carried...)}
	}
	var sent Sent
	sent.Body, sent.Kept = keep(own, observed, opts, opts.Merge || opts.keepItems)
	// What the service had set for another selector does not belong to this one.
	if opts.Merge && len(changedSelectors(own, observed, opts)) == 0 {
		others := maps.Clone(observed)
		if name, _, found := jsontree.Member(others, "tags"); found {
			delete(others, name) // KeepTags adds them
		}
		sent.Body = Merge(own, others, opts)
	}
	if opts.Merge || sent.Kept != "" {
		RemoveFormerValues(sent.Body, desired, opts)
		var removed []Leaf
		removed, sent.Violations = repairBody(sent.Body, own, opts.Baseline.refusedValues(desired, opts) != nil, opts)
		sent.Kept = sent.Kept.without(removed)
	}
	sent.Kept = sent.Kept.With(carried...)
	return sent
}

func carry(desired, observed any, path resource.Path) any {
	switch at := desired.(type) {
	case map[string]any:
		if from, ok := observed.(map[string]any); ok {
			carryProperty(at, from, path)
		}
	case []any:
		if from, ok := observed.([]any); ok {
			carryElements(at, from, path)
		}
	case nil:
		// A value that desired does not state is created as far as the path has properties only.
		if from, ok := observed.(map[string]any); ok && path[0].Name != "" {
			made := map[string]any{}
			carryProperty(made, from, path)
			if len(made) > 0 {
				return made
			}
		}
	}
	return desired
}

func carryProperty(desired, observed map[string]any, path resource.Path) {
	name, value, ok := jsontree.Member(observed, path[0].Name)
	if !ok || path[0].Name == "" {
		return
	}
	if own, _, isStated := jsontree.Member(desired, path[0].Name); isStated {
		name = own
	}
	if len(path) == 1 {
		desired[name] = jsontree.Clone(value)
		return
	}
	if carried := carry(desired[name], value, path[1:]); carried != nil {
		desired[name] = carried
	}
}

func carryElements(desired, observed []any, path resource.Path) {
	if !jsontree.Objects(desired) {
		for i := range desired {
			if i < len(observed) && path[0].MatchesElement(i, desired[i]) && len(path) == 1 {
				desired[i] = jsontree.Clone(observed[i])
			}
		}
		return
	}
	pairs := (&subject{}).pair(nil, desired, observed)
	for i, item := range desired {
		at := pairs.At[i]
		if at < 0 || !path[0].MatchesElement(i, item) {
			continue
		}
		if len(path) == 1 {
			desired[i] = jsontree.Clone(observed[at])
			continue
		}
		desired[i] = carry(item, observed[at], path[1:])
	}
}
