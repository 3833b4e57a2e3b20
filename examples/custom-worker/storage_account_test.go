package main

import (
	"testing"

	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/extensions/extensiontest"
)

func TestStorageAccount(t *testing.T) {
	extensiontest.Run(t, extensiontest.Suite{
		Entry: extensions.Entry{Type: StorageAccountType, Link: StorageAccount{}},
		ID:    "/subscriptions/s/resourceGroups/rg/providers/Microsoft.Storage/storageAccounts/s1",
		Post: []extensiontest.States{{
			Path: "properties.statusOfSecondary", Block: []string{"unavailable"}, Pass: []string{"available"},
			Message: "The secondary location of the storage account is %s", Exact: true,
		}},
	})
}
