package manifest

import (
	"testing"

	"github.com/armature-io/armature/resource"
)

// TestPatchDetaches: a delete leaves what is only patched, unless the manifest states its
// policy.
//
//guard:put-patch
func TestPatchDetaches(t *testing.T) {
	for section, want := range map[string]resource.Policy{
		"{put: patch}": resource.PolicyDetachOnDelete, "{put: patch, policy: manage}": resource.PolicyManage, "{put: merge}": resource.PolicyManage,
	} {
		got := loaded(t, "type: Microsoft.Network/routeTables@2024-01-01\nname: r\nowner: /subscriptions/11111111-1111-1111-1111-111111111111/resourceGroups/rg\nbody: {tags: {a: b}}\nreconcile: "+section+"\n")
		if got.Policy != want {
			t.Errorf("%s: policy %s, want %s", section, got.Policy, want)
		}
	}
}
