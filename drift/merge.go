package drift

import (
	"maps"
	"slices"
	"strings"
)

// Merge is desired laid over observed, which must be unmasked: what desired does
// not state stays as it is. Objects are merged by property. Of lists whose items
// a key identifies, items of the same key are merged and the other ones stay; any
// other list is desired's. Null in desired is not stated.
func Merge(desired, observed map[string]any) map[string]any {
	merged := Clone(observed)
	if merged == nil {
		merged = map[string]any{}
	}
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
		if below, ok := onto.(map[string]any); ok {
			overlay(below, value)
			return below
		}
	case []any:
		if below, ok := onto.([]any); ok {
			if key := identifyingKey(value, below); key != "" {
				return mergeKeyed(below, value, key)
			}
		}
	}
	return cloneValue(desired)
}

// mergeKeyed merges the items that a key pairs.
func mergeKeyed(below, desired []any, key string) []any {
	merged := append([]any(nil), below...)
	for i, at := range matchByKey(desired, below, key) {
		if at >= 0 {
			merged[at] = overlayValue(merged[at], desired[i])
		} else {
			merged = append(merged, cloneValue(desired[i]))
		}
	}
	return merged
}
