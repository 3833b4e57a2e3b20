package cli

import (
	"fmt"
	"strings"
	"testing"

	"github.com/armature-io/armature/manifest"
)

// TestDeletesUnmanaged refuses a PUT for which ARM deletes resources that no manifest names,
// unless the manifest allows it.
//
//guard:deletions-by-a-put
func TestDeletesUnmanaged(t *testing.T) {
	cases := map[string]struct {
		reason, resourceType, properties, reconcile string
		refused                                     string
	}{
		"complete":    {"it empties the group", "deployments@2022-09-01", "mode: complete, template: {}", "", "properties.mode: complete"},
		"incremental": {"it deletes nothing", "deployments@2022-09-01", "mode: Incremental, template: {}", "", ""},
		"allowed":     {"the manifest allows it", "deployments@2022-09-01", "mode: Complete, template: {}", "delete: {unmanaged: true}", ""},
		"observed":    {"nothing is sent", "deployments@2022-09-01", "mode: Complete, template: {}", "policy: observe", ""},
		"stack": {
			"it deletes what it does not contain any more", "deploymentStacks@2024-03-01",
			"actionOnUnmanage: {resources: detach, resourceGroups: delete}, denySettings: {mode: none}", "", "properties.actionOnUnmanage.resourceGroups: delete",
		},
		"stack that detaches": {"it deletes nothing", "deploymentStacks@2024-03-01", "actionOnUnmanage: {resources: detach}, denySettings: {mode: none}", "", ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			text := fmt.Sprintf("type: Microsoft.Resources/%s\nname: d1\nowner: /subscriptions/11111111-1111-1111-1111-111111111111/resourceGroups/rg1\nbody: {properties: {%s}}\nreconcile: {%s}\n",
				c.resourceType, c.properties, c.reconcile)
			_, err := manifest.Load(manifest.Options{Facts: TypeFacts, Stdin: strings.NewReader(text)}, "-")
			if (c.refused != "") != (err != nil && strings.Contains(err.Error(), c.refused) && strings.Contains(err.Error(), "delete: {unmanaged: true}")) {
				t.Errorf("%s: %v", c.reason, err)
			}
		})
	}
}
