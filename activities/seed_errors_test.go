package activities

import (
	"net/http"
	"strings"
	"testing"

	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/resource"
)

// errorSeed is the verdict of a type about one refusal of its PUT.
type errorSeed struct {
	resourceType  string
	status        int
	code, message string
	action        resource.Action
	class         resource.RetryClass
	// advice is a part of the message.
	advice string
}

// idOfType returns the ID of a resource of a type, in the group or in its own scope.
func idOfType(resourceType string) string {
	segments := strings.Split(resourceType, "/")
	text := seedProvider + segments[0]
	for _, segment := range segments[1:] {
		text += "/" + segment + "/x1"
	}
	if resourceType == "Microsoft.Authorization/roleAssignments" {
		text = groupText + "/providers/" + resourceType + "/7d0bb4a7-6c1e-4b7e-9f4e-3a1f0a6c2d11"
	}
	return text
}

func errorSeeds() []errorSeed {
	const slow, verySlow, never = resource.RetrySlow, resource.RetryVerySlow, resource.RetryNone
	const fails, blocks = resource.ActionError, resource.ActionBlock
	return []errorSeed{
		{"Microsoft.DocumentDB/databaseAccounts", 400, "ServiceUnavailable", "Sorry, we are currently experiencing high demand in this region", fails, never, "choose another region"},
		{"Microsoft.DocumentDB/databaseAccounts", 400, "ServiceUnavailable", "Try again.", fails, slow, ""},
		{"Microsoft.Sql/servers", 400, "PasswordNotComplex", "Password validation failed.", fails, never, "another password"},
		{"Microsoft.Cdn/profiles/customDomains", 400, "BadRequest", "This resource is still associated with a route.", fails, slow, ""},
		{"Microsoft.Cdn/profiles/customDomains", 400, "BadRequest", "The name is wrong.", fails, slow, ""},
		{"Microsoft.ContainerService/managedClusters/agentPools", 400, "NodePoolMcVersionIncompatible", "Version 1 is newer.", fails, slow, ""},
		{"Microsoft.App/containerApps", 400, "ManagedEnvironmentNotProvisioned", "The environment has not been provisioned.", fails, slow, ""},
		{"Microsoft.App/jobs", 400, "ManagedEnvironmentNotProvisioned", "The environment has not been provisioned.", fails, slow, ""},
		{"Microsoft.Cdn/profiles/afdEndpoints/routes", 400, "BadRequest", "Make sure the originGroup is created successfully and at least one enabled origin is created", fails, slow, ""},
		{"Microsoft.Cdn/profiles/ruleSets/rules", 400, "BadRequest", "Make sure the originGroup is created successfully and at least one enabled origin is created", fails, slow, ""},
		{"Microsoft.Cdn/profiles/securityPolicies", 400, "BadRequest", "Domain is in a invalid provisioning state", fails, slow, ""},
		{"Microsoft.Compute/disks", 400, "BadRequest", "DiskAccess resource x not found", fails, slow, ""},
		{"Microsoft.Compute/disks", 400, "Conflict", "DiskAccess resource x is in failed state.", blocks, slow, ""},
		{"Microsoft.Compute/virtualMachines", 409, "OperationNotAllowed", "Exceeding approved Quota", blocks, slow, "more quota"},
		{"Microsoft.Compute/virtualMachineScaleSets", 409, "OperationNotAllowed", "Exceeding approved Quota", blocks, slow, "more quota"},
		{"Microsoft.ContainerService/managedClusters", 400, "CustomKubeletIdentityMissingPermissionError", "No permission.", fails, slow, ""},
		{"Microsoft.ContainerService/fleets/members", 400, "DependentResourceNotFound", "No cluster.", fails, slow, ""},
		{"Microsoft.DocumentDB/cassandraClusters", 400, "BadRequest", "The service principal lacks rights", fails, slow, ""},
		{"Microsoft.DocumentDB/databaseAccounts/sqlDatabases", 400, "BadRequest", "Anything.", fails, slow, ""},
		{"Microsoft.DocumentDB/databaseAccounts/mongodbDatabases", 400, "BadRequest", "Anything.", fails, slow, ""},
		{"Microsoft.DocumentDB/databaseAccounts/sqlRoleAssignments", 400, "BadRequest", "Principal x was not found in the AAD tenant", fails, slow, ""},
		{"Microsoft.Insights/dataCollectionRules", 400, "WorkspaceNotFound", "No workspace.", fails, slow, ""},
		{"Microsoft.Insights/scheduledQueryRules", 400, "BadRequest", "The scope does not exist", fails, slow, ""},
		{"Microsoft.MachineLearningServices/workspaces", 400, "BadRequest", `{"code":"StorageAccountIsNotProvisioned"}`, fails, slow, ""},
		{"Microsoft.Network/azureFirewalls", 400, "AzfwAddToFirewallPolicyFailed", "Failed to reference Firewall Policy x", fails, slow, ""},
		{"Microsoft.Network/dnsForwardingRulesets", 400, "InvalidParameter", "The endpoint was not found", fails, slow, ""},
		{"Microsoft.Network/dnsZones/A", 400, "BadRequest", "The referenced resource x was not found", fails, slow, ""},
		{"Microsoft.Network/dnsZones/AAAA", 400, "BadRequest", "The referenced resource x was not found", fails, slow, ""},
		{"Microsoft.Network/dnsZones/CNAME", 400, "BadRequest", "The referenced resource x was not found", fails, slow, ""},
		{"Microsoft.Network/networkWatchers/flowLogs", 400, "StorageProvisioningStateNotSucceeded", "Storage account (Creating)", fails, slow, ""},
		{"Microsoft.Network/networkWatchers/flowLogs", 400, "NetworkSecurityGroupNotFoundForFlowLog", "No group.", fails, slow, ""},
		{"Microsoft.Network/publicIPAddresses", 429, "ReferencedResourceNotProvisioned", "Updating.", blocks, slow, ""},
		{"Microsoft.Network/virtualNetworks/virtualNetworkPeerings", 400, "ReferencedResourceNotProvisioned", "Updating.", blocks, slow, ""},
		{"Microsoft.Network/virtualNetworks/subnets", 400, "NetcfgSubnetRangeOutsideVnet", "Outside.", fails, slow, ""},
		{"Microsoft.ServiceBus/namespaces/topics/subscriptions", 400, "MessagingGatewayBadRequest", "No topic.", fails, slow, ""},
		{"Microsoft.Sql/servers/vulnerabilityAssessments", 400, "VulnerabilityAssessmentADSIsDisabled", "Off.", fails, slow, ""},
		{"Microsoft.Authorization/roleAssignments", 409, "RoleAssignmentExists", "The role assignment already exists.", blocks, verySlow, "under another name"},
		{"Microsoft.KeyVault/vaults", 409, "ConflictError", "A vault with the same name already exists in deleted state.", blocks, slow, "createOrRecover"},
		{"Microsoft.KeyVault/managedHSMs", 409, "Conflict", "The name is held by a soft-deleted one.", blocks, slow, "purge"},
		{"Microsoft.CognitiveServices/accounts", 409, "FlagMustBeSetForRestore", "It has been soft-deleted.", fails, slow, "properties.restore"},
		{"Microsoft.ApiManagement/service", 409, "ServiceAlreadyExistsInSoftDeletedState", "It has been soft-deleted.", fails, slow, "properties.restore"},
		{"Microsoft.AppConfiguration/configurationStores", 409, "NameUnavailable", "The specified name is already in use.", fails, slow, "Recover"},
		{"Microsoft.MachineLearningServices/workspaces", 409, "Conflict", "A soft-deleted workspace exists.", blocks, slow, "permanently"},
	}
}

