package cli

import (
	"testing"

	"github.com/armature-io/armature/resource"
)

func TestKind(t *testing.T) {
	for typeName, tc := range map[string]struct{ reason, want string }{
		"Microsoft.Kusto/clusters":                         {reason: "the rule", want: "kusto cluster"},
		"Microsoft.Storage/storageAccounts":                {reason: "the type includes the provider", want: "storage account"},
		"Microsoft.Storage/storageAccount":                 {reason: "a typo stays visible", want: "Microsoft.Storage/storageAccount"},
		"Microsoft.DBforPostgreSQL/flexibleServers":        {reason: "Microsoft's product", want: "PostgreSQL flexible server"},
		"Microsoft.DBforMySQL/flexibleServers":             {reason: "Microsoft's product", want: "MySQL flexible server"},
		"Microsoft.ContainerService/managedClusters":       {reason: "a row of its own", want: "AKS cluster"},
		"Microsoft.OperationalInsights/workspaces":         {reason: "Microsoft's product", want: "Log Analytics workspace"},
		"Microsoft.KeyVault/vaults":                        {reason: "the product once", want: "key vault"},
		"Microsoft.Network/virtualNetworks":                {reason: "the provider adds nothing", want: "virtual network"},
		"Microsoft.Network/publicIPAddresses":              {reason: "an acronym", want: "public ip address"},
		"Microsoft.ServiceBus/namespaces":                  {reason: "Microsoft's product", want: "Service Bus namespace"},
		"Microsoft.ManagedIdentity/userAssignedIdentities": {reason: "a row of its own", want: "managed identity"},
	} {
		id, err := resource.ParseID("/subscriptions/11111111-2222-3333-4444-555555555555/resourceGroups/rg1/providers/" + typeName + "/x")
		if err != nil {
			t.Fatal(err)
		}
		if got := Kind(id); got != tc.want {
			t.Errorf("%s: %q, want %q: %s", typeName, got, tc.want, tc.reason)
		}
	}
}
