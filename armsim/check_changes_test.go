package armsim_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/armature-io/armature/armsim"
)

// TestRefusedChanges puts a resource twice. The second body is refused, and nothing changes.
func TestRefusedChanges(t *testing.T) {
	machine := func(profile, storage string) string {
		return `{"location":"westus2","properties":{"osProfile":{` + profile + `},"storageProfile":{` + storage + `}}}`
	}
	for name, test := range map[string]struct {
		id, first, then, method string
		status                  int
		code, message           string // message is a part
		reason                  string
	}{
		"disk shrinks": {computeRP + "disks/d", `{"location":"westus2","properties":{"diskSizeGB":256}}`, `{"location":"westus2","properties":{"diskSizeGB":128}}`, "PUT",
			409, "OperationNotAllowed", "cannot be resized down", "data would be lost"},
		"disk shrinks by PATCH": {computeRP + "disks/d", `{"location":"westus2","properties":{"diskSizeGB":256}}`, `{"properties":{"diskSizeGB":128}}`, "PATCH",
			409, "OperationNotAllowed", "cannot be resized down", "the method does not matter"},
		"snapshot shrinks": {computeRP + "snapshots/d", `{"location":"westus2","properties":{"diskSizeGB":256}}`, `{"location":"westus2","properties":{"diskSizeGB":"128"}}`, "PUT",
			409, "OperationNotAllowed", "cannot be resized down", "a number in a text is a number"},
		"OS disk shrinks": {computeRP + "virtualMachines/m", machine("", `"osDisk":{"diskSizeGB":128}`), machine("", `"osDisk":{"diskSizeGB":31}`), "PUT",
			409, "ResizeDiskError", "Current size is 137438953472 bytes, requested size is 33285996544 bytes.", "as published"},
		"data disk shrinks": {computeRP + "virtualMachines/m", machine("", `"dataDisks":[{"lun":0,"diskSizeGB":8},{"lun":1,"diskSizeGB":16}]`),
			machine("", `"dataDisks":[{"lun":1,"diskSizeGB":8}]`), "PUT", 409, "ResizeDiskError", "17179869184", "items are compared by lun"},
		"customData": {computeRP + "virtualMachines/m", machine(`"customData":"YQ=="`, ""), machine(`"customData":"Yg=="`, ""), "PUT",
			409, "PropertyChangeNotAllowed", "Changing property 'customData' is not allowed.", "it is read at the first boot only"},
		"customData added": {computeRP + "virtualMachines/m", machine(``, ""), machine(`"customData":"Yg=="`, ""), "PUT",
			409, "PropertyChangeNotAllowed", "'customData'", "adding is a change"},
		"adminUsername": {computeRP + "virtualMachines/m", machine(`"adminUsername":"a"`, ""), machine(`"adminUsername":"b"`, ""), "PUT",
			409, "PropertyChangeNotAllowed", "adminUsername", "the account exists"},
		"image": {computeRP + "virtualMachines/m", machine("", `"imageReference":{"sku":"Stable","version":"latest"}`), machine("", `"imageReference":{"sku":"Beta"}`), "PUT",
			409, "PropertyChangeNotAllowed", "'imageReference'", "the disk was made from it"},
		"fault domains": {computeRP + "virtualMachineScaleSets/s", `{"location":"westus2","properties":{"platformFaultDomainCount":1}}`, `{"location":"westus2","properties":{"platformFaultDomainCount":5}}`, "PUT",
			409, "PropertyChangeNotAllowed", "platformFaultDomainCount", "placement is decided"},
		"cluster downgrade": {aks, `{"location":"westus2","properties":{"kubernetesVersion":"1.30.2"}}`, `{"location":"westus2","properties":{"kubernetesVersion":"1.29"}}`, "PUT",
			400, "OperationNotAllowed", "Downgrading Kubernetes version 1.30.2 to 1.29 is not allowed.", "no version of 1.29 is 1.30.2"},
		"pool downgrade": {pool, `{"properties":{"orchestratorVersion":"1.10.1"}}`, `{"properties":{"orchestratorVersion":"1.9.11"}}`, "PUT",
			400, "AgentPoolUpgradeVersionNotAllowed", "from 1.10.1 to 1.9.11", "versions are compared by number"},
		"size of a pool": {pool, `{"properties":{"vmSize":"Standard_D2s_v5"}}`, `{"properties":{"vmSize":"Standard_D4s_v5"}}`, "PUT",
			400, "PropertyChangeNotAllowed", "properties.vmSize", "the nodes exist"},
		"size of a pool in its cluster": {aks, `{"location":"westus2","properties":{"agentPoolProfiles":[{"name":"a","vmSize":"Standard_D2s_v5"}]}}`,
			`{"location":"westus2","properties":{"agentPoolProfiles":[{"name":"a","vmSize":"Standard_D4s_v5"}]}}`, "PUT",
			400, "PropertyChangeNotAllowed", "properties.vmSize", "the list contains the same pool"},
		"version of a pool in its cluster": {aks, `{"location":"westus2","properties":{"kubernetesVersion":"1.31.1","agentPoolProfiles":[{"name":"a","orchestratorVersion":"1.30.1"}]}}`,
			`{"location":"westus2","properties":{"kubernetesVersion":"1.31.1","agentPoolProfiles":[{"name":"a","orchestratorVersion":"1.29.1"}]}}`, "PUT",
			400, "NotAllAgentPoolOrchestratorVersionSpecifiedAndUnchanged", "unchanged or the same with control plane", "only the pool's own PUT changes it"},
		"version of one pool": {aks, `{"location":"westus2","properties":{"kubernetesVersion":"1.31.1","agentPoolProfiles":[{"name":"a"},{"name":"b"}]}}`,
			`{"location":"westus2","properties":{"kubernetesVersion":"1.31.1","agentPoolProfiles":[{"name":"a","orchestratorVersion":"1.31.6"},{"name":"b"}]}}`, "PUT",
			400, "NotAllAgentPoolOrchestratorVersionSpecifiedAndUnchanged", "all specified or all unspecified", "all or none"},
		"service CIDR": {aks, `{"location":"westus2","properties":{"networkProfile":{"serviceCidr":"10.1.0.0/16"}}}`, `{"location":"westus2","properties":{"networkProfile":{"serviceCidr":"10.2.0.0/16"}}}`, "PUT",
			400, "PropertyChangeNotAllowed", "networkProfile.serviceCidr", "services have its addresses"},
		"zone of a server": {postgres, `{"location":"westus2","properties":{"availabilityZone":"1"}}`, `{"location":"westus2","properties":{"availabilityZone":"2"}}`, "PUT",
			400, "InvalidParameterValue", "StandbyAvailabilityZone,availabilityZone", "without a standby there is nothing to exchange"},
		"zone of a standby": {postgres, `{"location":"westus2","properties":{"availabilityZone":"1","highAvailability":{"mode":"ZoneRedundant","standbyAvailabilityZone":"2"}}}`,
			`{"location":"westus2","properties":{"availabilityZone":"1","highAvailability":{"mode":"ZoneRedundant","standbyAvailabilityZone":"3"}}}`, "PUT",
			400, "InvalidParameterValue", "StandbyAvailabilityZone,availabilityZone", "it can only be exchanged"},
		"login of a SQL server": {group + "/providers/Microsoft.Sql/servers/s", `{"location":"westus2","properties":{"administratorLogin":"a"}}`, `{"location":"westus2","properties":{"administratorLogin":"b"}}`, "PUT",
			409, "InvalidParameterValue", "parameter Login", "the login exists"},
		"namespace of an account": {account, `{"location":"westus2","kind":"StorageV2","sku":{"name":"Standard_LRS"}}`, `{"location":"westus2","kind":"StorageV2","sku":{"name":"Standard_LRS"},"properties":{"isHnsEnabled":false}}`, "PUT",
			409, "AccountPropertyCannotBeUpdated", "The property 'isHnsEnabled' was specified in the input", "even if it is what an absent value means"},
		"kind of an account": {account, `{"location":"westus2","kind":"StorageV2","sku":{"name":"Standard_LRS"}}`, `{"location":"westus2","kind":"Storage","sku":{"name":"Standard_LRS"}}`, "PUT",
			409, "AccountPropertyCannotBeUpdated", "'kind'", "only upgrades are possible"},
		"purge protection": {group + "/providers/Microsoft.KeyVault/vaults/v", `{"location":"westus2","properties":{"enablePurgeProtection":true}}`, `{"location":"westus2","properties":{"enablePurgeProtection":false}}`, "PUT",
			400, "BadRequest", "irreversible", "it protects from its owner, too"},
		"partition key": {group + "/providers/Microsoft.DocumentDB/databaseAccounts/a/sqlDatabases/d/containers/c", `{"properties":{"resource":{"id":"c","partitionKey":{"paths":["/a"],"kind":"Hash","version":1}}}}`,
			`{"properties":{"resource":{"id":"c","partitionKey":{"paths":["/b"]}}}}`, "PUT", 400, "BadRequest", "partition key cannot be changed", "the data is distributed by it"},
		"partitions": {group + "/providers/Microsoft.EventHub/namespaces/n/eventhubs/e", `{"properties":{"partitionCount":8}}`, `{"properties":{"partitionCount":4}}`, "PUT",
			400, "BadRequest", "PartitionCount cannot be changed", "they contain events"},
		"sessions of a queue": {group + "/providers/Microsoft.ServiceBus/namespaces/n/queues/q", `{"properties":{"requiresSession":true}}`, `{"properties":{"requiresSession":false}}`, "PUT",
			400, "BadRequest", "'requiresSession'", "its messages have sessions"},
		"tier of a cache": {group + "/providers/Microsoft.Cache/redis/r", `{"location":"westus2","properties":{"sku":{"name":"Standard"}}}`, `{"location":"westus2","properties":{"sku":{"name":"basic"}}}`, "PUT",
			400, "BadRequest", "cannot be modified: 'properties.sku.name'", "tiers only go up"},
		"location": {computeRP + "disks/d", `{"location":"westus2","properties":{"diskSizeGB":256}}`, `{"location":"eastus","properties":{"diskSizeGB":256}}`, "PUT",
			409, "InvalidResourceLocation", "already exists in location", "for every type"},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHarness(t, armsim.Options{})
			if err := h.Put(test.id, decode(t, test.first)); err != nil {
				t.Fatal(err)
			}
			before := h.do("GET", test.id+version, "").raw
			got := h.do(test.method, test.id+version, test.then)
			body := got.body
			if inner, enveloped := body["error"].(map[string]any); enveloped {
				body = inner
			}
			message, _ := body["message"].(string)
			if got.status != test.status || body["code"] != test.code || !strings.Contains(message, test.message) {
				t.Errorf("want %d %s with %q, since %s; got %d %s", test.status, test.code, test.message, test.reason, got.status, got.raw)
			}
			if diff := cmp.Diff(before, h.do("GET", test.id+version, "").raw); diff != "" {
				t.Errorf("a refused %s changes the resource (-before +after)\n%s", test.method, diff)
			}
		})
	}
}

