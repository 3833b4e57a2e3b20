package azure

import "github.com/armature-io/armature/extensions"

// ownerStates returns the states of resources in which ARM refuses changes of their
// children, besides an operation in their provisioning state and the states of
// stoppedStates. The checks of some child types look at the same states for messages of
// their own.
func ownerStates() []extensions.Entry {
	at := func(path string, states ...string) []extensions.BlockingState {
		return []extensions.BlockingState{{Path: path, States: states}}
	}
	return []extensions.Entry{
		{
			Type: extensions.AllTypes,
			BlocksChildren: []extensions.BlockingState{
				{Path: "properties.state"}, {Path: "properties.status"}, {Path: "properties.resourceState"},
			},
			Evidence: "published types: services with a life cycle of their own (Kusto, MySQL, PostgreSQL, Synapse pools, Event Hubs, Front Door, Redis Enterprise) " +
				"report Creating, Updating, Starting or Stopping here while the provisioning state is absent or Succeeded",
		},
		{
			Type:           PostgreSQLFlexibleServerType,
			BlocksChildren: []extensions.BlockingState{{Path: postgreSQLState, Settled: postgreSQLSettled()}},
			Evidence:       "turbot/steampipe-plugin-azure#1015: 400 ServerStoppedError for configurations of a server that is Stopping, Stopped or Updating",
		},
		{
			Type:           "Microsoft.DBforMySQL/flexibleServers",
			BlocksChildren: at("properties.state", "Disabled"),
			Evidence:       "the states of its published type; turbot/steampipe-plugin-azure#859: 409 ServerUnavailableForOperation for configurations of a stopped server",
		},
		{
			Type: "Microsoft.App/managedEnvironments",
			Busy: []extensions.BlockingState{{Path: "properties.provisioningState", States: []string{
				"Waiting", "InitializationInProgress", "InfrastructureSetupInProgress", "InfrastructureSetupComplete", "UpgradeRequested", "ScheduledForDelete",
			}}},
			Evidence: "the states of its published type: those of an operation have words of their own, which no other type uses",
		},
		{
			Type:           "Microsoft.Synapse/workspaces/sqlPools",
			BlocksChildren: at("properties.status", "Paused", "Pausing"),
			Evidence:       "learn.microsoft.com, pause and resume a dedicated SQL pool: a paused pool has no compute that could run a change",
		},
	}
}
