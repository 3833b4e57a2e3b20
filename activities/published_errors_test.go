package activities

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"

	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/resource"
)

// The errors on ARM's documentation pages, as users get them: reason and message
// are ARM's code and message, and the class is how soon the error may clear.
func TestPublishedErrors(t *testing.T) {
	t.Parallel()
	envelope := func(code, message, more string) string {
		return fmt.Sprintf(`{"error":{"code":%q,"message":%q%s}}`, code, message, more)
	}
	const policy = `,"target":"t1","additionalInfo":[{"type":"PolicyViolation","info":{"policyDefinitionDisplayName":"Allowed locations",` +
		`"policyAssignmentDisplayName":"Europe only","policyAssignmentName":"eu",` +
		`"policyAssignmentId":"/subscriptions/11111111-1111-1111-1111-111111111111/providers/Microsoft.Authorization/policyAssignments/eu"}}]`
	cases := map[string]struct {
		reason  string
		status  int
		body    string
		method  string // PUT unless said
		action  resource.Action
		code    resource.Reason
		class   resource.RetryClass
		message []string
	}{
		"Forbidden": {
			reason: "role assignments take minutes to spread", status: 403, code: "AuthorizationFailed", class: resource.RetrySlow,
			body:    envelope("AuthorizationFailed", "The client 'c' with object id 'o' does not have authorization to perform action 'Contoso.Things/things/write' over scope '/subscriptions/s' or the scope is invalid. If access was recently granted, please refresh your credentials.", ""),
			message: []string{"does not have authorization to perform action 'Contoso.Things/things/write'"},
		},
		"LinkedForbidden": {
			reason: "so do those on a referenced resource", status: 403, code: "LinkedAuthorizationFailed", class: resource.RetrySlow,
			body: envelope("LinkedAuthorizationFailed", "The client has permission to perform action 'join/action' on scope 'a', however the linked scope 'b' is not allowed.", ""),
		},
		"Locked": {
			reason: "another user locked it on purpose", status: 409, code: "ScopeLocked", class: resource.RetryVerySlow,
			body:    envelope("ScopeLocked", "The scope 't1' cannot perform write operation because following scope(s) are locked: 'rg1'. Please remove the lock and try again.", ""),
			message: []string{"are locked: 'rg1'"},
		},
		"Policy": {
			reason: "the assignment is named, because ARM's message may not name it", status: 403, code: "RequestDisallowedByPolicy", class: resource.RetrySlow,
			body:    envelope("RequestDisallowedByPolicy", "Resource 't1' was disallowed by policy.", policy),
			message: []string{"was disallowed by policy", "Europe only", "policyAssignments/eu"},
		},
		"Quota": {
			reason: "quotas may be raised", status: 409, code: "QuotaExceeded", class: resource.RetrySlow,
			body: envelope("QuotaExceeded", "Operation could not be completed as it results in exceeding approved Total Regional Cores quota.", ""),
		},
		"QuotaOfCompute": {
			reason: "the same by another code", status: 409, code: "OperationNotAllowed", class: resource.RetrySlow, action: resource.ActionBlock,
			body: envelope("OperationNotAllowed", "Operation could not be completed as it results in exceeding approved standardDSv3Family Cores quota.", ""),
		},
		"LimitReached": {
			reason: "a limit of a subscription", status: 400, code: "PublicIPCountLimitReached", class: resource.RetrySlow,
			body: envelope("PublicIPCountLimitReached", "Cannot create more than 20 public IP addresses for this subscription in this region.", ""),
		},
		"SoftDeleted": {
			reason: "a person decides between restore and purge", status: 409, code: "FlagMustBeSetForRestore", class: resource.RetryVerySlow,
			body:    envelope("FlagMustBeSetForRestore", "An existing resource with ID '/subscriptions/s/t1' has been soft-deleted. To restore the resource, you must specify 'restore' to be 'true' in the property.", ""),
			message: []string{"has been soft-deleted"},
		},
		"SoftDeletedByWord": {
			reason: "the same by a part of the code", status: 409, code: "ServiceAlreadyExistsInSoftDeletedState", class: resource.RetryVerySlow,
			body: envelope("ServiceAlreadyExistsInSoftDeletedState", "A service with the name exists in a deleted state.", ""),
		},
		"NameTaken": {
			reason: "a taken name stays taken", status: 409, code: "StorageAccountAlreadyTaken", class: resource.RetryVerySlow,
			body: envelope("StorageAccountAlreadyTaken", "The storage account named t1 is already taken.", ""),
		},
		"SubscriptionGone": {
			reason: "the state of the resource is unknown: it may exist", status: 404, code: "SubscriptionNotFound", class: resource.RetryVerySlow,
			body: envelope("SubscriptionNotFound", "The subscription '11111111-1111-1111-1111-111111111111' could not be found.", ""),
		},
		"SubscriptionDisabled": {
			reason: "the subscription is read-only", status: 409, code: "ReadOnlyDisabledSubscription", class: resource.RetryVerySlow,
			body: envelope("ReadOnlyDisabledSubscription", "The subscription 's' is disabled and therefore marked as read only. You cannot perform any write actions on this subscription until it is re-enabled.", ""),
		},
		"Sku": {
			reason: "the region does not offer it", status: 409, code: "SkuNotAvailable", class: resource.RetryVerySlow,
			body: envelope("SkuNotAvailable", "The requested tier for resource is currently not available in location 'westus2' for subscription 's'.", ""),
		},
		"Capacity": {
			reason: "capacity changes", status: 409, code: "OverconstrainedAllocationRequest", class: resource.RetrySlow,
			body: envelope("OverconstrainedAllocationRequest", "Allocation failed. VM(s) with the following constraints cannot be allocated.", ""),
		},
		"Immutable": {
			reason: "only a change of the manifest fixes it", status: 409, code: "PropertyChangeNotAllowed", class: resource.RetryNone,
			body: envelope("PropertyChangeNotAllowed", "Changing property 'osDisk.name' is not allowed.", ""),
		},
		"GroupGoing": {
			reason: "afterwards it can be recreated", status: 409, code: "ResourceGroupBeingDeleted", class: resource.RetrySlow, action: resource.ActionBlock,
			body: envelope("ResourceGroupBeingDeleted", "The resource group 'rg1' is in deprovisioning state and cannot perform this operation.", ""),
		},
		"Wrapped": {
			reason: "the nested code decides, the outer one stays the reason", status: 400, code: "DeploymentFailed", class: resource.RetryVerySlow,
			body: envelope("DeploymentFailed", "At least one resource operation failed.", `,"details":[{"code":"SkuNotAvailable","message":"No such SKU."}]`),
		},
		"InUse": {
			reason: "the resource that uses it may stop using it", status: 400, code: "InUseSubnetCannotBeDeleted", class: resource.RetrySlow, method: http.MethodDelete,
			body: envelope("InUseSubnetCannotBeDeleted", "Subnet s is in use by n and cannot be deleted.", ""),
		},
		"LockedDelete": {
			reason: "a lock against deletion", status: 409, code: "ScopeLocked", class: resource.RetryVerySlow, method: http.MethodDelete,
			body: envelope("ScopeLocked", "The scope 't1' cannot perform delete operation because following scope(s) are locked: 'rg1'.", ""),
		},
		"ForbiddenRead": {
			reason: "an error of a GET is classified too", status: 403, code: "AuthorizationFailed", class: resource.RetrySlow, method: http.MethodGet,
			body: envelope("AuthorizationFailed", "The client does not have authorization to perform action 'read'.", ""),
		},
		"TypeOfARead": {
			reason: "an unknown type does not mean that the resource is absent", status: 404, code: "InvalidResourceType", class: resource.RetryNone, method: http.MethodGet,
			body: envelope("InvalidResourceType", "The resource type could not be found in the namespace 'Contoso.Things' for api version '2023-08-15'.", ""),
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, put := putWorld(t)
			if c.method == "" {
				c.method = http.MethodPut
			}
			if c.method == http.MethodDelete {
				w.put(thingText, thingBody)
			}
			w.sim.AddFault(armsim.Fault{Method: c.method, Path: "*/things/t1", Status: c.status, Body: json.RawMessage(c.body)})
			var verdict resource.Verdict
			switch c.method {
			case http.MethodPut:
				got, err := run(w, w.acts.PutResource, put)
				must(t, err)
				verdict = got.Verdict
			case http.MethodDelete:
				got, err := run(w, w.acts.DeleteResource, DeleteResourceInput{Desired: put.Desired})
				must(t, err)
				verdict = got.Verdict
			default:
				got, err := run(w, w.acts.GetResource, GetResourceInput{Target: resource.Target{ID: put.Desired.ID, APIVersion: put.Desired.APIVersion}})
				must(t, err)
				verdict = got.Verdict
			}
			if c.action == "" {
				c.action = resource.ActionError
			}
			want(t, verdict, c.action, c.code, c.class, c.message...)
			if severe := verdict.Severity == resource.SeverityError; severe != (c.class == resource.RetryNone) {
				t.Errorf("%s: severity %s", c.reason, verdict.Severity)
			}
		})
	}
}
