package drift

import "github.com/armature-io/armature/resource"

// RemoveUnstated removes from a merged payload what the last applied body stated
// and desired no longer states; merged from observed, it would stay forever. Values
// of other writers and ignored paths remain.
func RemoveUnstated(payload, desired map[string]any, opts Options) {
	t := unstatedRemover{
		applied: opts.Baseline.Applied.decoded(), ignore: resource.ParsePaths(opts.Ignore), sharing: sharingOf(opts.Type, payload),
	}
	if len(t.applied) > 0 {
		t.members(payload, desired, nil)
	}
}

type unstatedRemover struct {
	applied decodedSet
	ignore  []resource.Path
	sharing sharing
}

func (t unstatedRemover) members(payload, desired map[string]any, path resource.Path) {
	for name := range inOrder(payload) {
		below := path.With(resource.Step{Name: name})
		_, stated, _ := property(desired, name)
		if isIgnored(below, t.ignore) || stated == nil && !t.applied.has(below) {
			continue
		}
		remaining := t.value(payload[name], stated, below)
		if stated == nil && isEmpty(remaining) {
			delete(payload, name)
			continue
		}
		payload[name] = remaining
	}
}

// value returns what remains of a value; nil if desired states nothing and no other
// writer has a part in it.
func (t unstatedRemover) value(payload, stated any, path resource.Path) any {
	switch value := payload.(type) {
	case map[string]any:
		own, isMap := stated.(map[string]any)
		if isMap || stated == nil {
			t.members(value, own, path)
		}
		return value
	case []any:
		own, isList := stated.([]any)
		if isList || stated == nil {
			return t.items(value, own, path)
		}
	}
	if stated == nil {
		return nil
	}
	return payload
}

// items filters a list with items identified by a key; any other list is taken
// from desired.
func (t unstatedRemover) items(payload, desired []any, path resource.Path) []any {
	key := t.sharing.key(path, desired, payload)
	if desired == nil {
		key = t.sharing.key(path, payload, payload)
	}
	if key == "" {
		if desired == nil {
			return nil
		}
		return payload
	}
	own := make(map[int]any, len(desired))
	for i, at := range matchByKey(desired, payload, key) {
		own[at] = desired[i]
	}
	kept := make([]any, 0, len(payload))
	for at, item := range payload {
		below := path.With(resource.Step{Key: key, Value: keyText(item, key)})
		stated, found := own[at]
		if !found && t.applied.has(below) {
			continue
		}
		if found {
			item = t.value(item, stated, below)
		}
		kept = append(kept, item)
	}
	return kept
}
