package types_test

import (
	"testing"

	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/types"
)

//guard:creations-are-not-repeated
func TestOneShotOf(t *testing.T) {
	cases := map[string]struct {
		reason, resourceType, path string
		want                       bool
	}{
		"mode":                   {"it selects how a database is made", "Microsoft.Sql/servers/databases", "properties.createMode", true},
		"letter case":            {"types and properties ignore it", "microsoft.sql/SERVERS/databases", "properties.CREATEMODE", true},
		"point in time":          {"it belongs to the mode", "Microsoft.Sql/servers/databases", "properties.restorePointInTime", true},
		"source":                 {"the mode copies from it", "Microsoft.DBforPostgreSQL/flexibleServers", "properties.sourceServerResourceId", true},
		"mode of an instance":    {"a mode has a longer name in some types", "Microsoft.Sql/managedInstances", "properties.managedInstanceCreateMode", true},
		"inside":                 {"the mode of a container is nested", "Microsoft.DocumentDB/databaseAccounts/sqlDatabases", "properties.resource.restoreParameters", true},
		"restore":                {"the service ignores everything else beside it", "Microsoft.ApiManagement/service", "properties.restore", true},
		"setting":                {"the size stays", "Microsoft.Sql/servers/databases", "properties.maxSizeBytes", false},
		"source that identifies": {"a protected item names what it protects; its mode only recovers", "Microsoft.RecoveryServices/vaults/backupFabrics/protectionContainers/protectedItems", "properties.sourceResourceId", false},
		"recovery model":         {"a setting of the database", "Microsoft.AzureArcData/sqlServerInstances/databases", "properties.recoveryMode", false},
		"required":               {"a disk without its creation data is refused", "Microsoft.Compute/disks", "properties.creationData", false},
		"source without a mode":  {"nothing shows that only a creation uses it", "Microsoft.Compute/images", "properties.sourceVirtualMachine", false},
		"unpublished":            {"nothing is known", "Contoso.Things/things", "properties.createMode", false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			path, err := resource.ParsePath(c.path)
			if err != nil {
				t.Fatal(err)
			}
			if got := types.OneShotOf(c.resourceType, types.Newest(c.resourceType)).Contain(path); got != c.want {
				t.Errorf("%s: %v", c.reason, got)
			}
		})
	}
}
