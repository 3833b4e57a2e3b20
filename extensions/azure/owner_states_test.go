package azure_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/armature-io/armature/internal/extensionhost"
)

// TestOwnerStates checks that every child waits for an owner that is stopped or busy,
// also where no check was written for its type.
func TestOwnerStates(t *testing.T) {
	t.Parallel()
	const provider = groupID + "/providers/"
	cases := map[string]struct {
		reason, child string
		path, state   string
		blocks        bool
	}{
		"MySQL database, stopped":        {"409 ServerUnavailableForOperation", "Microsoft.DBforMySQL/flexibleServers/s/databases/d", "state", "Stopped", true},
		"MySQL database, updating":       {"the server shows it in properties.state", "Microsoft.DBforMySQL/flexibleServers/s/databases/d", "state", "Updating", true},
		"MySQL database, disabled":       {"no request to it succeeds", "Microsoft.DBforMySQL/flexibleServers/s/databases/d", "state", "Disabled", true},
		"MySQL database, ready":          {"it accepts changes", "Microsoft.DBforMySQL/flexibleServers/s/databases/d", "state", "Ready", false},
		"PostgreSQL configuration":       {"400 ServerStoppedError", "Microsoft.DBforPostgreSQL/flexibleServers/s/configurations/c", "state", "Stopping", true},
		"PostgreSQL administrator":       {"the same server", "Microsoft.DBforPostgreSQL/flexibleServers/s/administrators/a", "state", "Inaccessible", true},
		"PostgreSQL administrator ready": {"it accepts changes", "Microsoft.DBforPostgreSQL/flexibleServers/s/administrators/a", "state", "Ready", false},
		"AKS pool, stopped":              {"no operations except for start", "Microsoft.ContainerService/managedClusters/k/agentPools/p", "powerState.code", "Stopped", true},
		"AKS pool, running":              {"it accepts changes", "Microsoft.ContainerService/managedClusters/k/agentPools/p", "powerState.code", "Running", false},
		"AKS pool, upgrading":            {"its provisioning state", "Microsoft.ContainerService/managedClusters/k/maintenanceConfigurations/default", "provisioningState", "Upgrading", true},
		"App certificate, upgrading":     {"a word that no other type has", "Microsoft.App/managedEnvironments/e/certificates/c", "provisioningState", "UpgradeRequested", true},
		"App certificate, ready":         {"it accepts changes", "Microsoft.App/managedEnvironments/e/certificates/c", "provisioningState", "Succeeded", false},
		"AKS maintenance, stopped":       {"any child, not only pools", "Microsoft.ContainerService/managedClusters/k/maintenanceConfigurations/default", "powerState.code", "Stopped", true},
		"Kusto assignment, stopped":      {"any child, not only databases", "Microsoft.Kusto/clusters/c/principalAssignments/p", "state", "Stopped", true},
		"Kusto assignment, starting":     {"busy", "Microsoft.Kusto/clusters/c/principalAssignments/p", "state", "Starting", true},
		"Kusto assignment, running":      {"it accepts changes", "Microsoft.Kusto/clusters/c/principalAssignments/p", "state", "Running", false},
		"Synapse Kusto pool, stopped":    {"the same service", "Microsoft.Synapse/workspaces/w/kustoPools/k/databases/d", "state", "Stopped", true},
		"Synapse SQL pool, paused":       {"it has no compute", "Microsoft.Synapse/workspaces/w/sqlPools/p/transparentDataEncryption/current", "status", "Paused", true},
		"unknown provider, scaling":      {"a general rule", "Contoso.Things/boxes/b/lids/l", "status", "Scaling", true},
		"unknown provider, creating":     {"a general rule", "Contoso.Things/boxes/b/lids/l", "resourceState", "Creating", true},
		"unknown provider, stopped":      {"not every stopped resource refuses its children", "Contoso.Things/boxes/b/lids/l", "state", "Stopped", false},
		"site, stopped":                  {"a stopped site takes settings", "Microsoft.Web/sites/s/config/web", "state", "Stopped", false},
		"unknown word":                   {"a new word of Azure never blocks for ever", "Contoso.Things/boxes/b/lids/l", "state", "Sparkling", false},
	}
	registry := builtIn(t)
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			id := mustID(t, provider+c.child)
			body := fmt.Sprintf(`{"properties":{%q:%q}}`, c.path, c.state)
			if outer, inner, nested := strings.Cut(c.path, "."); nested {
				body = fmt.Sprintf(`{"properties":{%q:{%q:%q}}}`, outer, inner, c.state)
			}
			request := extensionhost.Request{Object: object(t, id.String(), `{}`, ""), Owner: object(t, id.Owner().String(), "", body)}
			verdict := registry.CheckOwner(t.Context(), request)
			if verdict.Stops() != c.blocks {
				t.Errorf("%s: got %+v, want blocked %t", c.reason, verdict, c.blocks)
			}
			if c.blocks && !strings.Contains(verdict.Message, c.state) {
				t.Errorf("the message does not name the state %q: %s", c.state, verdict.Message)
			}
		})
	}
}