// TestAcceptedChanges puts a resource twice. The second body is accepted.
func TestAcceptedChanges(t *testing.T) {
	for name, test := range map[string]struct{ id, first, then, reason string }{
		"disk grows":              {computeRP + "disks/d", `{"location":"westus2","properties":{"diskSizeGB":128}}`, `{"location":"westus2","properties":{"diskSizeGB":256}}`, "growth is possible"},
		"disk size omitted":       {computeRP + "disks/d", `{"location":"westus2","properties":{"diskSizeGB":128}}`, `{"location":"westus2"}`, "nothing is stated"},
		"minor version":           {aks, `{"location":"westus2","properties":{"kubernetesVersion":"1.29.4"}}`, `{"location":"westus2","properties":{"kubernetesVersion":"1.29"}}`, "1.29.4 is a 1.29"},
		"pools follow":            {aks, `{"location":"westus2","properties":{"kubernetesVersion":"1.30.1","agentPoolProfiles":[{"name":"a","orchestratorVersion":"1.30.1"}]}}`, `{"location":"westus2","properties":{"kubernetesVersion":"1.31.1","agentPoolProfiles":[{"name":"a","orchestratorVersion":"1.31.1"}]}}`, "the same with the control plane"},
		"failover":                {postgres, `{"location":"westus2","properties":{"availabilityZone":"1","highAvailability":{"mode":"ZoneRedundant","standbyAvailabilityZone":"2"}}}`, `{"location":"westus2","properties":{"availabilityZone":"2","highAvailability":{"mode":"ZoneRedundant","standbyAvailabilityZone":"1"}}}`, "both zones are exchanged"},
		"high availability":       {postgres, `{"location":"westus2","properties":{"availabilityZone":"1"}}`, `{"location":"westus2","properties":{"availabilityZone":"1","highAvailability":{"mode":"ZoneRedundant","standbyAvailabilityZone":"3"}}}`, "there was no standby"},
		"kind of an account":      {account, `{"location":"westus2","kind":"Storage","sku":{"name":"Standard_LRS"}}`, `{"location":"westus2","kind":"StorageV2","sku":{"name":"Standard_LRS"}}`, "an upgrade"},
		"namespace as created":    {account, `{"location":"westus2","kind":"StorageV2","sku":{"name":"Standard_LRS"},"properties":{"isHnsEnabled":true}}`, `{"location":"westus2","kind":"StorageV2","sku":{"name":"Standard_LRS"},"properties":{"isHnsEnabled":true}}`, "no change"},
		"letter case of an image": {computeRP + "virtualMachines/m", `{"location":"westus2","properties":{"storageProfile":{"imageReference":{"sku":"Stable","version":"latest"}}}}`, `{"location":"westus2","properties":{"storageProfile":{"imageReference":{"sku":"stable"}}}}`, "names have no letter case"},
		"partition key":           {group + "/providers/Microsoft.DocumentDB/databaseAccounts/a/sqlDatabases/d/containers/c", `{"properties":{"resource":{"id":"c","partitionKey":{"paths":["/a"],"kind":"Hash","version":1}}}}`, `{"properties":{"resource":{"id":"c","partitionKey":{"paths":["/a"]}}}}`, "the server added the rest"},
		"other data disk":         {computeRP + "virtualMachines/m", `{"location":"westus2","properties":{"storageProfile":{"dataDisks":[{"lun":0,"diskSizeGB":8}]}}}`, `{"location":"westus2","properties":{"storageProfile":{"dataDisks":[{"lun":1,"diskSizeGB":4}]}}}`, "it is another disk"},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHarness(t, armsim.Options{})
			if err := h.Put(test.id, decode(t, test.first)); err != nil {
				t.Fatal(err)
			}
			if got := h.do("PUT", test.id+version, test.then); got.status > 202 {
				t.Errorf("refused although %s: %s", test.reason, got.raw)
			}
		})
	}
}

