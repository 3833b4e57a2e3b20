package armsim

import (
	"fmt"
	"net/http"
	"strings"
	"time"
)

// family is a parent whose children (and usually the parent itself) change one at a
// time: while one change is in flight, others are refused.
type family struct {
	root string // glob over the lower-cased type of the parent
	// children are the lower-cased child types that belong to the family; nil means
	// all.
	children []string
	// rootExcluded leaves the parent itself out of the family.
	rootExcluded bool
	// syncSeconds is the simulated duration of a synchronous write of a child, which is
	// in flight until then; the response is sent at its end.
	syncSeconds float64
	// failsInOperation accepts the write, whose operation then fails with childCode (a
	// child) or rootCode (the parent) after failureSeconds at most.
	failsInOperation    bool
	childCode, rootCode string
	childText, rootText string // %s is replaced by the parent's name
	refuse              func(*Simulator, *request, conflict) *response
	failureSeconds      float64
}

// conflict is the change in flight that blocks another one.
type conflict struct {
	root     string     // ID of the parent
	rootName string     // of the parent
	op       *operation // nil for a state that SetState set, and for a synchronous write
}

// familyRows is the table; the first row whose root matches counts. Sources: recorded
// traffic (subnets and firewalls 409, routes and subnets 429, PostgreSQL in the
// operation), and the services' published errors (AKS, managed identity).
func familyRows() []family {
	busyServer := family{
		failsInOperation: true, childCode: "ServerIsBusy", rootCode: "ProvisioningServerBusy", failureSeconds: 10,
		childText: "Cannot complete operation while server '%s' is busy processing another operation. Try again later.",
		rootText:  "Server %s is busy with other operations. Please try later",
	}
	postgres, mysql := busyServer, busyServer
	postgres.root, mysql.root = postgresType, "microsoft.dbformysql/flexibleservers"
	return []family{
		{root: "microsoft.network/*dnszones"}, // record sets and links change concurrently
		{root: "microsoft.network/trafficmanagerprofiles"},
		{root: "microsoft.network/routetables", refuse: refuseRetryable},
		{root: "microsoft.network/*", refuse: refuseAnotherOperation},
		{root: aksType, refuse: refuseNotAllowed},
		{root: "microsoft.managedidentity/userassignedidentities", rootExcluded: true, syncSeconds: 1,
			children: []string{"federatedidentitycredentials"}, refuse: refuseConcurrent},
		postgres, mysql,
		{root: "microsoft.cognitiveservices/accounts", syncSeconds: 1, children: []string{"deployments"},
			refuse: refuseWith(http.StatusConflict, "RequestConflict", "Another operation is being performed on the parent resource '%s'. Please try again later.")},
		{root: "microsoft.documentdb/databaseaccounts", syncSeconds: 1, children: []string{"sqlroleassignments", "sqlroledefinitions"},
			refuse: refuseWith(http.StatusPreconditionFailed, "PreconditionFailed", "There is already an operation in progress which requires exclusive lock on this service %s. Please retry the operation after sometime.")},
		{root: "microsoft.cache/redis", syncSeconds: 1,
			refuse: refuseWith(http.StatusConflict, "Conflict", "The resource '%s' is busy processing a previous update request or is undergoing system maintenance. As such, it is currently unable to accept the update request. Please try again later.")},
	}
}

// familyOf returns the family of a target, nil when it has none, and the ID and name of
// the family's root.
func (s *Simulator) familyOf(t target) (*family, conflict) {
	for i := range s.families {
		f := &s.families[i]
		depth := strings.Count(f.root, "/")
		if len(t.types) < depth || len(t.names) < depth || !globMatch(f.root, t.namespace+"/"+strings.Join(t.types[:depth], "/")) {
			continue
		}
		if f.refuse == nil && !f.failsInOperation || len(t.types) == depth && f.rootExcluded || len(t.types) > depth && !f.includes(t.types[depth]) {
			return nil, conflict{}
		}
		c := conflict{root: t.scope + "/providers/" + t.namespace, rootName: t.names[depth-1]}
		for j := range depth {
			c.root += "/" + t.types[j] + "/" + t.names[j]
		}
		return f, c
	}
	return nil, conflict{}
}

func (f *family) includes(childType string) bool {
	return f.children == nil || containsFold(f.children, childType)
}

// checkFamily refuses a write while another member of its family changes. For families
// that refuse in the operation see failBusyFamily.
func (s *Simulator) checkFamily(q *request) *response {
	f, c, busy := s.findConflict(q.target)
	if !busy || f.failsInOperation {
		return nil
	}
	s.log.countSiblingRefusal(c.root)
	return f.refuse(s, q, c)
}

// findConflict returns the change in flight that blocks a write of the target; false
// when nothing blocks it.
func (s *Simulator) findConflict(t target) (*family, conflict, bool) {
	f, c := s.familyOf(t)
	if f == nil {
		return nil, c, false
	}
	if s.syncWrites[key(c.root)] > 0 {
		return f, c, true
	}
	for _, op := range s.active {
		id := op.resource.id
		if op.done || op.detached || key(id) == key(t.id) || !within(id, c.root) || c.op != nil && key(id) > key(c.op.resource.id) {
			continue
		}
		if p, ok := parseID(id); ok {
			if member, _ := s.familyOf(p); member == f {
				c.op = op // the first by ID, so that responses are deterministic
			}
		}
	}
	if c.op != nil {
		return f, c, true
	}
	root := s.find(c.root)
	if root == nil || f.rootExcluded || key(root.id) == key(t.id) {
		return f, c, false
	}
	c.op = root.op
	return f, c, root.op != nil || !terminal(root.state())
}

