package resource

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/armature-io/armature/internal/text"
)

// SpecChange is one setting of a manifest that differs between two specs of a resource.
// Values are short texts for people, at most maxSettingShown characters.
type SpecChange struct {
	// Path is that of the manifest: reconcile.policy, labels.team, body.
	Path   string `json:"path"`
	Before string `json:"before"`
	After  string `json:"after"`
}

const (
	maxSettingShown = 120
	// maxSpecChanges bounds the changes of one resource.
	maxSpecChanges = 50
)

// Texts in place of a value.
const (
	settingDefault = "default"
	settingAbsent  = "absent"
	bodyBefore     = "as applied"
	bodyAfter      = "as stated"
)

// settingPaths are the paths in the manifest of the members of Desired. Members that
// are not here have the path of their own name.
var settingPaths = map[string]string{
	"apiVersion": "api-version", "ownerAPIVersion": "owner.api-version",
	"policy": "reconcile.policy", "adopt": "reconcile.adopt", "recreate": "reconcile.recreate", "put": "reconcile.put",
	"credential": "reconcile.credential", "interval": "reconcile.interval", "timeout": "reconcile.timeout",
	"ignore": "reconcile.ignore", "initial": "reconcile.initial", "enforce": "reconcile.enforce", "dependsOn": "reconcile.dependsOn", "waitFor": "reconcile.waitFor", "delete": "reconcile.delete",
}

// ofBody are the members of Desired that follow from the body.
var ofBody = map[string]bool{"body": true, "references": true, "plain": true, "secret": true, "secretRefs": true}

// SpecChanges returns what an apply of after changes in a spec, sorted by path, without
// the signature. All changes of the body are one, whose values are not shown: differences
// show what a pass would write. It is empty exactly where an apply changes nothing, unless
// a spec cannot be encoded.
func SpecChanges(before, after Desired) []SpecChange {
	before.Signature, after.Signature = nil, nil
	left, right := settings(before), settings(after)
	names := slices.AppendSeq(slices.Collect(maps.Keys(left)), maps.Keys(right))
	slices.Sort(names)
	var changes []SpecChange
	body := false
	for _, name := range slices.Compact(names) {
		a, b := left[name], right[name]
		switch {
		case bytes.Equal(a, b):
		case ofBody[name]:
			body = true
		case name == "labels" || name == "outputs":
			changes = append(changes, memberChanges(name, a, b)...)
		default:
			changes = append(changes, settingChange(name, a, b))
		}
	}
	if body {
		changes = append(changes, SpecChange{Path: "body", Before: bodyBefore, After: bodyAfter})
	}
	slices.SortFunc(changes, func(a, b SpecChange) int { return strings.Compare(a.Path, b.Path) })
	return changes[:min(len(changes), maxSpecChanges)]
}

// settings returns the members of a spec as JSON; none if it cannot be encoded.
func settings(spec Desired) map[string]json.RawMessage {
	members := map[string]json.RawMessage{}
	raw, err := json.Marshal(spec)
	if err != nil || json.Unmarshal(raw, &members) != nil {
		return nil
	}
	return members
}

// settingChange returns the change of one member; nil is an absent one.
func settingChange(name string, before, after json.RawMessage) SpecChange {
	change := SpecChange{Path: name, Before: settingText(name, before), After: settingText(name, after)}
	if path, known := settingPaths[name]; known {
		change.Path = path
	}
	change.Before, change.After = text.CutPair(change.Before, change.After, maxSettingShown)
	return change
}

// settingText returns the value of a member for people.
func settingText(name string, raw json.RawMessage) string {
	var nanoseconds int64
	switch {
	case len(raw) == 0:
		return settingDefault
	case (name == "interval" || name == "timeout") && json.Unmarshal(raw, &nanoseconds) == nil:
		if nanoseconds == 0 {
			return "0"
		}
		return text.Duration(time.Duration(nanoseconds))
	}
	return string(raw)
}

// memberChanges returns the changes of a map of texts, member by member.
func memberChanges(name string, before, after json.RawMessage) []SpecChange {
	var left, right map[string]string
	if len(before) > 0 && json.Unmarshal(before, &left) != nil || len(after) > 0 && json.Unmarshal(after, &right) != nil {
		return []SpecChange{settingChange(name, before, after)}
	}
	var changes []SpecChange
	keys := slices.AppendSeq(slices.Collect(maps.Keys(left)), maps.Keys(right))
	slices.Sort(keys)
	for _, key := range slices.Compact(keys) {
		a, inA := left[key]
		b, inB := right[key]
		if inA == inB && a == b {
			continue
		}
		change := SpecChange{Path: Path{{Name: name}, {Name: key}}.String()}
		change.Before, change.After = text.CutPair(memberText(a, inA), memberText(b, inB), maxSettingShown)
		changes = append(changes, change)
	}
	return changes
}

func memberText(value string, present bool) string {
	raw, err := json.Marshal(value)
	if !present || err != nil {
		return settingAbsent
	}
	return string(raw)
}
