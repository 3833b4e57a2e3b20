package activities

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/activities/writing"
	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/extensions/azure"
	"github.com/armature-io/armature/resource"
)

// neverRecreated are types that are not recreated by default, with the loss that the
// verdict names. The test holds each row of the table, and types of providers that no
// row names.
func neverRecreated() map[string]extensions.Loss {
	const (
		data, identity, rights = extensions.LossData, extensions.LossIdentity, extensions.LossRights
		credentials, money     = extensions.LossCredentials, extensions.LossMoney
		expires, runs, address = extensions.LossExpires, extensions.LossRuns, extensions.LossAddress
	)
	types := map[string]extensions.Loss{}
	for loss, list := range map[extensions.Loss]string{
		data: `Microsoft.Storage/storageAccounts Microsoft.Storage/storageAccounts/blobServices/containers Microsoft.Storage/storageAccounts/fileServices/shares
			Microsoft.Storage/storageAccounts/queueServices/queues Microsoft.Storage/storageAccounts/tableServices/tables Microsoft.KeyVault/vaults Microsoft.KeyVault/managedHSMs
			Microsoft.CognitiveServices/accounts Microsoft.ApiManagement/service Microsoft.AppConfiguration/configurationStores Microsoft.MachineLearningServices/workspaces
			Microsoft.OperationalInsights/workspaces Microsoft.OperationalInsights/workspaces/tables Microsoft.Insights/components Microsoft.Sql/servers Microsoft.Sql/servers/databases
			Microsoft.Sql/managedInstances Microsoft.Sql/managedInstances/databases Microsoft.DBforPostgreSQL/flexibleServers Microsoft.DBforPostgreSQL/flexibleServers/databases
			Microsoft.DBforMySQL/flexibleServers Microsoft.DBforMySQL/flexibleServers/databases Microsoft.DocumentDB/databaseAccounts Microsoft.DocumentDB/mongoClusters
			Microsoft.DocumentDB/cassandraClusters Microsoft.DocumentDB/cassandraClusters/dataCenters Microsoft.Kusto/clusters Microsoft.Kusto/clusters/databases Microsoft.Synapse/workspaces
			Microsoft.Synapse/workspaces/sqlPools Microsoft.Databricks/workspaces Microsoft.HDInsight/clusters Microsoft.ContainerService/managedClusters Microsoft.RedHatOpenShift/openShiftClusters
			Microsoft.ContainerRegistry/registries Microsoft.Compute/disks Microsoft.Compute/snapshots Microsoft.Compute/images Microsoft.Compute/galleries Microsoft.Compute/virtualMachines
			Microsoft.Compute/virtualMachineScaleSets Microsoft.NetApp/netAppAccounts/capacityPools/volumes Microsoft.Cache/redis Microsoft.Cache/redisEnterprise Microsoft.Search/searchServices
			Microsoft.EventHub/namespaces Microsoft.EventHub/namespaces/eventhubs Microsoft.ServiceBus/namespaces Microsoft.ServiceBus/namespaces/queues Microsoft.ServiceBus/namespaces/topics
			Microsoft.ServiceBus/namespaces/topics/subscriptions Microsoft.NotificationHubs/namespaces Microsoft.NotificationHubs/namespaces/notificationHubs Microsoft.Devices/IotHubs
			Microsoft.DigitalTwins/digitalTwinsInstances Microsoft.IoTCentral/iotApps Microsoft.DataLakeStore/accounts Microsoft.HealthcareApis/services Microsoft.RecoveryServices/vaults
			Microsoft.DataProtection/backupVaults Microsoft.DataProtection/backupVaults/backupInstances Microsoft.RecoveryServices/vaults/backupFabrics/protectionContainers/protectedItems
			Microsoft.Web/sites Microsoft.Web/sites/slots Microsoft.Web/staticSites Microsoft.Automation/automationAccounts Microsoft.DataFactory/factories Microsoft.Network/dnsZones Microsoft.Network/privateDnsZones
			Oracle.Database/autonomousDatabases Microsoft.ConfidentialLedger/ledgers Microsoft.ElasticSan/elasticSans/volumegroups/volumes MongoDB.Atlas/organizations/projects/clusters`,
		identity: `Microsoft.ManagedIdentity/userAssignedIdentities Microsoft.AAD/domainServices Microsoft.AzureActiveDirectory/b2cDirectories`,
		rights: `Microsoft.Authorization/roleAssignments Microsoft.Authorization/roleDefinitions Microsoft.Authorization/policyExemptions
			Microsoft.ManagedIdentity/userAssignedIdentities/federatedIdentityCredentials Microsoft.KeyVault/vaults/accessPolicies Microsoft.ManagedServices/registrationAssignments
			Microsoft.Kusto/clusters/principalAssignments Microsoft.Kusto/clusters/databases/principalAssignments
			Microsoft.DocumentDB/databaseAccounts/sqlRoleAssignments Microsoft.Cache/redis/accessPolicyAssignments Microsoft.DBforPostgreSQL/flexibleServers/administrators`,
		credentials: `Microsoft.KeyVault/vaults/keys Microsoft.KeyVault/vaults/secrets Microsoft.Compute/sshPublicKeys Microsoft.ContainerRegistry/registries/tokens
			Microsoft.EventHub/namespaces/authorizationRules Microsoft.ServiceBus/namespaces/AuthorizationRules Microsoft.Network/expressRouteCircuits
			Microsoft.Maps/accounts Microsoft.SignalRService/signalR Microsoft.Batch/batchAccounts`,
		money: `Microsoft.Subscription/aliases Microsoft.Capacity/reservationOrders Microsoft.BillingBenefits/savingsPlanOrderAliases Microsoft.DomainRegistration/domains
			Microsoft.CertificateRegistration/certificateOrders Microsoft.SaaS/resources Microsoft.Network/ExpressRoutePorts
			Microsoft.Elastic/monitors PaloAltoNetworks.Cloudngfw/firewalls Pinecone.VectorDb/organizations`,
		expires: `Microsoft.Resources/deploymentScripts Microsoft.Authorization/roleAssignmentScheduleRequests Microsoft.Authorization/roleEligibilityScheduleRequests
			Microsoft.EventGrid/eventSubscriptions Microsoft.EventGrid/topics/eventSubscriptions`,
		address: `Microsoft.Network/publicIPAddresses Microsoft.Network/publicIPPrefixes Microsoft.Network/customIpPrefixes Microsoft.Network/natGateways
			Microsoft.Network/privateLinkServices Microsoft.Cdn/profiles/afdEndpoints`,
		runs: `Microsoft.Resources/deployments Microsoft.Resources/deploymentStacks Microsoft.ContainerRegistry/registries/taskRuns Microsoft.Compute/virtualMachines/runCommands
			Microsoft.DocumentDB/databaseAccounts/copyJobs`,
	} {
		for _, resourceType := range strings.Fields(list) {
			types[resourceType] = loss
		}
	}
	return types
}

