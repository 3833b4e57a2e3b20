package azure_test

import (
	"testing"

	"github.com/armature-io/armature/extensions/azure"
	"github.com/armature-io/armature/internal/extensionhost"
)

func TestImporters(t *testing.T) {
	const sub = "/subscriptions/00000000-0000-0000-0000-000000000001"
	const pg, my = groupID + "/providers/Microsoft.DBforPostgreSQL/flexibleServers/s", groupID + "/providers/Microsoft.DBforMySQL/flexibleServers/s"
	cases := map[string]struct {
		id, observed, because string
	}{
		"inherited assignment": {roleID, `{"properties":{"scope":"` + sub + `"}}`, "role assignment is inherited"},
		"own assignment":       {roleID, `{"properties":{"scope":"` + storageID + `"}}`, ""},
		"assignment, no scope": {roleID, `{}`, ""},
		"built-in role":        {sub + "/providers/Microsoft.Authorization/roleDefinitions/r", `{"properties":{"type":"builtinrole"}}`, "role definition is built-in"},
		"custom role":          {sub + "/providers/Microsoft.Authorization/roleDefinitions/r", `{"properties":{"type":"CustomRole"}}`, ""},
		"system default":       {pg + "/configurations/c", `{"properties":{"source":"system-default","value":"1"}}`, "system-defaults don't need to be imported"},
		"read-only":            {pg + "/configurations/c", `{"properties":{"source":"user-override","isReadOnly":true}}`, "readonly configuration can't be set"},
		"read-only of MySQL":   {my + "/configurations/c", `{"properties":{"isReadOnly":"True"}}`, "readonly configuration can't be set"},
		"same as default":      {my + "/configurations/c", `{"properties":{"value":"1","defaultValue":"1"}}`, "default value is the same as the current value"},
		"set by a user":        {my + "/configurations/c", `{"properties":{"value":"2","defaultValue":"1"}}`, ""},
		"own database":         {pg + "/databases/app", `{}`, ""},
		"server's database":    {pg + "/databases/Azure_Sys", `{}`, "built in databases cannot be managed"},
	}
	r := builtIn(t)
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			obj := object(t, c.id, "", c.observed)
			owner := object(t, obj.ID.Owner().String(), "", `{}`)
			got, err := r.Import(t.Context(), extensionhost.Request{Object: obj, Owner: owner})
			if because, _ := got.Skipped(); err != nil || because != c.because {
				t.Errorf("got %q, %v, want %q", because, err, c.because)
			}
		})
	}
}

func TestStableRoleAssignmentName(t *testing.T) {
	scope := mustID(t, storageID)
	name := azure.StableRoleAssignmentName(scope, "/subscriptions/a/providers/Microsoft.Authorization/roleDefinitions/ROLE", "P1")
	if same := azure.StableRoleAssignmentName(mustID(t, groupID+"/providers/MICROSOFT.Storage/storageAccounts/S1"), "/providers/Microsoft.Authorization/roleDefinitions/role", "p1"); same != name {
		t.Errorf("the same scope, role and principal: %s and %s", name, same)
	}
	if other := azure.StableRoleAssignmentName(scope, "x/role", "p2"); other == name || len(other) != 36 {
		t.Errorf("another principal: %s", other)
	}
}
