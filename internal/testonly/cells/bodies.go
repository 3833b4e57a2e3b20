package cells

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// volatile are the members of bodies that no manifest states: those that no run repeats, and the
// children in the body of a network, which are resources of their own.
var volatile = []string{"etag", "systemData", "createdAt", "changedAt", "creationTime", "resourceGuid", "uniqueId", "subnets"}

// Stable returns a copy of decoded JSON without what no run repeats.
func Stable(value any) any {
	switch v := value.(type) {
	case map[string]any:
		out := map[string]any{}
		for name, member := range v {
			if !slices.Contains(volatile, name) {
				out[name] = Stable(member)
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = Stable(item)
		}
		return out
	}
	return value
}

// Decoded returns a JSON object, an empty one for "". It panics on anything else: the text is part
// of a test.
func Decoded(text string) map[string]any {
	body := map[string]any{}
	if text == "" {
		return body
	}
	if err := json.Unmarshal([]byte(text), &body); err != nil {
		panic(fmt.Sprintf("decode %s: %v", text, err)) //nolint:forbidigo // the text is part of a test
	}
	return body
}

// Merged applies a JSON merge patch to target, and returns it.
func Merged(target, patch map[string]any) map[string]any {
	for name, value := range patch {
		object, isObject := value.(map[string]any)
		switch {
		case value == nil:
			delete(target, name)
		case isObject:
			inner, _ := target[name].(map[string]any)
			if inner == nil {
				inner = map[string]any{}
			}
			target[name] = Merged(inner, object)
		default:
			target[name] = value
		}
	}
	return target
}

var guid = regexp.MustCompile(`[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}`)

// ShortPath returns the last two segments of a path, without IDs of operations.
func ShortPath(path string) string {
	segments := strings.Split(guid.ReplaceAllString(strings.Trim(path, "/"), "*"), "/")
	return strings.Join(segments[max(0, len(segments)-2):], "/")
}
