package activities

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/armature-io/armature/internal/jsontree"
	"github.com/armature-io/armature/resource"
)

// fingerprint returns a keyed hash of a plan and of what it is based on: the values
// in Azure where the manifest states something. Other values (etags, counters,
// times) change by themselves and do not change the fingerprint, nor do those at the ignored
// paths: their owners move them between a plan and its apply.
func (h *hasher) fingerprint(result PlanResourceResult, desired resource.Desired, observed map[string]any, ignored []string) (string, error) {
	body, err := resource.DecodeBody(desired.Body)
	if err != nil {
		return "", err
	}
	var ignore []resource.Path
	for _, text := range slices.Concat(desired.Ignore, ignored) {
		if path, err := resource.ParsePath(text); err == nil {
			ignore = append(ignore, path)
		}
	}
	decision := map[string]any{
		"action": result.Action, "apiVersion": desired.APIVersion, "exists": observed != nil, "generation": result.Generation,
		"differences": result.Differences, "more": result.More, "drops": result.Drops,
		"observed": project(body, observed, ignore),
	}
	if result.MoreDrops > 0 {
		decision["moreDrops"] = result.MoreDrops
	}
	raw, err := json.Marshal(decision)
	if err != nil {
		return "", fmt.Errorf("encode the plan of %s: %w", desired.ID, err)
	}
	return h.hash(raw), nil
}

// project returns the part of observed where desired states something, without the
// ignored paths. Elements of a list keep what any desired element states, and are
// sorted, because servers reorder them.
func project(desired, observed any, ignore []resource.Path) any {
	switch desired := desired.(type) {
	case map[string]any:
		members, isMap := observed.(map[string]any)
		_, reference := desired[resource.RefMarker]
		_, secret := desired[resource.SecretMarker]
		_, text := desired[resource.TextMarker]
		if !isMap || reference || secret || text || len(desired) == 0 {
			return observed
		}
		return projectMembers(desired, members, ignore)
	case []any:
		elements, isList := observed.([]any)
		stated := map[string]any{}
		for _, item := range desired {
			object, isMap := item.(map[string]any)
			if !isMap {
				return observed
			}
			stated = union(stated, object)
		}
		if !isList || len(desired) == 0 {
			return observed
		}
		return projectElements(stated, elements, ignore)
	}
	return observed
}

func projectMembers(desired, observed map[string]any, ignore []resource.Path) map[string]any {
	projected := make(map[string]any, len(desired))
	for name, value := range desired {
		rest, ignored := resource.Advance(ignore, func(s resource.Step) bool { return s.Name != "" && strings.EqualFold(s.Name, name) })
		if ignored {
			continue
		}
		if _, member, present := jsontree.Member(observed, name); present {
			projected[name] = project(value, member, rest)
		}
	}
	return projected
}

func projectElements(stated map[string]any, observed []any, ignore []resource.Path) []string {
	projected := make([]string, 0, len(observed))
	for i, element := range observed {
		rest, ignored := resource.Advance(ignore, func(s resource.Step) bool { return s.MatchesElement(i, element) })
		if ignored {
			continue
		}
		if raw, err := json.Marshal(project(stated, element, rest)); err == nil {
			projected = append(projected, string(raw))
		}
	}
	slices.Sort(projected)
	return projected
}

// union returns what either of two objects states.
func union(a, b map[string]any) map[string]any {
	joined := maps.Clone(a)
	for name, value := range b {
		switch known := joined[name].(type) {
		case map[string]any:
			if object, isMap := value.(map[string]any); isMap {
				joined[name] = union(known, object)
			}
		case []any:
			if list, isList := value.([]any); isList {
				joined[name] = slices.Concat(known, list)
			}
		default:
			joined[name] = value
		}
	}
	return joined
}
