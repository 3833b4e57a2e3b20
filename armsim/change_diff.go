package armsim

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
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
	c := bodyComparison{changes: map[string]valueChange{}}
	for _, name := range snapshotMembers {
		c.at(name, before[name], after[name])
	}
	return c.changes
}

// bodyComparison compares two bodies. It writes a path only for a difference, because most
// values of a body do not change.
type bodyComparison struct {
	path    []string // of the values that are compared
	changes map[string]valueChange
}

// at compares the values at one more segment of the path.
func (c *bodyComparison) at(segment string, before, after any) {
	c.path = append(c.path, segment)
	c.compare(before, after)
	c.path = c.path[:len(c.path)-1]
}

func (c *bodyComparison) compare(before, after any) {
	oldObject, wasObject := before.(object)
	newObject, isObject := after.(object)
	oldList, wasList := before.([]any)
	newList, isList := after.([]any)
	for name, value := range oldObject {
		c.at("."+name, value, newObject[name])
	}
	for name, value := range newObject {
		if _, known := oldObject[name]; !known {
			c.at("."+name, nil, value)
		}
	}
	for i := range max(len(oldList), len(newList)) {
		c.at("["+strconv.Itoa(i)+"]", itemAt(oldList, i), itemAt(newList, i))
	}
	if wasObject || wasList {
		before = nil
	}
	if isObject || isList {
		after = nil
	}
	if before, after = reportedValue(before), reportedValue(after); before != after {
		c.changes[strings.Join(c.path, "")] = valueChange{before, after}
	}
}

// itemAt returns an item of a list, nil if it has none at the index.
func itemAt(list []any, i int) any {
	if i < len(list) {
		return list[i]
	}
	return nil
}

// reportedValue returns a scalar value as a text, nil for none.
func reportedValue(value any) any {
	if value == nil {
		return nil
	}
	return reportedText(value)
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
