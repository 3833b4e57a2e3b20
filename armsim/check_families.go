package armsim

import (
	"fmt"
	"net/http"
	"strings"
	"time"
)

// family is a parent whose children (and mostly the parent itself) take one
// change at a time: while one is in flight, the others are refused.
type family struct {
	root string // glob over the lower-cased type of the parent
	// children are the child types that take part, lower-cased; nil = all.
	children []string
	// rootFree: the parent itself takes no part.
	rootFree bool
	// takes is how long (simulated seconds) a synchronous write of a child is in
	// flight; its answer comes only then.
	takes float64
	// late: the write is accepted and its operation fails with lateCode.
	late               bool
	lateCode, rootCode string
	lateText, rootText string // %s is the parent's name
	refuse             func(*Simulator, *request, conflict) *answer
	lateSeconds        float64
}

// conflict is the change that holds up another one.
type conflict struct {
	root string     // ID of the parent
	name string     // of the parent
	op   *operation // nil for a state that was set, and for a synchronous write
}

// familyRows is the table; the first row whose root matches counts. Sources:
// recorded traffic (subnets and firewalls 409, routes and subnets 429, PostgreSQL
// in the operation), and the services' published errors (AKS, managed identity).
func familyRows() []family {
	busyServer := family{
		late: true, lateCode: "ServerIsBusy", rootCode: "ProvisioningServerBusy", lateSeconds: 10,
		lateText: "Cannot complete operation while server '%s' is busy processing another operation. Try again later.",
		rootText: "Server %s is busy with other operations. Please try later",
	}
	postgres, mysql := busyServer, busyServer
	postgres.root, mysql.root = postgresType, "microsoft.dbformysql/flexibleservers"
	return []family{
		{root: "microsoft.network/*dnszones"}, // record sets and links change side by side
		{root: "microsoft.network/trafficmanagerprofiles"},
		{root: "microsoft.network/routetables", refuse: refuseRetryable},
		{root: "microsoft.network/*", refuse: refuseAnother},
		{root: aksType, refuse: refuseNotAllowed},
		{root: "microsoft.managedidentity/userassignedidentities", rootFree: true, takes: 1,
			children: []string{"federatedidentitycredentials"}, refuse: refuseConcurrent},
		postgres, mysql,
		{root: "microsoft.cognitiveservices/accounts", takes: 1, children: []string{"deployments"},
			refuse: refuseWith(http.StatusConflict, "RequestConflict", "Another operation is being performed on the parent resource '%s'. Please try again later.")},
		{root: "microsoft.documentdb/databaseaccounts", takes: 1, children: []string{"sqlroleassignments", "sqlroledefinitions"},
			refuse: refuseWith(http.StatusPreconditionFailed, "PreconditionFailed", "There is already an operation in progress which requires exclusive lock on this service %s. Please retry the operation after sometime.")},
		{root: "microsoft.cache/redis", takes: 1,
			refuse: refuseWith(http.StatusConflict, "Conflict", "The resource '%s' is busy processing a previous update request or is undergoing system maintenance. As such, it is currently unable to accept the update request. Please try again later.")},
	}
}

// familyOf finds the family of a target, and its root's ID and name.
func (s *Simulator) familyOf(t target) (*family, conflict) {
	for i := range s.families {
		f := &s.families[i]
		depth := strings.Count(f.root, "/")
		if len(t.types) < depth || len(t.names) < depth || !globMatch(f.root, t.namespace+"/"+strings.Join(t.types[:depth], "/")) {
			continue
		}
		if f.refuse == nil && !f.late || len(t.types) == depth && f.rootFree || len(t.types) > depth && !f.takesPart(t.types[depth]) {
			return nil, conflict{}
		}
		c := conflict{root: t.scope + "/providers/" + t.namespace, name: t.names[depth-1]}
		for j := range depth {
			c.root += "/" + t.types[j] + "/" + t.names[j]
		}
		return f, c
	}
	return nil, conflict{}
}

func (f *family) takesPart(childType string) bool {
	for _, name := range f.children {
		if strings.EqualFold(name, childType) {
			return true
		}
	}
	return f.children == nil
}

// blockedByFamily refuses a write while another member of its family changes.
// A late family refuses in the operation, see failLate.
func (s *Simulator) blockedByFamily(q *request) *answer {
	f, c, busy := s.familyConflict(q.target)
	if !busy || f.late {
		return nil
	}
	s.log.refusedSibling(c.root)
	return f.refuse(s, q, c)
}

// familyConflict finds the change in flight that a write of the target meets.
func (s *Simulator) familyConflict(t target) (*family, conflict, bool) {
	f, c := s.familyOf(t)
	if f == nil {
		return nil, c, false
	}
	if s.flights[key(c.root)] > 0 {
		return f, c, true
	}
	for _, op := range s.active {
		id := op.resource.id
		if op.done || op.detached || key(id) == key(t.id) || !under(id, c.root) || c.op != nil && key(id) > key(c.op.resource.id) {
			continue
		}
		if p, ok := parseID(id); ok {
			if member, _ := s.familyOf(p); member == f {
				c.op = op // the first by ID, so that answers do not vary
			}
		}
	}
	if c.op != nil {
		return f, c, true
	}
	root := s.find(c.root)
	if root == nil || f.rootFree || key(root.id) == key(t.id) {
		return f, c, false
	}
	c.op = root.op
	return f, c, root.op != nil || !terminal(root.state())
}

