package drift

import (
	"strings"

	"github.com/armature-io/armature/internal/jsontree"
	"github.com/armature-io/armature/resource"
)

// KeepTags adds to a payload the tags of observed that Armature did not set,
// because a PUT without them would remove them. It reports whether it added any.
// observed must be unmasked. Tag names ignore case in ARM.
func KeepTags(payload, desired, observed map[string]any, baseline Baseline) bool {
	name, value, _ := jsontree.Member(observed, "tags")
	theirs, isMap := value.(map[string]any)
	if !isMap || len(theirs) == 0 {
		return false
	}
	own := map[string]bool{}
	if _, value, found := jsontree.Member(desired, "tags"); found {
		ours, isMap := value.(map[string]any)
		if !isMap || len(ours) == 0 {
			return false // the manifest states that there are none
		}
		for tag := range ours {
			own[strings.ToLower(tag)] = true
		}
	}
	if own, _, found := jsontree.Member(payload, "tags"); found {
		name = own
	}
	before := baseline.Applied.decode()
	tags, isMap := payload[name].(map[string]any)
	if !isMap {
		tags = map[string]any{}
	}
	added := false
	for tag, text := range theirs {
		path := resource.Path{{Name: "tags"}, {Name: tag}}
		if own[strings.ToLower(tag)] || before.has(path) {
			continue
		}
		tags[tag], added = jsontree.Clone(text), true
	}
	if added {
		payload[name] = tags
	}
	return added
}
