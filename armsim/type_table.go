package armsim

import (
	"slices"
	"strings"
)

// typeRule is one row of the built-in table of types.
type typeRule struct {
	typePattern            string // glob over the lower-cased type
	create, update, delete OperationSpec
	etag                   bool     // body and header carry an ETag
	noLocation             bool     // a top-level resource may omit the location
	noState                bool     // no provisioningState is returned
	titleTypes             bool     // the server capitalizes type segments
	displayLocation        bool     // "westus2" becomes "West US 2"
	fullName               bool     // name is "parent/child"
	deleteReturnsBody      bool     // DELETE returns the deleted resource
	noDelete               bool     // DELETE is 405
	noGet                  bool     // GET is 405; HEAD and the list are allowed
	readAction             string   // the POST that returns the resource, in lower case; GET and HEAD are 405
	readNames              []string // the names without GET; none for all
	readOfOwner            bool     // readAction is one of the owner, followed by the name
	blockedByChildren      bool     // DELETE is refused while it has children
	inherited              bool     // a list at a scope includes what is above and below
	operationsPath         string   // segment of Azure-AsyncOperation URLs
	operationBodyName      string   // the first response names this operation instead of containing the resource
	inline                 []inlineRule
	actions                map[string]action // POSTs by lower-cased name
	absent                 absence
	secrets                []string
	// defaults sets the server's own properties when a body is stored and when its
	// operation is done. onRead changes the returned body only.
	defaults func(*resource, object)
	onRead   func(*Simulator, *resource, object)
	// onAccepted runs when a write was accepted, onDone when it is done, onDeleted
	// after the resource was deleted.
	onAccepted, onDone, onDeleted func(*Simulator, *resource)
	// withOwner returns a resource that exists with its owner, which has its values; nil for
	// others.
	withOwner func(*Simulator, target) object
	// transition returns the state and status word of an update; "" means the table's.
	transition  func(old, body object) (state, word string)
	checkWrite  func(*Simulator, target, object) *response
	checkDelete func(*Simulator, *resource) *response // refuses a DELETE
}

// absence is a provider's own 404; empty for the 404 of ARM's front door. {name}, {parent}
// and {id} are replaced by the resource's.
type absence struct{ code, detail, message string }

// action is a POST that starts a long-running operation.
type action struct {
	provisioningState        string  // while in progress
	path                     string  // of the property below properties that changes; "" = none
	runningValue, finalValue string  // its values; "" = unchanged
	seconds                  float64 // duration; 0 = an update's
	// onStart and onEnd apply effects beyond the property; they get the action's body.
	onStart, onEnd func(*Simulator, *resource, object)
	// check refuses the action, or returns nil.
	check func(*resource) *response
}

// typeRows returns the table; the first match counts. Sources: recorded traffic.
func typeRows() []typeRule {
	group := typeRule{
		typePattern: "microsoft.resources/resourcegroups",
		create:      OperationSpec{Shape: ShapeSync},
		update:      OperationSpec{Shape: ShapeSync},
		delete:      OperationSpec{Shape: ShapeLocation, Seconds: 20, RetryAfter: []float64{15}},
	}
	return slices.Concat([]typeRule{group, endpointConnectionRow()},
		kustoRows(), networkRows(), storageRows(), aksRows(), flexibleServerRows(), computeRows(), identityRows(), webRows(),
		authorizationRows(), rootRows(), documentRows(), sqlRows(), deploymentScriptRows(), otherRows(), []typeRule{{typePattern: "*", etag: true}})
}

func (s *Simulator) ruleFor(resourceType string) *typeRule {
	lower := strings.ToLower(resourceType)
	for i := range s.rows {
		if globMatch(s.rows[i].typePattern, lower) {
			return &s.rows[i]
		}
	}
	return &s.rows[len(s.rows)-1]
}
