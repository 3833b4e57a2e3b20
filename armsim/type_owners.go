package armsim

// ownerRow is a switch and the values that belong to Azure while it is on.
type ownerRow struct {
	typePattern string // glob over the lower-cased type of the resource with the values
	holder      switchHolder
	// path is where the switch is in its holder, and on are the values that switch it on.
	path  string
	on    []string
	moves ownerMoves
	// values are the paths that change: of a swap the two that are exchanged, otherwise
	// the one that a request names, and those that follow it.
	values []string
	// minimum and maximum are the paths of the limits in the holder, if it has any.
	minimum, maximum string
	// source is where the switch and its values are public.
	source string
}

// switchHolder says which resource has the switch.
type switchHolder int

const (
	itself        switchHolder = iota
	parentHolder               // the resource above
	settingHolder              // an autoscale setting whose target is the resource
)

// ownerMoves says how an owner changes its values.
type ownerMoves int

const (
	floats  ownerMoves = iota // up and down
	atLeast                   // up only
	swaps
)

const autoscaleType = "microsoft.insights/autoscalesettings"

// ownerRows returns the table. Of several profiles of an autoscale setting the first one
// has the limits.
func ownerRows() []ownerRow {
	const (
		servers     = "microsoft.dbfor*sql/flexibleservers"
		upgradeDocs = "learn.microsoft.com, AKS, \"Automatically upgrade a cluster\": the control plane and all pools"
		imageDocs   = "learn.microsoft.com, AKS, \"Auto-upgrade node OS images\""
	)
	channels := []string{"patch", "stable", "rapid"}
	return []ownerRow{
		{typePattern: "*", holder: settingHolder, path: "properties.enabled", on: []string{"true"}, values: []string{"sku.capacity"},
			minimum: "properties.profiles[0].capacity.minimum", maximum: "properties.profiles[0].capacity.maximum",
			source: "learn.microsoft.com, Azure Monitor, Autoscale Settings - Create Or Update"},
		{typePattern: aksType + "/agentpools", path: "properties.enableAutoScaling", on: []string{"true"}, values: []string{"properties.count"},
			minimum: "properties.minCount", maximum: "properties.maxCount", source: "learn.microsoft.com, AKS, \"Use the cluster autoscaler\""},
		{typePattern: aksType, path: "properties.autoUpgradeProfile.upgradeChannel", on: channels, moves: atLeast,
			values: []string{"properties.kubernetesVersion", "properties.currentKubernetesVersion"}, source: upgradeDocs},
		{typePattern: aksType + "/agentpools", holder: parentHolder, path: "properties.autoUpgradeProfile.upgradeChannel", on: channels, moves: atLeast,
			values: []string{"properties.orchestratorVersion", "properties.currentOrchestratorVersion"}, source: upgradeDocs},
		{typePattern: aksType + "/agentpools", holder: parentHolder, path: "properties.autoUpgradeProfile.nodeOSUpgradeChannel", on: []string{"NodeImage", "SecurityPatch"},
			values: []string{"properties.nodeImageVersion"}, source: imageDocs},
		{typePattern: aksType + "/agentpools", holder: parentHolder, path: "properties.autoUpgradeProfile.upgradeChannel", on: append([]string{"node-image"}, channels...),
			values: []string{"properties.nodeImageVersion"}, source: upgradeDocs + ", with their images"},
		{typePattern: "microsoft.eventhub/namespaces", path: "properties.isAutoInflateEnabled", on: []string{"true"}, moves: atLeast,
			values: []string{"sku.capacity"}, maximum: "properties.maximumThroughputUnits", source: "learn.microsoft.com, Event Hubs, \"Automatically scale up throughput units\": it does not scale down"},
		{typePattern: kustoClusterType, path: "properties.optimizedAutoscale.isEnabled", on: []string{"true"}, values: []string{"sku.capacity"},
			minimum: "properties.optimizedAutoscale.minimum", maximum: "properties.optimizedAutoscale.maximum",
			source: "learn.microsoft.com, Azure Data Explorer, \"Manage cluster horizontal scaling\""},
		{typePattern: servers, path: "properties.storage.autoGrow", on: []string{"Enabled"}, moves: atLeast, values: []string{"properties.storage.storageSizeGB"},
			source: "learn.microsoft.com, PostgreSQL and MySQL flexible servers, \"Storage autogrow\"; Altinn/dialogporten#4127"},
		{typePattern: "microsoft.dbformysql/flexibleservers", path: "properties.storage.autoIoScaling", on: []string{"Enabled"}, values: []string{"properties.storage.iops"},
			source: "learn.microsoft.com, MySQL flexible servers, \"Autoscale IOPS\""},
		{typePattern: servers, path: "properties.highAvailability.mode", on: []string{"ZoneRedundant"}, moves: swaps,
			values: []string{"properties.availabilityZone", "properties.highAvailability.standbyAvailabilityZone"},
			source: "hashicorp/terraform-provider-azurerm#13507, crossplane-contrib/provider-upjet-azure#1303"},
		{typePattern: "microsoft.documentdb/databaseaccounts", path: "properties.enableAutomaticFailover", on: []string{"true"}, moves: swaps,
			values: []string{"properties.locations[failoverPriority=0].failoverPriority", "properties.locations[failoverPriority=1].failoverPriority"},
			source: "learn.microsoft.com, Cosmos DB, \"Service-managed failover\""},
	}
}
