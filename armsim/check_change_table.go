package armsim

import "net/http"

// changeRows returns the table; the first row that refuses a body counts. A value without
// a row can be changed.
//
// Not in the table: maxSizeBytes of a SQL database, which may shrink down to the space in
// use (learn.microsoft.com, "Manage file space for databases"), and the simulator knows no
// space in use; customData of scale sets, which can be changed (learn.microsoft.com, "Custom
// data and cloud-init"); partitions of an event hub, which may grow; and the location, which
// checkLocation compares for every type.
func changeRows() []changeRow {
	var rows []changeRow
	for _, group := range [][]changeRow{diskChanges(), machineChanges(), aksChanges(), flexibleServerChanges(), storageChanges(), serviceBusChanges(), networkSKUs(), otherChanges()} {
		rows = append(rows, group...)
	}
	return rows
}

func diskChanges() []changeRow {
	resized := changeRow{
		path: "properties.diskSizeGB", rule: noShrink, status: http.StatusConflict, code: "OperationNotAllowed",
		message: "The disk/snapshot resource with id {id} cannot be resized down. Reducing disk/snapshot size is not supported in Azure to prevent data loss. If you do need to reduce the size of the disk, please create new snapshot/disks with the appropriate size. More information is available at https://aka.ms/AzureDisksFAQ",
		source:  "MicrosoftDocs/azure-docs#57951 (words); kubernetes/kubernetes#64386 (status and code of another refused resize)",
	}
	snapshot := resized
	resized.typePattern, snapshot.typePattern = "microsoft.compute/disks", "microsoft.compute/snapshots"
	reduced := changeRow{
		typePattern: machineType, rule: noShrink, status: http.StatusConflict, code: "ResizeDiskError",
		message: "Disk size reduction is not supported. Current size is {oldBytes} bytes, requested size is {newBytes} bytes.",
		source:  "yunionio/cloudpods, pkg/multicloud/azure/instance.go (code, words and target; the status is that of PropertyChangeNotAllowed)",
	}
	osDisk, dataDisk := reduced, reduced
	osDisk.path, osDisk.target = "properties.storageProfile.osDisk.diskSizeGB", "osDisk.diskSizeGB"
	dataDisk.path, dataDisk.target = "properties.storageProfile.dataDisks[lun].diskSizeGB", "dataDisk.diskSizeGB"
	return []changeRow{resized, snapshot, osDisk, dataDisk}
}

// machineChanges returns what Compute refuses with PropertyChangeNotAllowed.
func machineChanges() []changeRow {
	row := func(path, target, source string) changeRow {
		return changeRow{
			typePattern: machineType, path: "properties." + path, rule: immutable, status: http.StatusConflict, code: "PropertyChangeNotAllowed",
			message: "Changing property '{target}' is not allowed.", target: target, source: source,
		}
	}
	customData := row("osProfile.customData", "customData", "Azure/azure-sdk-for-node#2297 (409), Azure/azure-sdk-for-java#1912 (target; also if there was none)")
	customData.adding = true
	faultDomains := row("platformFaultDomainCount", "platformFaultDomainCount", "Azure/aks-engine#1530")
	faultDomains.typePattern = scaleSetType
	setFaults, setUpdates := faultDomains, row("platformUpdateDomainCount", "platformUpdateDomainCount", "hashicorp/terraform#10544")
	setFaults.source = setUpdates.source
	setFaults.typePattern, setUpdates.typePattern = "microsoft.compute/availabilitysets", "microsoft.compute/availabilitysets"
	return []changeRow{
		customData,
		row("osProfile.adminUsername", "osProfile.adminUsername", "Azure/azure-rest-api-specs#7823 (rule), Azure/azure-powershell#7621 (words)"),
		row("osProfile.linuxConfiguration.ssh.publicKeys", "linuxConfiguration.ssh.publicKeys", "hashicorp/terraform-provider-azurerm, compute/ssh_keys.go"),
		row("osProfile.windowsConfiguration.additionalUnattendContent", "windowsConfiguration.additionalUnattendContent", "hashicorp/terraform-provider-azurerm, compute/shared_schema.go"),
		row("storageProfile.imageReference", "imageReference", "hashicorp/terraform#8796 (409), MicrosoftDocs/azure-docs#50922 (target)"),
		row("storageProfile.osDisk.createOption", "osDisk.createOption", "Azure/azure-powershell#7621"),
		row("storageProfile.dataDisks[lun].createOption", "dataDisk.createOption", "Azure/aks-engine#2563"),
		faultDomains, setFaults, setUpdates,
	}
}