// TestShrinkFailsInOperation checks that a flexible server accepts a shrink, whose
// operation fails, and that it keeps a size which is omitted.
func TestShrinkFailsInOperation(t *testing.T) {
	h := newHarness(t, armsim.Options{})
	for _, id := range []string{postgres, strings.Replace(postgres, "PostgreSQL", "MySQL", 1)} {
		if err := h.Put(id, decode(t, `{"location":"westus2","properties":{"storage":{"storageSizeGB":64}}}`)); err != nil {
			t.Fatal(err)
		}
		got := h.do("PUT", id+version, `{"location":"westus2","properties":{"storage":{"storageSizeGB":32}}}`)
		h.want(got, 202, "")
		h.pass(time.Hour)
		status := h.do("GET", got.header.Get("Azure-AsyncOperation"), "")
		h.wantAt(status, "status", "Failed")
		h.wantAt(status, "error.code", "UpsertServerManagementOperationDowngradeDiskSizeUnsupported")
		if message, _ := status.at("error.message").(string); !strings.HasPrefix(message, "Requested data Disk size '32768' cannot be less than current size '65536'.") {
			t.Errorf("message %q", message)
		}
		h.want(h.do("PUT", id+version, located), 202, "")
		h.pass(time.Hour)
		h.wantAt(h.do("GET", id+version, ""), "properties.storage.storageSizeGB", 64)
	}
}
