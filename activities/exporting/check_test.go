package exporting

import "testing"

// TestDisables checks that local accounts are those of the admin credential alone.
func TestDisables(t *testing.T) {
	t.Parallel()
	if disables("properties.disableLocalAccounts", "listClusterUserCredential") || !disables("properties.disableLocalAccounts", "listClusterAdminCredential") {
		t.Error("local accounts are those of the admin credential")
	}
}
