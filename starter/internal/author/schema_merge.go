package author

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// prefix is how a schema refers to a definition.
const prefix = "#/definitions/"

// mergeEqual removes definitions that equal another one, and returns for each removed
// one the name of the other. Definitions refer to others, so it repeats until nothing
// is equal any more: versions and types of a provider share most of theirs.
func mergeEqual(definitions object) map[string]string {
	merged := map[string]string{}
	for {
		first := map[string]string{}
		found := false
		for _, name := range slices.Sorted(maps.Keys(definitions)) {
			definition := rename(definitions[name], merged)
			definitions[name] = definition
			raw, err := json.Marshal(definition)
			if err != nil {
				continue
			}
			if other, known := first[string(raw)]; known {
				merged[name] = other
				delete(definitions, name)
				found = true
				continue
			}
			first[string(raw)] = name
		}
		if !found {
			return flat(merged)
		}
		merged = flat(merged)
	}
}

// flat follows chains of merged names.
func flat(merged map[string]string) map[string]string {
	for name, other := range merged {
		for next, again := merged[other]; again; next, again = merged[other] {
			other = next
		}
		merged[name] = other
	}
	return merged
}

// rename returns a schema with other names for its references.
func rename(value any, names map[string]string) any {
	switch value := value.(type) {
	case object:
		for key, member := range value {
			if text, isText := member.(string); isText {
				if key == "$ref" {
					if other, merged := names[strings.TrimPrefix(text, prefix)]; merged {
						value[key] = prefix + other
					}
				}
				continue
			}
			value[key] = rename(member, names)
		}
	case []any:
		for i, item := range value {
			value[i] = rename(item, names)
		}
	}
	return value
}