// aksChanges returns the refusals of Azure Kubernetes Service, which sends them without
// ARM's envelope (hashicorp/terraform-provider-azurerm#23436).
func aksChanges() []changeRow {
	row := func(suffix, path, target, source string) changeRow {
		return changeRow{
			typePattern: aksType + suffix, path: "properties." + path, rule: immutable, status: http.StatusBadRequest, code: "PropertyChangeNotAllowed",
			message: "Changing property '{target}' is not allowed.", target: target, bare: true, source: source,
		}
	}
	const plugin = "kubernetes/autoscaler#1051 (status, code and words)"
	cluster := row("", "kubernetesVersion", "", "rancher/rancher#24071 (words); Azure/AKS#3831 (also to a version that was available)")
	cluster.rule, cluster.code = noDowngrade, "OperationNotAllowed"
	cluster.message = "Downgrading Kubernetes version {old} to {new} is not allowed. Please see https://aka.ms/aks-supported-k8s-ver for version details."
	pool := row("/agentpools", "orchestratorVersion", "", "kubernetes-sigs/cluster-api-provider-azure#1883")
	pool.rule, pool.code, pool.alone = noDowngrade, "AgentPoolUpgradeVersionNotAllowed", true
	pool.message = "Upgrade agent pool version from {old} to {new} is not allowed, you can only upgrade one minor version at a time. Please use [az aks get-upgrades] command to get the supported upgrade paths."
	return []changeRow{
		cluster, pool,
		row("", "dnsPrefix", "properties.dnsPrefix", plugin+", learn.microsoft.com, Managed Clusters - Create Or Update (\"cannot be updated once the Managed Cluster has been created\")"),
		row("", "networkProfile.serviceCidr", "networkProfile.serviceCidr", plugin+", MicrosoftDocs/azure-docs#97132"),
		row("", "servicePrincipalProfile.clientId", "servicePrincipalProfile.clientId", "Azure/azure-cli#24764"),
		row("/agentpools", "vmSize", "properties.vmSize", plugin+", learn.microsoft.com, \"Manage node pools\", limitations"),
		row("/agentpools", "osDiskSizeGB", "properties.osDiskSizeGB", plugin+", learn.microsoft.com, \"Manage node pools\""),
		row("/agentpools", "osType", "properties.osType", plugin+", learn.microsoft.com, \"Manage node pools\""),
	}
}

func flexibleServerChanges() []changeRow {
	const servers = "microsoft.dbfor*sql/flexibleservers"
	storage := changeRow{
		typePattern: servers, path: "properties.storage.storageSizeGB", rule: noShrink,
		code:    "UpsertServerManagementOperationDowngradeDiskSizeUnsupported",
		message: "Requested data Disk size '{newMB}' cannot be less than current size '{oldMB}'. Please make sure to request correct disk size. Refer to https://learn.microsoft.com/en-us/azure/postgresql/flexible-server/concepts-compute-storage for more details.",
		source:  "Altinn/dialogporten#4127 (code), astronomer/deploy-action#33 (words); MySQL refuses it too (hashicorp/terraform-provider-azurerm#25043), in words that are not public",
	}
	// The zones change in a failover: azurerm#13507, "confirmed with service team".
	zone := changeRow{
		typePattern: servers, path: "properties.availabilityZone", rule: exchangeOnly, with: "properties.highAvailability.standbyAvailabilityZone",
		status: http.StatusBadRequest, code: "InvalidParameterValue",
		message: "Invalid value given for parameter StandbyAvailabilityZone,availabilityZone. Specify a valid parameter value.",
		source:  "hashicorp/terraform-provider-azurerm#13507 (rule), Azure/azure-cli#32559 (code and words)",
	}
	standby := zone
	standby.path, standby.with = zone.with, zone.path
	login := changeRow{
		typePattern: "microsoft.sql/servers", path: "properties.administratorLogin", rule: immutable, status: http.StatusConflict, code: "InvalidParameterValue",
		message: "Invalid value given for parameter Login. Specify a valid parameter value.", source: "MicrosoftDocs/azure-docs#41639",
	}
	return []changeRow{storage, zone, standby, login}
}

