package extensiontest_test

import (
	"context"
	"log/slog"
	"testing"

	"github.com/armature-io/armature/extensions"
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

// purposeTag is a modifier that tags a resource with the purpose of the PUT.
type purposeTag struct{}

func (purposeTag) ModifyARMResource(ctx context.Context, payload map[string]any, obj, owner *resource.Object, resolver extensions.Resolver,
	client extensions.ARMClient, log *slog.Logger, next extensions.ARMResourceModifierFunc,
) (map[string]any, error) {
	if extensions.PurposeOf(ctx) == extensions.PurposeUnknown {
		return nil, extensions.NotYet("the purpose is unknown")
	}
	payload["tags"] = map[string]any{"purpose": string(extensions.PurposeOf(ctx))}
	return next(ctx, payload, obj, owner, resolver, client, log)
}

// TestCallModifies checks that a modifier gets the purpose of the call.
func TestCallModifies(t *testing.T) {
	call := extensiontest.Call{Object: extensiontest.Object(t, childText, `{}`, ""), Purpose: extensions.PurposeCreation}
	payload, verdict := call.Modify(t, purposeTag{}, map[string]any{})
	if tags, _ := payload["tags"].(map[string]any); verdict != nil || tags["purpose"] != "creation" {
		t.Errorf("got %v, %+v", payload, verdict)
	}
	call.Purpose = extensions.PurposeUnknown
	if _, verdict := call.Modify(t, purposeTag{}, map[string]any{}); verdict == nil || verdict.Action != resource.ActionBlock {
		t.Errorf("unknown purpose: got %+v, want a block", verdict)
	}
}
