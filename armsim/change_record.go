package armsim

import (
	"fmt"
	"math/rand"
	"strings"
	"time"
)

// maxChanges bounds the record of changes, in entries.
const maxChanges = 100_000

// The kinds of a change.
const (
	changeCreate = "Create"
	changeUpdate = "Update"
	changeDelete = "Delete"
	changeAction = "Action" // a POST, which Event Grid reports
)

// Change is one accepted write, deletion or action when its effect happens: for an
// asynchronous operation at its end.
type Change struct {
	Seq  int       `json:"seq"`
	Time time.Time `json:"time"` // simulated
	ID   string    `json:"id"`
	Type string    `json:"type"`
	// ChangeType is Create, Update, Delete or Action.
	ChangeType    string `json:"changeType"`
	Status        string `json:"status"` // Succeeded or Failed
	CorrelationID string `json:"correlationId"`
	ChangedBy     string `json:"changedBy"`
	ChangedByType string `json:"changedByType"`
	ClientType    string `json:"clientType"`
	Operation     string `json:"operation"` // for example Microsoft.Network/virtualNetworks/write
	// Paths are the changed values of an update, sorted. A write that changes nothing has
	// none.
	Paths []string `json:"paths,omitempty"`
}

// reports contains the record of changes, and what the two sources make of it. It has its
// own random numbers, so that reports do not change other values of a seed. The
// simulator's lock guards it.
type reports struct {
	random  *rand.Rand
	seq     int
	changes []Change
	touched []*resource // changed or removed by the effect of another resource's change
	checked time.Time   // when operations were last completed
	// checkedReal is the same in real time.
	checkedReal time.Time
	subscribed  []eventDestination      // of event subscriptions; nil if they have changed
	records     []*graphRecord          // of Resource Graph, oldest first
	latest      map[string]*graphRecord // by lower-cased ID of the resource
}

func newReports(seed int64) *reports {
	return &reports{random: rand.New(rand.NewSource(seed + 1)), latest: map[string]*graphRecord{}}
}

func (p *reports) newGUID() string { return guidFrom(p.random) }

// Changes returns the record of changes, oldest first.
func (s *Simulator) Changes() []Change {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.completeDueOperations()
	return append([]Change{}, s.reports.changes[max(0, len(s.reports.changes)-maxChanges):]...)
}

// recordWrite records that a write of a resource took effect. A failed one has the status
// Failed.
func (s *Simulator) recordWrite(r *resource, status string) {
	after := s.render(r)
	changeType := changeCreate
	if r.snapshot != nil {
		changeType = changeUpdate
	}
	compared := s.takeSnapshot(r, after)
	for _, inline := range s.ruleFor(r.typ).inline { // a part of this change
		for _, child := range s.children(r.id, inline.collection) {
			child.snapshot = s.render(child)
		}
	}
	s.addChange(r, changeType, "write", status, changedPaths(compared.changes))
	s.indexChange(r, s.actor.operation(r.typ, "write"), compared)
	s.recordTouched()
}

// snapshotChange is the comparison of the last two snapshots of a resource.
type snapshotChange struct {
	before, after object
	changes       map[string]valueChange // none of a creation
}

// takeSnapshot makes a body the snapshot of a resource.
func (s *Simulator) takeSnapshot(r *resource, after object) snapshotChange {
	compared := snapshotChange{before: r.snapshot, after: after}
	if r.snapshot != nil {
		compared.changes = compareSnapshots(r.snapshot, after)
	}
	r.snapshot = after
	return compared
}

// recordFailure records a write or deletion that changed nothing.
func (s *Simulator) recordFailure(r *resource, changeType, verb string) {
	s.addChange(r, changeType, verb, "Failed", nil)
}

// recordDelete records that a resource was deleted.
func (s *Simulator) recordDelete(r *resource) {
	r.snapshot = nil
	s.addChange(r, changeDelete, "delete", "Succeeded", nil)
	s.indexDelete(r)
	s.recordTouched()
}

// recordAction records that an action on a resource succeeded at once.
func (s *Simulator) recordAction(r *resource, name string) {
	s.addChange(r, changeAction, name+"/action", "Succeeded", nil)
	s.recordTouched()
}

