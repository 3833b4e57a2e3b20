package arm

import "testing"

func TestRefusal(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason  string
		failure Error
		want    Refusal
	}{
		"quota of cores":        {"the code says nothing, the message does", Error{Status: 409, Code: "OperationNotAllowed", Message: "Operation could not be completed as it results in exceeding approved standardDSv3Family Cores quota."}, RefusalQuota},
		"quota code":            {"by its code", Error{Status: 400, Code: "CoresQuotaExceeded"}, RefusalQuota},
		"policy":                {"by its code", Error{Status: 403, Code: "RequestDisallowedByPolicy", Message: "Resource 'x' was disallowed by policy."}, RefusalPolicy},
		"immutable code":        {"isHnsEnabled of a storage account", Error{Status: 409, Code: "AccountPropertyCannotBeUpdated", Message: "The property 'isHnsEnabled' was specified in the input, but it cannot be updated."}, RefusalImmutable},
		"immutable message":     {"a general code of Compute", Error{Status: 409, Code: "PropertyChangeNotAllowed", Message: "Changing property 'osDisk.name' is not allowed."}, RefusalImmutable},
		"a state, no property":  {"it ends by itself", Error{Status: 409, Code: "Conflict", Message: "The server cannot be updated while it is in state Stopping."}, ""},
		"soft-deleted":          {"a name that is taken by a deleted resource is told apart", Error{Status: 409, Code: "VaultAlreadyExists", Message: "A vault with the same name already exists in deleted but recoverable state."}, RefusalSoftDeleted},
		"name taken":            {"by its code", Error{Status: 409, Code: "StorageAccountAlreadyTaken", Message: "The storage account named x is already taken."}, RefusalNameTaken},
		"operation in progress": {"a conflict that ends", Error{Status: 409, Code: "AnotherOperationInProgress", Message: "Another operation is in progress; the quota is checked after it."}, ""},
		"throttled":             {"a request quota refills by itself", Error{Status: 429, Code: "TooManyRequests", Message: "The request quota limit of the subscription is reached."}, ""},
		"service failed":        {"not the request", Error{Status: 503, Code: "ServerBusy", Message: "quota service is down"}, ""},
		"rights":                {"a 403 names no kind of refusal: rights replicate", Error{Status: 403, Code: "AuthorizationFailed"}, ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.failure.classify("PUT")
			if got := c.failure.Refusal(); got != c.want {
				t.Errorf("%s: Refusal() = %q (class %s), want %q", c.reason, got, c.failure.Class, c.want)
			}
		})
	}
}

func TestNamesOperation(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason  string
		failure Error
		want    bool
	}{
		"operation":   {"it ends by itself", Error{Status: 409, Code: "AnotherOperationInProgress"}, true},
		"in message":  {"a general code", Error{Status: 409, Code: "Conflict", Message: "Cannot modify this site because another operation is in progress."}, true},
		"quota":       {"a conflict about a limit", Error{Status: 409, Code: "OperationNotAllowed", Message: "Operation could not be completed as it results in exceeding approved Cores quota."}, false},
		"no conflict": {"another class", Error{Status: 400, Code: "InvalidParameter", Message: "in progress"}, false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.failure.classify("PUT")
			if got := c.failure.NamesOperation(); got != c.want {
				t.Errorf("%s: NamesOperation() = %t (class %s), want %t", c.reason, got, c.failure.Class, c.want)
			}
		})
	}
}

