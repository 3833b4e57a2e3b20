package armsim

import "strings"

// typeRule is one row of the built-in table of types.
type typeRule struct {
	pattern                string // glob over the lower-cased type
	create, update, delete OperationSpec
	etag                   bool   // body and header carry an ETag
	noLocation             bool   // a top-level resource without location
	noState                bool   // no provisioningState is shown
	titleTypes             bool   // the server spells type segments with a capital
	displayLocation        bool   // "westus2" becomes "West US 2"
	fullName               bool   // name is "parent/child"
	deleteReturnsBody      bool   // DELETE answers what was there
	noDelete               bool   // DELETE is 405
	noGet                  bool   // GET is 405; HEAD and the list are not
	blockedByChildren      bool   // is not deleted while it has children
	inherited              bool   // a list at a scope shows what is above and below, too
	operationsPath         string // segment of Azure-AsyncOperation URLs
	operationBodyName      string // the first answer's body names this operation instead of showing the resource
	inline                 []inlineRule
	actions                map[string]action // POSTs by lower-cased name
	absent                 absence
	secrets                []string
	// defaults adds the server's own properties when a body is stored and when its
	// operation is done; show changes what is shown, without storing it.
	defaults func(*resource, object)
	onRead   func(*Simulator, *resource, object)
	// begun runs when a write was accepted, after when it is done, gone when the
	// resource was deleted.
	onAccepted, onDone, onDeleted func(*Simulator, *resource)
	// changing names the state and status word of an update; "" = the table's.
	transition  func(old, body object) (state, word string)
	checkWrite  func(*Simulator, target, object) *response
	checkDelete func(*Simulator, *resource) *response // refuses a DELETE
}

// absence is how a provider itself says that a resource is not there; empty for
// what ARM's front door says. {name}, {parent} and {id} stand for the resource's.
type absence struct{ code, detail, message string }

// action is a POST that starts a long-running operation.
type action struct {
	provisioningState        string  // provisioningState meanwhile
	path                     string  // below properties: what changes; "" = nothing
	runningValue, finalValue string  // its values; "" = as it was
	seconds                  float64 // how long it takes; 0 = as an update
	// begin and end do more than a property says, with the action's body.
	onStart, onEnd func(*Simulator, *resource, object)
	// check refuses the action.
	check func(*resource) *response
}

// typeRows is the table; the first match counts. Sources: recorded traffic.
func typeRows() []typeRule {
	rows := []typeRule{{
		pattern:    "microsoft.resources/resourcegroups",
		create:     OperationSpec{Shape: ShapeSync},
		update:     OperationSpec{Shape: ShapeSync},
		delete:     OperationSpec{Shape: ShapeLocation, Seconds: 20, RetryAfter: []float64{15}},
		noLocation: false,
	}}
	rows = append(rows, endpointConnectionRow())
	rows = append(rows, kustoRows()...)
	rows = append(rows, networkRows()...)
	rows = append(rows, storageRows()...)
	rows = append(rows, aksRows()...)
	rows = append(rows, flexibleServerRows()...)
	rows = append(rows, computeRows()...)
	rows = append(rows, identityRows()...)
	rows = append(rows, authorizationRows()...)
	rows = append(rows, documentRows()...)
	rows = append(rows, otherRows()...)
	return append(rows, typeRule{pattern: "*", etag: true})
}

func (s *Simulator) ruleFor(resourceType string) *typeRule {
	lower := strings.ToLower(resourceType)
	for i := range s.rows {
		if globMatch(s.rows[i].pattern, lower) {
			return &s.rows[i]
		}
	}
	return &s.rows[len(s.rows)-1]
}
