package types_test

import (
	"strings"
	"testing"

	"github.com/armature-io/armature/types"
)

// TestFindListAction checks which actions may be repeated by an export.
func TestFindListAction(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason, typ, version, action string
		found                        string // the api-version
		part                         string
	}{
		"keys":             {reason: "the answer is the same until a key is regenerated", typ: "Microsoft.Storage/storageAccounts", version: "2023-01-01", action: "listKeys", found: "2023-01-01"},
		"letter case":      {reason: "ARM ignores it", typ: "Microsoft.Devices/IotHubs", version: "2023-06-30", action: "listKeys", found: "2023-06-30"},
		"another version":  {reason: "the type publishes its actions in few versions", typ: "Microsoft.OperationalInsights/workspaces", version: "2022-10-01", action: "sharedKeys", found: "2026-03-01"},
		"typo":             {reason: "the nearest one is named", typ: "Microsoft.Storage/storageAccounts", version: "2023-01-01", action: "listKey", part: "did you mean listKeys?"},
		"signature":        {reason: "it needs a time of expiry", typ: "Microsoft.Storage/storageAccounts", version: "2023-01-01", action: "listAccountSas", part: "needs input"},
		"regeneration":     {reason: "it changes the key", typ: "Microsoft.Storage/storageAccounts", version: "2023-01-01", action: "regenerateKey", part: "may change something"},
		"token":            {reason: "it is valid for a while", typ: "Microsoft.App/builders/builds", version: types.Newest("Microsoft.App/builders/builds"), action: "listAuthToken", part: "not the same twice"},
		"tokens":           {reason: "also of a list", typ: "Microsoft.DesktopVirtualization/hostPools", version: types.Newest("Microsoft.DesktopVirtualization/hostPools"), action: "listRegistrationTokens", part: "not the same twice"},
		"signed URL":       {reason: "it contains a signature", typ: "Microsoft.Logic/workflows", version: types.Newest("Microsoft.Logic/workflows"), action: "listCallbackUrl", part: "not the same twice"},
		"expiry":           {reason: "the answer has a time until which it is valid", typ: "Microsoft.HybridNetwork/publishers/artifactStores/artifactManifests", version: types.Newest("Microsoft.HybridNetwork/publishers/artifactStores/artifactManifests"), action: "listCredential", part: "(expiry)"},
		"no actions":       {reason: "there is nothing to suggest", typ: "Microsoft.Network/routeTables", version: "2023-05-01", action: "listKeys", part: "has no action that lists values"},
		"unpublished type": {reason: "nothing is known of it", typ: "Contoso.Things/things", version: "2024-01-01", action: "listKeys", part: "is no published type"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			action, version, err := types.FindListAction(tc.typ, tc.version, tc.action, "sharedKeys")
			if tc.part != "" {
				if err == nil || !strings.Contains(err.Error(), tc.part) {
					t.Errorf("%s: %v, want %q", tc.reason, err, tc.part)
				}
				return
			}
			if err != nil || version != tc.found || !strings.EqualFold(action.Name, tc.action) {
				t.Errorf("%s: %s in %s, %v; want %s", tc.reason, action.Name, version, err, tc.found)
			}
		})
	}
}

// TestListActions counts the actions that may be exported, so that a new rule shows what it
// takes away.
func TestListActions(t *testing.T) {
	t.Parallel()
	found := 0
	for _, name := range types.Names(false) {
		shape := types.Lookup(name, types.Newest(name))
		if shape == nil {
			continue
		}
		for _, action := range shape.Actions {
			if _, err := shape.ListAction(action.Name); err == nil {
				found++
			}
		}
	}
	if found < 240 {
		t.Errorf("%d actions may be exported, want at least 240", found)
	}
}
