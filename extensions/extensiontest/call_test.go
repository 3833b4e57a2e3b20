package extensiontest_test

import (
	"testing"

	"github.com/armature-io/armature/extensions/extensiontest"
	"github.com/armature-io/armature/resource"
)

// TestCall checks that a call has the link and the default after it.
func TestCall(t *testing.T) {
	object := extensiontest.Object(t, childText, `{"a":1}`, `{"a":1,"properties":{"provisioningState":"Updating"}}`)
	busy := extensiontest.Object(t, object.ID.Owner().String(), "", `{"properties":{"state":"Busy"}}`)
	idle := extensiontest.Object(t, object.ID.Owner().String(), "", `{"properties":{"state":"Idle"}}`)
	cases := map[string]struct {
		reason string
		got    resource.Verdict
		want   resource.Action
	}{
		"link":         {"it blocks", extensiontest.Call{Object: object, Owner: busy}.CheckOwner(t, ownerChecker{}), resource.ActionBlock},
		"default":      {"the link calls next", extensiontest.Call{Object: object, Owner: idle}.CheckOwner(t, ownerChecker{}), resource.ActionProceed},
		"in operation": {"the default blocks", extensiontest.Call{Object: object}.PreCheck(t, ownerChecker{}), resource.ActionBlock},
		"forced":       {"no guard blocks", extensiontest.Call{Object: object, Force: true}.PreCheck(t, ownerChecker{}), resource.ActionSkip},
		"post-check":   {"it is still changing", extensiontest.Call{Object: object}.PostCheck(t, ownerChecker{}), resource.ActionFailure},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if c.got.Action != c.want {
				t.Errorf("%s: got %s %q, want %s", c.reason, c.got.Action, c.got.Message, c.want)
			}
		})
	}
}