// startSyncWrite marks a synchronous write as in flight until endSyncWrite, if writes
// of its family take time.
func (s *Simulator) startSyncWrite(q *request, spec OperationSpec) {
	if spec.Shape != ShapeSync && spec.Shape != ShapeSelf {
		return // counts as in flight by its operation
	}
	if f, c := s.familyOf(q.target); f != nil && f.syncSeconds > 0 {
		q.syncWriteRoot, q.syncWriteTime = key(c.root), seconds(f.syncSeconds)
		s.syncWrites[q.syncWriteRoot]++
	}
}

// awaitSyncWrite waits for the duration of a synchronous write, without the lock.
func (s *Simulator) awaitSyncWrite(q *request) {
	if q.syncWriteTime <= 0 {
		return
	}
	s.mu.Lock()
	real := time.Duration(float64(q.syncWriteTime) / s.clock.scale)
	s.mu.Unlock()
	timer := time.NewTimer(real)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-q.r.Context().Done():
	}
}

func (s *Simulator) endSyncWrite(q *request) {
	if q.syncWriteRoot != "" {
		if s.syncWrites[q.syncWriteRoot]--; s.syncWrites[q.syncWriteRoot] <= 0 {
			delete(s.syncWrites, q.syncWriteRoot)
		}
		q.syncWriteRoot = ""
	}
}

// failBusyFamily accepts a write while the parent is busy; its operation fails.
func (s *Simulator) failBusyFamily(q *request, r *resource, verb string) *response {
	f, c, busy := s.findConflict(q.target)
	if !busy || !f.failsInOperation {
		return nil
	}
	s.log.countSiblingRefusal(c.root)
	code, message := f.childCode, fmt.Sprintf(f.childText, c.rootName)
	if key(c.root) == key(q.target.id) {
		code, message = f.rootCode, fmt.Sprintf(f.rootText, c.rootName)
	}
	spec := s.specFor(q.resourceType, q.target.id, verb)
	spec.Seconds = min(spec.Seconds, f.failureSeconds)
	return s.failInOperation(q, r, verb, spec, code, message)
}

// failInOperation accepts a write whose operation fails. It changes nothing. Without an
// operation the write itself is refused.
func (s *Simulator) failInOperation(q *request, r *resource, verb string, spec OperationSpec, code, message string) *response {
	if spec.Shape != ShapeAsync && spec.Shape != ShapeBoth && spec.Shape != ShapeLocation {
		return armError(http.StatusConflict, code, "%s", message)
	}
	spec.Outcome, spec.ErrorCode, spec.ErrorMessage = "Failed", code, message
	if r == nil {
		r = s.newResource(q.target)
	}
	op := s.newOperation(q.target, r, verb, spec, q)
	op.detached = true
	resp := newResponse(spec.Status, s.operationBody(r.typ))
	s.setOperationHeaders(resp, op, q)
	s.log.addWrite(s.clock.now(), q, r, verb, resp.status, nil)
	return resp
}

// refuseWith returns a refusal that names the parent's ID.
func refuseWith(status int, code, format string) func(*Simulator, *request, conflict) *response {
	return func(_ *Simulator, _ *request, c conflict) *response { return armError(status, code, format, c.root) }
}

func refuseAnotherOperation(_ *Simulator, q *request, c conflict) *response {
	if c.op == nil {
		return armError(http.StatusConflict, "AnotherOperationInProgress",
			"Another operation on this or dependent resource is in progress. The resource is %s.", c.root)
	}
	return errBusy(q.origin() + c.op.async)
}

// refuseRetryable is the Network provider's other response: a 429 for a conflict, with
// the specific code in the details.
func refuseRetryable(s *Simulator, _ *request, c conflict) *response {
	const wait = 11 * time.Second
	word, name := "Put", s.newGUID()
	if c.op != nil {
		name = c.op.name
		if c.op.verb == "delete" {
			word = "Delete"
		}
	}
	resp := armErrorDetail(http.StatusTooManyRequests, "RetryableError", "A retryable error occurred.", "RetryableErrorDueToAnotherOperation",
		fmt.Sprintf("Operation %sOperation (%s) is updating resource %s. The call can be retried in %d seconds.", word, name, c.root, int(wait.Seconds())))
	resp.header.Set("X-Ms-Failure-Cause", "service")
	s.clock.setRetryAfter(resp.header, wait)
	return resp
}

func refuseNotAllowed(s *Simulator, _ *request, c conflict) *response {
	verb, since := "update", s.clock.now()
	if c.op != nil {
		verb, since = c.op.verb, c.op.start
	}
	return armError(http.StatusConflict, "OperationNotAllowed",
		"Operation is not allowed because there's an in progress %s operation on the managed cluster %s started in %s. Please wait for it to finish before starting a new operation. See https://aka.ms/aks-pending-operation for more details.",
		verb, c.rootName, since.UTC().Format(time.RFC3339))
}

func refuseConcurrent(_ *Simulator, _ *request, c conflict) *response {
	return armError(http.StatusConflict, "ConcurrentFederatedIdentityCredentialsWritesForSingleManagedIdentity",
		"Too many Federated Identity Credentials are written concurrently for the managed identity '%s'. Concurrent Federated Identity Credentials writes under the same managed identity are not supported.", strings.ToLower(c.root))
}