// takeOff counts a synchronous write of a family that takes time as in flight,
// until land.
func (s *Simulator) takeOff(q *request, spec OperationSpec) {
	if spec.Shape != ShapeSync && spec.Shape != ShapeSelf {
		return // its operation is in flight
	}
	if f, c := s.familyOf(q.target); f != nil && f.takes > 0 {
		q.flight, q.takes = key(c.root), seconds(f.takes)
		s.flights[q.flight]++
	}
}

// travel waits until a synchronous write of a family is done, outside the lock.
func (s *Simulator) travel(q *request) {
	if q.takes <= 0 {
		return
	}
	s.mu.Lock()
	real := time.Duration(float64(q.takes) / s.clock.scale)
	s.mu.Unlock()
	timer := time.NewTimer(real)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-q.r.Context().Done():
	}
}

func (s *Simulator) land(q *request) {
	if q.flight != "" {
		if s.flights[q.flight]--; s.flights[q.flight] <= 0 {
			delete(s.flights, q.flight)
		}
		q.flight = ""
	}
}

// failLate accepts a write whose operation then fails, for the parent is busy.
func (s *Simulator) failLate(q *request, r *resource, verb string) *answer {
	f, c, busy := s.familyConflict(q.target)
	if !busy || !f.late {
		return nil
	}
	s.log.refusedSibling(c.root)
	code, message := f.lateCode, fmt.Sprintf(f.lateText, c.name)
	if key(c.root) == key(q.target.id) {
		code, message = f.rootCode, fmt.Sprintf(f.rootText, c.name)
	}
	spec := s.specFor(q.resourceType, q.target.id, verb)
	if spec.Shape != ShapeAsync && spec.Shape != ShapeBoth && spec.Shape != ShapeLocation {
		return armError(http.StatusConflict, code, "%s", message)
	}
	spec.Outcome, spec.ErrorCode, spec.ErrorMessage = "Failed", code, message
	spec.Seconds = min(spec.Seconds, f.lateSeconds)
	if r == nil {
		r = s.newResource(q.target)
	}
	op := s.launch(q.target, r, verb, spec, q)
	op.detached = true
	a := newAnswer(spec.Status, s.operationBody(r.typ))
	s.announce(a, op, q)
	s.log.wrote(s.clock.now(), q, r, verb, a.status, nil)
	return a
}

// refuseWith words a refusal with the parent's ID.
func refuseWith(status int, code, format string) func(*Simulator, *request, conflict) *answer {
	return func(_ *Simulator, _ *request, c conflict) *answer { return armError(status, code, format, c.root) }
}

func refuseAnother(_ *Simulator, q *request, c conflict) *answer {
	if c.op == nil {
		return armError(http.StatusConflict, "AnotherOperationInProgress",
			"Another operation on this or dependent resource is in progress. The resource is %s.", c.root)
	}
	return errBusy(q.origin() + c.op.async)
}

// refuseRetryable is Network's other answer: a 429 that is a conflict, with the
// useful code in details.
func refuseRetryable(s *Simulator, _ *request, c conflict) *answer {
	const wait = 11 * time.Second
	word, name := "Put", s.guid()
	if c.op != nil {
		name = c.op.name
		if c.op.verb == "delete" {
			word = "Delete"
		}
	}
	a := armErrorDetail(http.StatusTooManyRequests, "RetryableError", "A retryable error occurred.", "RetryableErrorDueToAnotherOperation",
		fmt.Sprintf("Operation %sOperation (%s) is updating resource %s. The call can be retried in %d seconds.", word, name, c.root, int(wait.Seconds())))
	a.header.Set("X-Ms-Failure-Cause", "service")
	s.clock.setRetryAfter(a.header, wait)
	return a
}

func refuseNotAllowed(s *Simulator, _ *request, c conflict) *answer {
	verb, since := "update", s.clock.now()
	if c.op != nil {
		verb, since = c.op.verb, c.op.start
	}
	return armError(http.StatusConflict, "OperationNotAllowed",
		"Operation is not allowed because there's an in progress %s operation on the managed cluster %s started in %s. Please wait for it to finish before starting a new operation. See https://aka.ms/aks-pending-operation for more details.",
		verb, c.name, since.UTC().Format(time.RFC3339))
}

func refuseConcurrent(_ *Simulator, _ *request, c conflict) *answer {
	return armError(http.StatusConflict, "ConcurrentFederatedIdentityCredentialsWritesForSingleManagedIdentity",
		"Too many Federated Identity Credentials are written concurrently for the managed identity '%s'. Concurrent Federated Identity Credentials writes under the same managed identity are not supported.", strings.ToLower(c.root))
}
