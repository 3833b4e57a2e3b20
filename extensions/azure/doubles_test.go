package azure_test

import (
	"testing"

	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/extensions/azure"
	"github.com/armature-io/armature/extensions/extensiontest"
	"github.com/armature-io/armature/internal/extensionhost"
	"github.com/armature-io/armature/resource"
)

const (
	groupID    = "/subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/rg1"
	clusterID  = groupID + "/providers/Microsoft.Kusto/clusters/c1"
	databaseID = clusterID + "/databases/db1"
	storageID  = groupID + "/providers/Microsoft.Storage/storageAccounts/s1"
	roleID     = storageID + "/providers/Microsoft.Authorization/roleAssignments/r1"
)

// builtIn returns a registry of the extensions that Armature ships with.
func builtIn(t *testing.T) *extensionhost.Registry {
	t.Helper()
	registry, err := extensionhost.New(azure.BuiltIn()...)
	if err != nil {
		t.Fatal(err)
	}
	return registry
}

// checkOf returns the built-in entry that checks a type.
func checkOf(armType string) extensions.Entry {
	for _, entry := range azure.BuiltIn() {
		if entry.Type == armType && (isCheck(entry.Link) || entry.Facts.Checks != nil) {
			return entry
		}
	}
	return extensions.Entry{}
}

// isCheck reports whether a link implements one of the three checks.
func isCheck(link any) bool {
	switch link.(type) {
	case extensions.PreReconciliationOwnerChecker, extensions.PreReconciliationChecker, extensions.PostReconciliationChecker:
		return true
	}
	return false
}

func mustID(t *testing.T, text string) resource.ID {
	t.Helper()
	return extensiontest.ID(t, text)
}

// object returns a resource with a desired and an observed body; "" means none.
func object(t *testing.T, id, desired, observed string) *resource.Object {
	t.Helper()
	return extensiontest.Object(t, id, desired, observed)
}
