package drift

import (
	"strings"

	"github.com/armature-io/armature/resource"
)

// Clone returns a deep copy of a body.
func Clone(body map[string]any) map[string]any {
	if body == nil {
		return nil
	}
	return cloneValue(body).(map[string]any)
}

func cloneValue(value any) any {
	switch v := value.(type) {
	case map[string]any:
		copied := make(map[string]any, len(v))
		for name, member := range v {
			copied[name] = cloneValue(member)
		}
		return copied
	case []any:
		copied := make([]any, len(v))
		for i, item := range v {
			copied[i] = cloneValue(item)
		}
		return copied
	}
	return value
}

// Payload returns the body of a PUT: a copy of desired in which the ignored paths
// have their observed values. If observed lacks a value, desired stays; list
// elements that desired does not have are not added. observed must be unmasked.
func Payload(desired, observed map[string]any, ignore []string) map[string]any {
	payload := Clone(desired)
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
	// Kept is as in Keep.
	Kept PathSet
	// Unsound are the paths of what the published shape of the type does not allow in Body,
	// although it allows the manifest's: such a body must not be sent.
	Unsound []string
}

// Body returns the body of a PUT to a resource that Azure shows as observed, unmasked:
// resolved, which is desired with the values of its secrets, the ignored paths, and what
// the mode (Options.KeepOthers, Options.Merge) keeps. It has nothing that only a creation
// uses, nothing that the last applied body stated and desired states no more, and no value
// of others that the published shape does not allow.
func Body(resolved, desired, observed map[string]any, opts Options) Sent {
	own := Payload(resolved, observed, opts.Ignore)
	if observed == nil {
		return Sent{Body: own}
	}
	removeOneShots(own, desired, observed, opts)
	if !opts.KeepOthers && !opts.Merge {
		return Sent{Body: own}
	}
	var sent Sent
	sent.Body, sent.Kept = keep(own, observed, opts, opts.Merge)
	// What the service had set for another selector does not belong to this one.
	if opts.Merge && len(changedSelectors(own, observed, opts)) == 0 {
		sent.Body = Merge(own, observed, opts.Type, opts.APIVersion)
	}
	if opts.Merge || sent.Kept != "" {
		RemoveUnstated(sent.Body, desired, opts)
		var removed []Leaf
		removed, sent.Unsound = makeSound(sent.Body, own, opts.Baseline.refused(desired, opts) != nil, opts)
		sent.Kept = sent.Kept.without(removed)
	}
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
	name, value, ok := property(observed, path[0].Name)
	if !ok || path[0].Name == "" {
		return
	}
	if own, _, stated := property(desired, path[0].Name); stated {
		name = own
	}
	if len(path) == 1 {
		desired[name] = cloneValue(value)
		return
	}
	if carried := carry(desired[name], value, path[1:]); carried != nil {
		desired[name] = carried
	}
}

func carryElements(desired, observed []any, path resource.Path) {
	if !allObjects(desired) {
		for i := range desired {
			if i < len(observed) && path[0].MatchesElement(i, desired[i]) && len(path) == 1 {
				desired[i] = cloneValue(observed[i])
			}
		}
		return
	}
	probe := &walker{subject: &subject{}}
	matched := matchItems(identifyingKey(desired, observed), desired, observed, func(a, b any) bool { return probe.equalItems(cursor{subject: probe.subject}, a, b) })
	for i, item := range desired {
		at := matched.observed[i]
		if at < 0 || !path[0].MatchesElement(i, item) {
			continue
		}
		if len(path) == 1 {
			desired[i] = cloneValue(observed[at])
			continue
		}
		desired[i] = carry(item, observed[at], path[1:])
	}
}

// property returns a member by name: the exact one, else ignoring case.
func property(object map[string]any, name string) (string, any, bool) {
	if value, ok := object[name]; ok {
		return name, value, true
	}
	for other := range inOrder(object) {
		if strings.EqualFold(other, name) {
			return other, object[other], true
		}
	}
	return "", nil, false
}
