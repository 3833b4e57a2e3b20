package rules_test

import (
	"strings"
	"testing"

	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/extensions/azure"
	"github.com/armature-io/armature/extensions/extensiontest"
	"github.com/armature-io/armature/extensions/rules"
	"github.com/armature-io/armature/internal/extensionhost"
	"github.com/armature-io/armature/resource"
)

// exampleFolders are the folders with rules that users copy.
func exampleFolders() []string {
	return []string{"../../examples/rules/systems", "../../examples/rules/readiness", "../../examples/rules/lists"}
}

// TestExamples checks that the examples have no issue and no warning, and that each of
// their tests passes.
func TestExamples(t *testing.T) {
	for _, folder := range exampleFolders() {
		_, warnings, err := rules.Check(folder)
		if err != nil || len(warnings) > 0 {
			t.Errorf("%s: %v %v", folder, err, warnings)
		}
		outcomes, _, err := rules.Test(t.Context(), folder)
		if err != nil || len(outcomes) == 0 {
			t.Errorf("%s: %d tests, %v", folder, len(outcomes), err)
		}
		for _, outcome := range outcomes {
			if outcome.Failure != "" {
				t.Errorf("%s: %s: %s %v", outcome.Position, outcome.Case.Name, outcome.Failure, outcome.Seen)
			}
		}
	}
}

// linkOf returns one rule of a folder as an entry.
func linkOf(t *testing.T, folder, resourceType, name string) extensions.Entry {
	t.Helper()
	set, _, err := rules.Load(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, link := range set.Links(resourceType) {
		if named, ok := link.(extensions.Named); ok && strings.HasPrefix(named.ExtensionName(), "rule "+name+" (") {
			return extensions.Entry{Type: resourceType, Link: link}
		}
	}
	t.Fatalf("%s has no rule %s for %s", folder, name, resourceType)
	return extensions.Entry{}
}

// The kit for checks in Go tries the rules of systems too: with other owners, absent and
// odd states, states in other letters, and errors.
func TestSystemsInTheKit(t *testing.T) {
	const (
		folder   = "../../examples/rules/systems"
		cache    = group + "Microsoft.Cache/redis/a"
		peer     = group + "Microsoft.Cache/redis/b"
		app      = group + "Microsoft.App/containerApps/app"
		env      = group + "Microsoft.App/managedEnvironments/env"
		server   = group + "Microsoft.Sql/servers/a"
		partner  = group + "Microsoft.Sql/servers/b"
		inPeer   = `{"properties":{"linkedRedisCacheId":"` + peer + `"}}`
		inEnv    = `{"properties":{"environmentId":"` + env + `"}}`
		partners = `{"properties":{"replicationRole":"Primary","partnerServers":[{"id":"` + partner + `"}]}}`
	)
	sku := extensiontest.States{Path: "properties.sku.name", Block: []string{"Basic", "Standard"}, Pass: []string{"Premium"}, AbsentBlocks: true, Severity: resource.SeverityError}
	owned, linked := sku, sku
	owned.Reason, linked.Reason, linked.Of = "CacheNotPremium", "CacheNotLinkable", peer
	suites := map[string]extensiontest.Suite{
		"redis-link-owner": {ID: cache + "/linkedServers/b", Owner: []extensiontest.States{owned}},
		"redis-link-peer": {
			ID: cache + "/linkedServers/b", Desired: inPeer, Self: []extensiontest.States{linked}, IgnoresForce: true,
			Resources: map[string]string{peer: `{"id":"` + peer + `","name":"b"}`},
		},
		"app-environment": {
			ID: app, Desired: inEnv, IgnoresForce: true, Resources: map[string]string{env: `{}`},
			Self: []extensiontest.States{{
				Path: "properties.provisioningState", Of: env, Block: []string{"Updating", "Failed"}, Pass: []string{"Succeeded"}, Reason: resource.ReasonReferenceNotReady,
			}},
		},
		"app-revision": {
			ID: app, Observed: `{"properties":{"latestRevisionName":"app--2"}}`,
			Post: []extensiontest.States{{Path: "properties.latestReadyRevisionName", Block: []string{"app--1"}, Pass: []string{"app--2"}, AbsentBlocks: true, Exact: true}},
		},
		"failover-group-server": {
			ID: server + "/failoverGroups/g", Owner: []extensiontest.States{{Path: "properties.state", Block: []string{"Disabled"}, Pass: []string{"Ready"}}},
		},
		"failover-group-partner-state": {
			ID: server + "/failoverGroups/g", Desired: partners, IgnoresForce: true, Resources: map[string]string{partner: `{"name":"b"}`},
			Self: []extensiontest.States{{Path: "properties.state", Of: partner, Block: []string{"Disabled"}, Pass: []string{"Ready"}}},
		},
		"failover-group-replicates": {
			ID: server + "/failoverGroups/g", Observed: partners,
			Resources: map[string]string{partner + "/failoverGroups/g": `{"properties":{"replicationRole":"Secondary"}}`},
			Post:      []extensiontest.States{{Path: "properties.replicationState", Block: []string{"SEEDING", "PENDING"}, Pass: []string{"CATCH_UP"}}},
		},
	}
	for name, suite := range suites {
		t.Run(name, func(t *testing.T) {
			suite.Entry = linkOf(t, folder, extensiontest.ID(t, suite.ID).Type(), name)
			extensiontest.Run(t, suite)
		})
	}
}

// An app waits for an environment in a state that only environments have: the words are
// facts of the type, which a read honours.
func TestAppWaitsForUpgrade(t *testing.T) {
	const env = group + "Microsoft.App/managedEnvironments/env"
	set, _, err := rules.Load("../../examples/rules/systems")
	if err != nil {
		t.Fatal(err)
	}
	r, err := extensionhost.New(append(azure.BuiltIn(), set.Entry())...)
	if err != nil {
		t.Fatal(err)
	}
	got := r.PreCheck(t.Context(), extensionhost.Request{
		Object:   extensiontest.Object(t, group+"Microsoft.App/containerApps/app", `{"properties":{"environmentId":"`+env+`"}}`, ""),
		Resolver: &extensiontest.Resolver{Resources: map[string]string{env: `{"properties":{"provisioningState":"UpgradeRequested"}}`}},
	})
	if got.Action != resource.ActionBlock || !strings.Contains(got.Message, `is not ready: properties.provisioningState is "UpgradeRequested"`) {
		t.Errorf("got %+v", got)
	}
}
