package azure_test

import (
	"testing"

	"github.com/armature-io/armature/extensions/extensiontest"
	"github.com/armature-io/armature/resource"
)

const firewallRuleID = serverID + "/firewallRules/r1"

func firewallRuleSuite() extensiontest.Suite {
	return extensiontest.Suite{
		Entry: checkOf("Microsoft.DBforPostgreSQL/flexibleServers/firewallRules"), ID: firewallRuleID, Owner: pgOwner(),
	}
}

func TestFirewallRuleStates(t *testing.T) {
	a := newSimulation(t)
	followServer(a, firewallRuleID)
	const body = `{"properties":{"startIpAddress":"203.0.113.1","endIpAddress":"203.0.113.1"}}`
	a.made(firewallRuleID, body)
	a.want("made", a.preCheck(firewallRuleID, body), resource.ActionSkip, "In sync")
	if !a.registry.Leaf("Microsoft.DBforPostgreSQL/flexibleServers/firewallRules") {
		t.Error("nothing waits for a firewall rule, so there is nothing to wake")
	}
}
