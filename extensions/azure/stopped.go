package azure

import "github.com/armature-io/armature/extensions"

// stoppedStates returns the states in which a PUT would start a stopped resource
// or be refused. A virtual machine is not among them: its GET does not show its
// power state, and a PUT leaves a deallocated one as it is. Nor are types that
// are stopped to be changed (a stream job, a trigger) and types that a PUT leaves
// stopped (a web site).
func stoppedStates() []extensions.Entry {
	at := func(path, start string) []extensions.StoppedState {
		return []extensions.StoppedState{{Path: path, State: "Stopped", Start: start}}
	}
	return []extensions.Entry{
		{
			Type: extensions.AllTypes, Stopped: at("properties.powerState.code", "with the start action of its type (az aks start, az aks nodepool start)"),
			Evidence: "AKS answers 400 OperationNotAllowed: stopped, no operations except for start are allowed; the shape is that of AKS, its pools, snapshots and fleets",
		},
		{
			Type: extensions.AllTypes, Stopped: at("properties.operationalState", "with the start action of its type (az network application-gateway start)"),
			Evidence: "MicrosoftDocs/azure-docs#107660: a PUT of a stopped application gateway starts it",
		},
		{
			Type: KustoClusterType, Stopped: at("properties.state", "with az kusto cluster start"),
			Evidence: "recorded: a stopped cluster takes no change and starts only by its action",
		},
		{
			Type: "Microsoft.Synapse/workspaces/kustoPools", Stopped: at("properties.state", "with az synapse kusto pool start"),
			Evidence: "the same service as Microsoft.Kusto/clusters",
		},
		{
			Type: PostgreSQLFlexibleServerType, Stopped: at(postgreSQLState, "with az postgres flexible-server start"),
			Evidence: "turbot/steampipe-plugin-azure#1015: 400 ServerStoppedError",
		},
		{
			Type: "Microsoft.DBforMySQL/flexibleServers", Stopped: at("properties.state", "with az mysql flexible-server start"),
			Evidence: "turbot/steampipe-plugin-azure#859: 409 ServerUnavailableForOperation, cannot be performed as the server is in state Stopped",
		},
		{
			Type: "Microsoft.AppPlatform/Spring", Stopped: at("properties.powerState", "with az spring start"),
			Evidence: "learn.microsoft.com, start or stop an Azure Spring Apps instance: a stopped one takes no operation but start and delete",
		},
	}
}