// What held data, an identity, rights, credentials, an address or money, or expires by itself, is
// not recreated by itself: the verdict says why, and how to accept the loss. The
// manifest decides otherwise, and a user's approval, once.
//
//guard:recreation-by-type
func TestGuardRecreationByType(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	never := neverRecreated()
	for _, entry := range azure.BuiltIn() {
		tested := slices.ContainsFunc(slices.Collect(maps.Keys(never)), func(t string) bool { return strings.EqualFold(t, entry.Type) })
		if entry.Facts.Recreation.Loss != "" && !tested {
			t.Errorf("%s is in the table, and this test has no case for it", entry.Type)
		}
	}
	check := func(resourceType string, change func(*PreCheckInput)) resource.Verdict {
		in := PreCheckInput{Desired: desired(t, strings.Replace(idOfType(resourceType), "Accounts/x1", "Accounts/xx1", 1), `{"location":"westus2"}`), Existed: true, Applied: true}
		change(&in)
		return local(w, w.acts.PreCheck, in).Verdict
	}
	nothing := func(*PreCheckInput) {}
	for resourceType, loss := range never {
		got := check(resourceType, nothing)
		if got.Action != resource.ActionBlock || got.Reason != resource.ReasonDisappeared || got.Class != resource.RetryVerySlow {
			t.Errorf("%s: verdict %s %s %s, want it not recreated", resourceType, got.Action, got.Reason, got.Class)
		}
		for _, part := range []string{loss.String(), "armature reconcile --recreate ", "armature forget "} {
			if !strings.Contains(got.Message, part) {
				t.Errorf("%s: %q is not in %q", resourceType, part, got.Message)
			}
		}
		for name, change := range map[string]func(*PreCheckInput){
			"recreate: always":  func(in *PreCheckInput) { in.Desired.Recreate = resource.RecreateAlways },
			"approved":          func(in *PreCheckInput) { in.Approved.Recreation = true },
			"never seen before": func(in *PreCheckInput) { in.Existed = false },
		} {
			if got := check(resourceType, change); got.Action != resource.ActionProceed || !got.Create {
				t.Errorf("%s, %s: verdict %s %s, want a creation", resourceType, name, got.Action, got.Reason)
			}
		}
	}
	for _, resourceType := range strings.Fields(`Microsoft.Network/virtualNetworks Microsoft.Network/virtualNetworks/subnets Microsoft.Network/networkSecurityGroups
		Microsoft.Network/routeTables Microsoft.Network/networkInterfaces Microsoft.Network/loadBalancers Microsoft.Network/applicationGateways
		Microsoft.Network/privateEndpoints Microsoft.Compute/availabilitySets Microsoft.App/containerApps Microsoft.App/managedEnvironments Microsoft.Insights/actionGroups
		Microsoft.Insights/metricAlerts Microsoft.Insights/dataCollectionRules Microsoft.Authorization/locks Microsoft.Authorization/policyAssignments Microsoft.Web/serverfarms
		Microsoft.ContainerService/managedClusters/agentPools Microsoft.Sql/servers/firewallRules Contoso.Things/things`) {
		got := check(resourceType, nothing)
		if got.Action != resource.ActionProceed || got.Reason != resource.ReasonDisappeared || !got.Create {
			t.Errorf("%s: verdict %s %s (%s), want it recreated", resourceType, got.Action, got.Reason, got.Message)
		}
		if got := check(resourceType, func(in *PreCheckInput) { in.Desired.Recreate = resource.RecreateNever }); got.Action != resource.ActionBlock {
			t.Errorf("%s with recreate: never: verdict %s", resourceType, got.Action)
		}
		if got := check(resourceType, func(in *PreCheckInput) { in.Desired.Adopt = resource.AdoptOnly }); got.Action != resource.ActionBlock {
			t.Errorf("%s with adopt: only: verdict %s", resourceType, got.Action)
		}
	}
	if got := check("Microsoft.Sql/servers", func(in *PreCheckInput) { in.Desired.Policy = resource.PolicyObserve }); got.Reason != resource.ReasonDriftDetected {
		t.Errorf("an observed resource is only reported: %s", got.Reason)
	}
	want(t, check("Microsoft.KeyVault/vaults", nothing), resource.ActionBlock, resource.ReasonDisappeared, resource.RetryVerySlow, "az keyvault recover --name x1 (within its retention, 7 to 90 days), then run armature reconcile x1")
}

