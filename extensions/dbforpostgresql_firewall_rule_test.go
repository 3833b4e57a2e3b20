package extensions_test

import (
	"testing"

	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/extensions/extensiontest"
	"github.com/armature-io/armature/resource"
)

const firewallRuleID = serverID + "/firewallRules/r1"

func firewallRuleSuite() extensiontest.Suite {
	return extensiontest.Suite{
		Entry: extensions.Entry{Type: extensions.PostgreSQLFirewallRuleType, Link: extensions.PostgreSQLFirewallRule{}}, ID: firewallRuleID, Owner: pgOwner(),
	}
}

func TestFirewallRuleStates(t *testing.T) {
	a := newAzure(t)
	followServer(a, firewallRuleID)
	const body = `{"properties":{"startIpAddress":"203.0.113.1","endIpAddress":"203.0.113.1"}}`
	a.made(firewallRuleID, body)
	a.want("made", a.preCheck(firewallRuleID, body), resource.ActionSkip, "In sync")
	if !a.registry.Leaf(extensions.PostgreSQLFirewallRuleType) {
		t.Error("nothing waits for a firewall rule, so nobody has to be woken")
	}
}