// recordActionEnd records the end of an action with an operation, and the values that it
// changed.
func (s *Simulator) recordActionEnd(r *resource, name, status string) {
	var paths []string
	if r.snapshot != nil && s.find(r.id) == r {
		compared := s.takeSnapshot(r, s.render(r))
		paths = changedPaths(compared.changes)
		s.indexChange(r, s.actor.operation(r.typ, name+"/action"), compared)
	}
	s.addChange(r, changeAction, name+"/action", status, paths)
	s.recordTouched()
}

// recordOperation records the end of an operation.
func (s *Simulator) recordOperation(op *operation, status string) {
	changes := status == "Succeeded" || !op.detached && !op.resource.hidden
	switch {
	case op.verb == "action" || op.verb == "validate":
		s.recordActionEnd(op.resource, op.action, status)
	case op.verb == "move":
		s.recordActionEnd(op.resource, "moveResources", status)
	case op.verb == "delete":
		s.recordFailure(op.resource, changeDelete, "delete")
	case !changes && op.verb == "create":
		s.recordFailure(op.resource, changeCreate, "write")
	case !changes:
		s.recordFailure(op.resource, changeUpdate, "write")
	default:
		s.recordWrite(op.resource, status)
	}
}

// touch notes that the effect of a change reaches another resource. Azure reports that as
// a change of its own.
func (s *Simulator) touch(r *resource) {
	if r != nil {
		s.reports.touched = append(s.reports.touched, r)
	}
}

// recordTouched records the changes that Azure made by itself to other resources.
func (s *Simulator) recordTouched() {
	touched := s.reports.touched
	if len(touched) == 0 {
		return
	}
	s.reports.touched = nil
	defer s.actAs(systemActor())()
	for _, r := range touched {
		switch after := s.render(r); {
		case s.find(r.id) != r:
			s.recordDelete(r)
		case r.snapshot == nil || len(compareSnapshots(r.snapshot, after)) > 0:
			s.recordWrite(r, "Succeeded")
		}
	}
}

// addChange adds a change by the present actor.
func (s *Simulator) addChange(r *resource, changeType, operation, status string, paths []string) {
	p := s.reports
	p.seq++
	change := Change{
		Seq: p.seq, Time: s.effectTime(), ID: r.id, Type: r.typ, ChangeType: changeType, Status: status,
		CorrelationID: s.actor.CorrelationID, ChangedBy: s.actor.name(), ChangedByType: s.actor.kind(),
		ClientType: s.actor.client(), Operation: unspecified, Paths: paths,
	}
	if !s.actor.System {
		change.Operation = operationName(r.typ, operation)
	}
	p.changes = bounded(append(p.changes, change), maxChanges)
	s.forgetSubscriptions(change.Type)
	s.raiseEvent(change)
}

// effectTime returns the simulated time of the change that is recorded.
func (s *Simulator) effectTime() time.Time {
	if s.actor.at.IsZero() {
		return s.clock.now()
	}
	return s.actor.at
}

// endOf returns the origin of the changes that happen at the end of an operation. An
// operation that was held ends after the last check that found it in progress.
func (s *Simulator) endOf(op *operation) actor {
	by := op.actor
	by.at = op.end
	if s.reports.checked.After(op.end) {
		by.at = s.reports.checked
	}
	return by
}

func (a Author) client() string {
	if a.System || a.Client == "" {
		return unspecified
	}
	return a.Client
}

// operation returns the operation as Resource Graph reports it. It names none for an author
// that it does not know.
func (a Author) operation(typ, verb string) string {
	if a.System || a.Name == "" {
		return unspecified
	}
	return operationName(typ, verb)
}

// operationName returns an operation as Azure's roles name it. Resource groups have a type
// of their own there: Microsoft.Resources/subscriptions/resourceGroups/write.
func operationName(typ, verb string) string { return operationType(typ) + "/" + verb }

// operationType returns a type as operations name it.
func operationType(typ string) string {
	if strings.EqualFold(typ, groupType) {
		return "Microsoft.Resources/subscriptions/resourceGroups"
	}
	return typ
}

// standsAlone reports whether Azure reports the deletion of a resource with its group: one
// at the top, or a child that is tracked as one.
func standsAlone(r *resource) bool {
	t, ok := parseID(r.id)
	return ok && t.kind == kindResource && !t.isExtension() && (len(t.types) == 1 || text(r.body, "location") != "")
}

// guidFrom returns the next GUID of a source of random numbers.
func guidFrom(random *rand.Rand) string {
	var b [16]byte
	random.Read(b[:]) // math/rand never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[0:4], b[4:6], b[6:8], b[8:10], b[10:16])
}