// disappear makes 40 resources of a type, deletes them, and returns their specs.
func (w *world) disappear(count int) []resource.Desired {
	w.t.Helper()
	w.put(groupText, `{"location":"westus2"}`)
	var specs []resource.Desired
	for i := range count {
		text := fmt.Sprintf("%s%d", strings.TrimSuffix(thingText, "1"), i)
		w.put(text, thingBody)
		w.sim.Delete(text)
		specs = append(specs, desired(w.t, text, thingBody))
	}
	return specs
}

// recreateAll runs a pass of each spec and returns the number of PUTs and the verdicts
// that held one.
func (w *world) recreateAll(specs []resource.Desired, change func(*PutResourceInput)) (int, []resource.Verdict) {
	w.t.Helper()
	sent, held := 0, []resource.Verdict(nil)
	for _, d := range specs {
		pre := local(w, w.acts.PreCheck, PreCheckInput{Desired: d, Existed: true, Applied: true})
		want(w.t, pre.Verdict, resource.ActionProceed, resource.ReasonDisappeared, pre.Verdict.Class)
		in := PutResourceInput{Desired: d, PassFacts: PassFacts{Mandate: Mandate{Correction: true}}, Kind: PutRecreation, ObservedAt: w.now(), Token: "1.1.0"}
		change(&in)
		got, _ := finish(w, w.acts.PutResource, in)
		if got.Sent {
			sent++
		} else {
			held = append(held, got.Verdict)
		}
	}
	return sent, held
}

// Of 40 resources that were deleted at once, five are remade in an hour, and the rest is
// held. A retry of one that was granted is not charged again; what a user approved is
// not held.
//
//guard:disappearance-budget
func TestGuardDisappearanceBudget(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(s *setup) { s.options.DisappearanceBudget = 5 })
	specs := w.disappear(40)
	nothing := func(*PutResourceInput) {}
	sent, held := w.recreateAll(specs, nothing)
	if sent != 5 || len(held) != 35 {
		t.Fatalf("%d remade and %d held, want 5 and 35", sent, len(held))
	}
	for _, verdict := range held {
		want(t, verdict, resource.ActionBlock, resource.ReasonHeld, resource.RetrySlow, "disappearance-budget exhausted", "--recreate", "armature freeze")
		if verdict.RetryAfter <= 0 || verdict.RetryAfter > time.Hour {
			t.Errorf("next try after %s", verdict.RetryAfter)
		}
	}
	if sent, _ := w.recreateAll(specs[5:], nothing); sent != 0 {
		t.Errorf("%d more were remade within the hour", sent)
	}
	w.sim.Delete(specs[0].ID.String())
	if sent, _ := w.recreateAll(specs[:1], nothing); sent != 1 {
		t.Error("a retry of a granted PUT was charged again")
	}
	if sent, _ := w.recreateAll(specs[5:10], func(in *PutResourceInput) { in.Approved.Recreation = true }); sent != 5 {
		t.Errorf("%d of 5 approved ones were remade", sent)
	}
	w.advance(61 * time.Minute)
	if sent, _ := w.recreateAll(specs[10:], nothing); sent != 5 {
		t.Errorf("%d were remade in the next hour, want 5", sent)
	}
}

