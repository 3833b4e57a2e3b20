package drift

import (
	"maps"
	"slices"
	"strings"
)

// Merge returns observed, which must be unmasked, overlaid with desired. Values
// that desired does not state remain, as far as the published shape of the type in the
// api-version has them as writable. Objects are merged by property. Lists with items
// identified by a key are merged by item; any other list is replaced. Null in desired
// is not stated.
func Merge(desired, observed map[string]any, resourceType, apiVersion string) map[string]any {
	merged := Clone(observed)
	if merged == nil {
		merged = map[string]any{}
	}
	merged = echoes(desired, merged, resourceType, apiVersion)
	for name, value := range merged {
		if properties, ok := value.(map[string]any); ok && strings.EqualFold(name, "properties") {
			maps.DeleteFunc(properties, func(name string, _ any) bool { return slices.Contains(setByARMEverywhere, strings.ToLower(name)) })
		}
		if setByARM(name) {
			delete(merged, name)
		}
	}
	overlay(merged, desired)
	return merged
}

func overlay(onto, desired map[string]any) {
	for name, value := range desired {
		if value != nil {
			onto[name] = overlayValue(onto[name], value)
		}
	}
}

func overlayValue(onto, desired any) any {
	switch value := desired.(type) {
	case map[string]any:
		if base, ok := onto.(map[string]any); ok {
			overlay(base, value)
			return base
		}
	case []any:
		if base, ok := onto.([]any); ok {
			if key := identifyingKey(value, base); key != "" {
				return mergeKeyed(base, value, key)
			}
		}
	}
	return cloneValue(desired)
}

// mergeKeyed merges the items with equal keys and appends the others.
func mergeKeyed(base, desired []any, key string) []any {
	merged := append([]any(nil), base...)
	for i, at := range matchByKey(desired, base, key) {
		if at >= 0 {
			merged[at] = overlayValue(merged[at], desired[i])
		} else {
			merged = append(merged, cloneValue(desired[i]))
		}
	}
	return merged
}
