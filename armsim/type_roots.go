package armsim

import (
	"net/http"
	"strings"
)

const managementGroupType = "Microsoft.Management/managementGroups"

// rootRows returns the rows of resources of the tenant. Recorded: the 404 of an alias.
func rootRows() []typeRule {
	return []typeRule{{
		typePattern: "microsoft.subscription/aliases", noLocation: true,
		absent: absence{code: "SubscriptionAliasNotFound", message: "Subscription alias not found"},
	}}
}

// checkName serves checkNameAvailability of management groups (learn.microsoft.com,
// Management Groups - Check Name Availability); nil for other requests.
func (s *Simulator) checkName(q *request) *response {
	if !strings.EqualFold(q.target.namespace, "Microsoft.Management") || !strings.EqualFold(q.target.action, "checkNameAvailability") || q.r.Method != http.MethodPost {
		return nil
	}
	body, refused := readBody(q)
	if refused != nil {
		return refused
	}
	if s.find("/providers/"+managementGroupType+"/"+text(body, "name")) == nil {
		return newResponse(http.StatusOK, object{"nameAvailable": true})
	}
	return newResponse(http.StatusOK, object{"nameAvailable": false, "reason": "AlreadyExists", "message": "The requested name is not available."})
}
