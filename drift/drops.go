package drift

import (
	"strings"

	"github.com/armature-io/armature/resource"
)

// envelope are the top-level members that a PUT replaces as a whole. Tags are not
// among them: they are kept (KeepTags).
var envelope = [...]string{"identity", "sku", "plan", "zones", "managedBy", "extendedLocation"}

// drops returns the paths that a PUT of desired would remove from observed although
// no manifest requests it.
func drops(desired, observed map[string]any, opts Options) []string {
	if opts.Merge {
		return nil
	}
	var paths []string
	for _, name := range envelope {
		_, value, present := property(observed, name)
		if _, _, stated := property(desired, name); present && !stated && !isEmpty(value) && !opts.KeepOthers {
			paths = append(paths, name)
		}
	}
	w := &walker{subject: opts.subject(observed), reportAdded: true}
	for _, d := range w.differences(desired, observed, opts.Ignore) {
		if opts.KeepOthers && d.path[len(d.path)-1].Name != "" {
			continue // the key of a map is kept
		}
		if d.rule == ruleItemAdded && len(paths) < resource.MaxDifferences && !strings.HasPrefix(strings.ToLower(d.text), "tags") {
			paths = append(paths, d.text)
		}
	}
	return paths
}

// KeepTags adds to a payload the tags of observed that Armature did not set,
// because a PUT without them would remove them. It reports whether it added any.
// observed must be unmasked. Tag names ignore case in ARM.
func KeepTags(payload, desired, observed map[string]any, baseline Baseline) bool {
	name, value, _ := property(observed, "tags")
	theirs, isMap := value.(map[string]any)
	if !isMap || len(theirs) == 0 {
		return false
	}
	stated := map[string]bool{}
	if _, value, found := property(desired, "tags"); found {
		ours, isMap := value.(map[string]any)
		if value != nil && (!isMap || len(ours) == 0) {
			return false // the manifest states that there are none
		}
		for tag := range ours {
			stated[strings.ToLower(tag)] = true
		}
	}
	if own, _, found := property(payload, "tags"); found {
		name = own
	}
	before := baseline.Applied.decoded()
	tags, isMap := payload[name].(map[string]any)
	if !isMap {
		tags = map[string]any{}
	}
	added := false
	for tag, text := range theirs {
		path := resource.Path{{Name: "tags"}, {Name: tag}}
		if stated[strings.ToLower(tag)] || before.has(path) {
			continue
		}
		tags[tag], added = cloneValue(text), true
	}
	if added {
		payload[name] = tags
	}
	return added
}