// TestImmutable judges refusals of providers: each is a public text, and none has a word of its
// own in the table.
func TestImmutable(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason  string
		failure Error
		want    bool
	}{
		"location":            {"ARM itself, for each located resource", Error{Status: 409, Code: "InvalidResourceLocation", Message: "The resource 'a' already exists in location 'westus' in resource group 'b'. A resource with the same name cannot be created in location 'eastus'. Please select a new resource name."}, true},
		"group":               {"ARM itself", Error{Status: 409, Code: "InvalidResourceGroupLocation", Message: "Invalid resource group location 'eastus'. The Resource group already exists in location 'uksouth'."}, true},
		"SKU of an address":   {"Azure/azure-cli#27806", Error{Status: 400, Code: "SkuCannotBeChangedOnUpdate", Message: "Sku property is set at creation time and cannot be changed from Standard to Basic on resource update for resource /subscriptions/x."}, true},
		"SKU of machines":     {"Azure/AzLoadBalancerMigration#11", Error{Status: 400, Code: "SkuCannotBeUpdatedOnVMSSPublicIpAddresses", Message: "Sku property for public IP addresses on VMSS is set at creation time and cannot be changed from Basic to Standard."}, true},
		"namespace":           {"hashicorp/terraform-provider-azurerm#27497", Error{Status: 400, Code: "MergeNamespaceFailedWithImmutablePropertyUpdate", Message: "ZoneRedundant is an immutable property"}, true},
		"field":               {"Azure Red Hat OpenShift", Error{Status: 400, Code: "InvalidRequestContent", Message: "Forbidden: field is immutable", Target: "properties.dns"}, true},
		"disk":                {"Azure/azure-docs#57951", Error{Status: 409, Code: "OperationNotAllowed", Message: "The disk/snapshot resource with id x cannot be resized down. Reducing disk/snapshot size is not supported in Azure to prevent data loss."}, true},
		"cache":               {"Azure/azure-powershell#2294", Error{Status: 400, Code: "BadRequest", Message: "The requested update to the resource is not permitted. The following properties(s) cannot be modified: 'properties.sku.name'."}, true},
		"queue":               {"Azure/azure-rest-api-specs#16679", Error{Status: 400, Code: "BadRequest", Message: "SubCode=40000. The value of the property 'requiresSession' of an existing entity cannot be changed."}, true},
		"version":             {"rancher/rancher#24071", Error{Status: 400, Code: "OperationNotAllowed", Message: "Downgrading Kubernetes version 1.30 to 1.29 is not allowed."}, true},
		"only at creation":    {"words of many services", Error{Status: 400, Code: "BadRequest", Message: "Availability zones can only be set when the resource is created."}, true},
		"active voice":        {"words of many services", Error{Status: 400, Code: "BadRequest", Message: "Cannot change the encryption type of an existing cluster."}, true},
		"once enabled":        {"words of many services", Error{Status: 400, Code: "BadRequest", Message: "Double encryption cannot be disabled once it is enabled."}, true},
		"changes unsupported": {"words of many services", Error{Status: 422, Code: "Unprocessable", Message: "The service does not support changing the plan."}, true},
		"noun":                {"words of many services", Error{Status: 400, Code: "BadRequest", Message: "Changes to property 'hostPrefix' are not allowed after creation."}, true},
		"in a detail":         {"envelopes name it inside", Error{Status: 400, Code: "MultipleErrorsOccurred", Message: "2 errors occurred", Details: []Detail{{Code: "Invalid", Message: "x is wrong"}, {Code: "Invalid", Message: "field is immutable", Target: "properties.dns"}}}, true},

		"stopped":           {"a state, which ends", Error{Status: 400, Code: "BadRequest", Message: "The size cannot be changed while the machine is running."}, false},
		"deallocated":       {"a state, which a person ends", Error{Status: 409, Code: "OperationNotAllowed", Message: "The zone cannot be modified until the server is stopped."}, false},
		"another property":  {"hashicorp/terraform-provider-azurerm#25819: the same value in another place", Error{Status: 409, Code: "Conflict", Message: "There was a conflict. SiteConfig.PublicNetworkAccess cannot be modified. Please modify the Site.PublicNetworkAccess property"}, false},
		"wrong value":       {"a new resource would be refused too", Error{Status: 400, Code: "BadRequest", Message: "The updated SKU Standard_X is not supported in this region."}, false},
		"wrong version":     {"a new resource would be refused too", Error{Status: 400, Code: "BadRequest", Message: "Updating the resource with api-version 2020-01-01 is not supported."}, false},
		"failed update":     {"nothing says that it is for ever", Error{Status: 400, Code: "BadRequest", Message: "Cannot update the resource: invalid value for 'size'."}, false},
		"missing policy":    {"a noun, no verb", Error{Status: 400, Code: "BadRequest", Message: "Cannot find the update policy 'x'."}, false},
		"allowed values":    {"no change is meant", Error{Status: 400, Code: "InvalidParameter", Message: "The value 'x' of 'size' is not allowed. Allowed values are a and b."}, false},
		"in use":            {"others use it", Error{Status: 400, Code: "InUseSubnetCannotBeUpdated", Message: "Subnet a is in use by b and cannot be updated."}, false},
		"required":          {"a body that lacks a property", Error{Status: 400, Code: "BadRequest", Message: "The property 'x' must be specified during creation."}, false},
		"code with a state": {"it ends", Error{Status: 409, Code: "CannotChangeWhileUpgrading", Message: "x"}, false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.failure.classify("PUT")
			if got := c.failure.Refusal() == RefusalImmutable; got != c.want {
				t.Errorf("%s: immutable = %t, want %t (class %s)", c.reason, got, c.want, c.failure.Class)
			}
		})
	}
}
