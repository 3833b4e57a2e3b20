package armsim

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
)

// snapshotMembers are the members of a resource that Resource Graph compares: the columns
// of its table resources, without those that identify the resource
// (learn.microsoft.com/azure/governance/resource-graph/concepts/query-language).
var snapshotMembers = []string{"extendedLocation", "identity", "kind", "location", "managedBy", "plan", "properties", "sku", "tags", "zones"}

// valueChange is the change of one value. nil is no value.
type valueChange struct{ before, after any }

// compareSnapshots returns the values that differ between two bodies, by their path as
// Azure writes it: properties.a.b, properties.list[0].x. Only scalar values have a path, so
// that a new object is as many changes as it has values. The paths of a published row:
// properties.ruleCollections[0].action.type.
func compareSnapshots(before, after object) map[string]valueChange {
	old, now := map[string]any{}, map[string]any{}
	for _, name := range snapshotMembers {
		addValues(old, name, before[name])
		addValues(now, name, after[name])
	}
	changes := map[string]valueChange{}
	for path, value := range old {
		if now[path] != value {
			changes[path] = valueChange{value, now[path]}
		}
	}
	for path, value := range now {
		if old[path] == nil {
			changes[path] = valueChange{nil, value}
		}
	}
	return changes
}

// addValues adds the scalar values at and below a path. They become texts, as Azure
// reports them.
func addValues(into map[string]any, path string, value any) {
	switch v := value.(type) {
	case nil:
	case object:
		for name, member := range v {
			addValues(into, path+"."+name, member)
		}
	case []any:
		for i, item := range v {
			addValues(into, path+"["+strconv.Itoa(i)+"]", item)
		}
	default:
		into[path] = reportedText(v)
	}
}

// reportedText returns a scalar value as Azure reports it: a published row has "True" for a
// boolean.
func reportedText(value any) string {
	switch v := value.(type) {
	case string:
		return v
	case bool:
		if v {
			return "True"
		}
		return "False"
	}
	if n := number(value); n != "" {
		return n
	}
	encoded, _ := json.Marshal(value) // numbers always encode
	return string(encoded)
}

func changedPaths(changes map[string]valueChange) []string {
	return slices.Sorted(maps.Keys(changes))
}