// storageChanges: the account compares what is sent with what the creation stated, so that
// even false is refused if nothing was stated.
func storageChanges() []changeRow {
	row := func(path, name, source string) changeRow {
		return changeRow{
			typePattern: "microsoft.storage/storageaccounts", path: path, rule: immutable, adding: true,
			status: http.StatusConflict, code: "AccountPropertyCannotBeUpdated", target: name,
			message: "The property '{target}' was specified in the input, but it cannot be updated as it is read-only. For more information, see - https://aka.ms/storageaccountupdate",
			source:  source,
		}
	}
	kind := row("kind", "kind", "hashicorp/terraform-provider-azurerm#6580 (only an upgrade to StorageV2 is possible); the words are those of the other properties")
	kind.rule, kind.adding, kind.order = noDowngrade, false, []string{"Storage", "StorageV2"}
	return []changeRow{
		kind,
		row("properties.isHnsEnabled", "isHnsEnabled", "Azure-Samples/azure-search-openai-demo#1826"),
		row("properties.isNfsV3Enabled", "isNfsV3Enabled", "Azure/ResourceModules#3106"),
		row("properties.encryption.requireInfrastructureEncryption", "requireInfrastructureEncryption", "Azure/ResourceModules#4466"),
	}
}

// serviceBusChanges: what an entity is made for. The words are not public.
func serviceBusChanges() []changeRow {
	row := func(suffix, name string) changeRow {
		return changeRow{
			typePattern: "microsoft.servicebus/namespaces/" + suffix, path: "properties." + name, rule: immutable,
			status: http.StatusBadRequest, code: "BadRequest", target: name,
			message: "SubCode=40000. The value of the property '{target}' of an existing entity cannot be changed.",
			source:  "Azure/azure-rest-api-specs#16679 (rule), Particular/NServiceBus.AzureServiceBus#508 (400)",
		}
	}
	return []changeRow{
		row("queues", "requiresSession"), row("queues", "requiresDuplicateDetection"), row("queues", "enablePartitioning"),
		row("topics", "requiresDuplicateDetection"), row("topics", "enablePartitioning"), row("topics/subscriptions", "requiresSession"),
	}
}

// networkSKUs: a load balancer keeps its SKU, and a public IP address can be upgraded.
func networkSKUs() []changeRow {
	balancer := changeRow{
		typePattern: "microsoft.network/loadbalancers", path: "sku.name", rule: immutable, status: http.StatusBadRequest, code: "SkuCannotBeChangedOnUpdate",
		message: "Sku property is set at creation time and cannot be changed from {old} to {new} on resource update for resource {id}.",
		source:  "Azure/azure-cli#27806 (code and words, for an address), learn.microsoft.com, \"Azure Load Balancer SKUs\" (\"SKUs aren't mutable\")",
	}
	address := balancer
	address.typePattern, address.rule, address.order = "microsoft.network/publicipaddresses", noDowngrade, []string{"Basic", "Standard"}
	return []changeRow{balancer, address}
}

func otherChanges() []changeRow {
	return []changeRow{
		{
			typePattern: "microsoft.keyvault/vaults", path: "properties.enablePurgeProtection", rule: irreversible, status: http.StatusBadRequest, code: "BadRequest",
			message: `The property "enablePurgeProtection" cannot be set to false. Enabling the purge protection for a vault is an irreversible action.`,
			source:  "Azure/azure-rest-api-specs#18106",
		},
		{
			typePattern: "microsoft.documentdb/databaseaccounts/sqldatabases/containers", path: "properties.resource.partitionKey", rule: immutable,
			status: http.StatusBadRequest, code: "BadRequest", message: "Document collection partition key cannot be changed", source: "pulumi/pulumi-azure-native#562",
		},
		{
			typePattern: "microsoft.eventhub/namespaces/eventhubs", path: "properties.partitionCount", rule: noShrink,
			status: http.StatusBadRequest, code: "BadRequest", message: "SubCode=40000. PartitionCount cannot be changed for EventHub.",
			source: "hashicorp/terraform#19029 (words); MicrosoftDocs/azure-docs#113951 (no tier shrinks)",
		},
		{
			typePattern: "microsoft.cache/redis", path: "properties.sku.name", rule: noDowngrade, order: []string{"Basic", "Standard", "Premium"},
			status: http.StatusBadRequest, code: "BadRequest", target: "properties.sku.name",
			message: "The requested update to the resource is not permitted. The following properties(s) cannot be modified: '{target}'.",
			source:  "hashicorp/terraform-provider-azurerm#17767 (rule), Azure/azure-powershell#2294 (words)",
		},
	}
}