// judge sends the PUT, which the service refuses.
func (s errorSeed) judge(t *testing.T) {
	w := newWorld(t)
	text := idOfType(s.resourceType)
	w.put(groupText, `{"location":"westus2"}`)
	w.sim.AddFault(armsim.Fault{Method: http.MethodPut, Status: s.status, Code: s.code, Message: s.message})
	got, failures := finish(w, w.acts.PutResource, PutResourceInput{Desired: desired(t, text, `{"location":"westus2"}`), Kind: PutCreation, ObservedAt: w.now()})
	if len(failures) != 0 {
		t.Errorf("failures %v", failures)
	}
	severity := resource.SeverityWarning
	if s.class == resource.RetryNone {
		severity = resource.SeverityError
	}
	v := got.Verdict
	if v.Action != s.action || v.Class != s.class || v.Reason != resource.Reason(s.code) || v.Severity != severity {
		t.Errorf("got %s %s %s %s (%s), want %s %s %s %s", v.Action, v.Severity, v.Class, v.Reason, v.Message, s.action, severity, s.class, s.code)
	}
	if !strings.Contains(v.Message, strings.TrimRight(s.message, ".")) || !strings.Contains(v.Message, s.advice) {
		t.Errorf("message %q, want %q and %q in it", v.Message, s.message, s.advice)
	}
}