// A first creation does not count, nor one that ARM accepted and that failed.
//
//guard:disappearance-budget
func TestGuardDisappearanceBudgetCounts(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		in     PutResourceInput
		asks   bool
	}{
		"deleted before the pass":  {reason: "a read of this workflow showed it", in: PutResourceInput{Kind: PutRecreation}, asks: true},
		"first creation":           {reason: "it never existed", in: PutResourceInput{Kind: PutCreation}},
		"creation that failed":     {reason: "a PUT was sent and nothing was made", in: PutResourceInput{Kind: PutCreationAgain}},
		"approved by a user":       {reason: "a user requested it", in: PutResourceInput{PassFacts: PassFacts{Mandate: Mandate{Approved: Approvals{Recreation: true}}}, Kind: PutRecreation}},
		"read, adopted, and in it": {reason: "an update of what exists", in: PutResourceInput{Kind: PutUncompared}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, func(s *setup) { s.options.DisappearanceBudget = 5 })
			w.put(groupText, `{"location":"westus2"}`)
			if c.in.Kind == PutUncompared {
				w.put(thingText, thingBody)
			}
			c.in.Desired, c.in.ObservedAt = desired(t, thingText, thingBody), w.now()
			if got, _ := finish(w, w.acts.PutResource, c.in); !got.Sent {
				t.Errorf("not sent: %+v", got.Verdict)
			}
			if asked := len(w.fleet.asked) > 0; asked != c.asks {
				t.Errorf("%s: asked the budget is %t, want %t", c.reason, asked, c.asks)
			}
		})
	}
}

// A worker that cannot ask the budgets recreates and corrects nothing.
//
//guard:budgets-fail-closed
func TestGuardBudgetUnknown(t *testing.T) {
	t.Parallel()
	for name, correction := range map[string]bool{"disappearance": false, "put": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, func(s *setup) { s.options.DisappearanceBudget, s.options.PutBudget = 5, 5 })
			w.put(groupText, `{"location":"westus2"}`)
			in := PutResourceInput{Desired: desired(t, thingText, thingBody), Kind: PutRecreation}
			if correction {
				w.put(thingText, thingBody)
				in = PutResourceInput{Desired: in.Desired, PassFacts: PassFacts{Mandate: Mandate{Correction: true}}, Kind: PutUncompared}
			}
			in.ObservedAt = w.now()
			w.fleet.budgetErr = fmt.Errorf("%w: Temporal is away", writing.ErrTemporalSlow)
			before := w.puts(thingText)
			got, _ := finish(w, w.acts.PutResource, in)
			want(t, got.Verdict, resource.ActionError, resource.ReasonTemporalSlow, resource.RetryFast, "cannot ask the "+name+"-budget", "Temporal is away")
			if got.Sent || w.puts(thingText) != before {
				t.Errorf("a PUT was sent: %+v", got)
			}
		})
	}
}

// A resource below one that was recreated names it, so that the budget counts both once;
// a resource group counts apart from what was in it.
//
//guard:disappearance-budget
func TestGuardBudgetNamesOwners(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(s *setup) { s.options.DisappearanceBudget = 5 })
	subnet := groupText + "/providers/Microsoft.Network/virtualNetworks/net/subnets/a"
	w.put(groupText+"/providers/Microsoft.Network/virtualNetworks/net", `{"location":"westus2","properties":{"addressSpace":{"addressPrefixes":["10.0.0.0/8"]}}}`)
	d := desired(t, subnet, `{"properties":{"addressPrefix":"10.0.0.0/24"}}`)
	got, _ := finish(w, w.acts.PutResource, PutResourceInput{Desired: d, Kind: PutRecreation, ObservedAt: w.now()})
	if !got.Sent || len(w.fleet.asked) != 1 {
		t.Fatalf("asked %v: %+v", w.fleet.asked, got.Verdict)
	}
	if with := w.fleet.asked[0].With; len(with) != 1 || !with[0].Equal(d.Owner) {
		t.Errorf("the expense names %v, want the network alone", with)
	}
}
