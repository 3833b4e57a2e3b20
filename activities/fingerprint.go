package activities

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/armature-io/armature/resource"
)

// fingerprint is a keyed hash of a plan and of what it stands on: what Azure
// showed where the manifest says something. What the manifest does not speak of
// (etags, counters, times) moves by itself and moves no plan.
func (a *Activities) fingerprint(result PlanResourceResult, desired resource.Desired, observed map[string]any) (string, error) {
	body, err := resource.DecodeBody(desired.Body)
	if err != nil {
		return "", err
	}
	var ignore []resource.Path
	for _, text := range desired.Ignore {
		if path, err := resource.ParsePath(text); err == nil {
			ignore = append(ignore, path)
		}
	}
	raw, err := json.Marshal(map[string]any{
		"action": result.Action, "apiVersion": desired.APIVersion, "exists": observed != nil, "generation": result.Generation,
		"differences": result.Differences, "more": result.More, "drops": result.Drops,
		"observed": project(body, observed, ignore),
	})
	if err != nil {
		return "", fmt.Errorf("encode the plan of %s: %w", desired.ID, err)
	}
	mac := hmac.New(sha256.New, a.options.HashKey)
	mac.Write(raw)
	return hex.EncodeToString(mac.Sum(nil)[:16]), nil
}

// project is what observed has where desired says something, less the ignored
// paths. Elements of a list are cut to what any desired element states, and
// sorted: servers reorder them.
func project(desired, observed any, ignore []resource.Path) any {
	switch want := desired.(type) {
	case map[string]any:
		have, isMap := observed.(map[string]any)
		_, reference := want[resource.RefMarker]
		_, secret := want[resource.SecretMarker]
		if !isMap || reference || secret || len(want) == 0 {
			return observed
		}
		return projectMembers(want, have, ignore)
	case []any:
		have, isList := observed.([]any)
		stated := map[string]any{}
		for _, item := range want {
			object, isMap := item.(map[string]any)
			if !isMap {
				return observed
			}
			stated = union(stated, object)
		}
		if !isList || len(want) == 0 {
			return observed
		}
		return projectElements(stated, have, ignore)
	}
	return observed
}

func projectMembers(want, have map[string]any, ignore []resource.Path) map[string]any {
	kept := make(map[string]any, len(want))
	for name, value := range want {
		rest, ends := resource.Advance(ignore, func(s resource.Step) bool { return s.Name != "" && strings.EqualFold(s.Name, name) })
		if ends {
			continue
		}
		for other, seen := range have {
			if strings.EqualFold(other, name) {
				kept[name] = project(value, seen, rest)
			}
		}
	}
	return kept
}

func projectElements(stated map[string]any, have []any, ignore []resource.Path) []string {
	kept := make([]string, 0, len(have))
	for i, item := range have {
		rest, ends := resource.Advance(ignore, func(s resource.Step) bool { return s.MatchesElement(i, item) })
		if ends {
			continue
		}
		raw, err := json.Marshal(project(stated, item, rest))
		if err != nil {
			continue
		}
		kept = append(kept, string(raw))
	}
	slices.Sort(kept)
	return kept
}

// union states what either of two objects states.
func union(a, b map[string]any) map[string]any {
	joined := make(map[string]any, len(a)+len(b))
	for name, value := range a {
		joined[name] = value
	}
	for name, value := range b {
		switch known := joined[name].(type) {
		case map[string]any:
			if object, isMap := value.(map[string]any); isMap {
				joined[name] = union(known, object)
			}
		case []any:
			if list, isList := value.([]any); isList {
				joined[name] = append(known[:len(known):len(known)], list...)
			}
		default:
			joined[name] = value
		}
	}
	return joined
}
