package armsim

import (
	"cmp"
	"fmt"
	"math"
	"net/http"
	"reflect"
	"strings"
	"time"
)

// The tables of changes: of resources in the table resources, and of the containers.
const (
	resourceChanges  = "resourcechanges"
	containerChanges = "resourcecontainerchanges"
)

// graphRecord is a record of Resource Graph.
type graphRecord struct {
	table      string
	resource   string // ID of the changed resource
	changeType string
	before     object // the snapshot that it is compared with; nil for a creation
	changes    map[string]valueChange
	author     Author
	operation  string
	at         time.Time // simulated
	stamp      time.Time // the same in real time, as clients see it
	typ        string
	copies     []graphCopy
}

// graphCopy is one report of a record.
type graphCopy struct {
	name    string
	visible time.Time // simulated
	row     object    // nil until a query needs it, and after the record has changed
}

// indexChange makes the record of Resource Graph of a change of a resource. A child that
// its parent contains is a change of the parent; other children and extension resources are
// in tables of their own, which are not simulated. Snapshots without a difference make no
// record. known is the comparison of r; zero if there is none.
func (s *Simulator) indexChange(r *resource, operation string, known snapshotChange) {
	target := s.graphTarget(r)
	if target == nil {
		return
	}
	after := known.after
	if target != r || after == nil {
		after = s.render(target)
	}
	record := &graphRecord{resource: target.id, typ: target.typ, changeType: changeUpdate, before: target.indexed, operation: operation}
	if target.indexed == nil {
		record.changeType = changeCreate
	} else if record.changes = known.changes; target != r || !sameObject(target.indexed, known.before) {
		record.changes = compareSnapshots(target.indexed, after)
	}
	target.indexed = after
	if record.changeType == changeCreate || len(record.changes) > 0 {
		s.addGraphRecord(record, after)
	}
}

// sameObject reports whether two values are one object in memory.
func sameObject(a, b object) bool {
	return reflect.ValueOf(a).Pointer() == reflect.ValueOf(b).Pointer()
}

// indexDelete makes the record of a deletion, or of the parent's change.
func (s *Simulator) indexDelete(r *resource) {
	if r.indexed != nil {
		before := r.indexed
		r.indexed = nil
		s.addGraphRecord(&graphRecord{resource: r.id, typ: r.typ, changeType: changeDelete, before: before, operation: s.actor.operation(r.typ, "delete")}, nil)
		return
	}
	if parent := s.find(parentOf(r.id)); parent != nil && s.contains(parent, r) {
		s.indexChange(parent, s.actor.operation(r.typ, "delete"), snapshotChange{})
	}
}

// graphTarget returns the resource whose record contains the changes of r, nil if there is
// none.
func (s *Simulator) graphTarget(r *resource) *resource {
	t, ok := parseID(r.id)
	switch {
	case !ok:
		return nil
	case t.kind == kindGroup || isTracked(r, t):
		return r
	}
	if parent := s.find(parentOf(r.id)); parent != nil && s.contains(parent, r) {
		return s.graphTarget(parent)
	}
	return nil
}

// isTracked reports whether the table resources has a resource. The tracked children in
// it, for example microsoft.compute/virtualmachines/extensions and
// microsoft.containerregistry/registries/replications, are those with a location
// (learn.microsoft.com/azure/governance/resource-graph/reference/supported-tables-resources).
func isTracked(r *resource, t target) bool {
	return t.kind == kindResource && !t.isExtension() && text(r.body, "location") != ""
}

// contains reports whether a body of the parent contains the child.
func (s *Simulator) contains(parent, child *resource) bool {
	t, ok := parseID(child.id)
	if !ok || len(t.types) < 2 {
		return false
	}
	for _, inline := range s.ruleFor(parent.typ).inline {
		if strings.EqualFold(inline.collection, t.types[len(t.types)-1]) {
			return true
		}
	}
	return false
}

// addGraphRecord adds a record, or joins it with the last one of its resource.
func (s *Simulator) addGraphRecord(record *graphRecord, after object) {
	p, reporting := s.reports, s.options.Changes
	record.table = resourceChanges
	if strings.EqualFold(record.typ, groupType) {
		record.table = containerChanges
	}
	record.author, record.at = s.actor.Author, s.effectTime()
	record.stamp = s.realTime(record.at)
	if last := p.latest[key(record.resource)]; last != nil && s.joins(last, record) {
		if last.changeType == changeUpdate {
			last.author, last.operation, last.at, last.stamp = record.author, record.operation, record.at, record.stamp
			last.changes = compareSnapshots(last.before, after)
			for i := range last.copies {
				last.copies[i].row = nil
			}
		}
		return
	}
	for _, delay := range reporting.Graph.delays(p.random) {
		name := fmt.Sprintf("%020d_%s", math.MaxInt64-ticksOf(record.stamp), p.newGUID())
		record.copies = append(record.copies, graphCopy{name: name, visible: record.at.Add(delay)})
	}
	p.latest[key(record.resource)] = record
	p.records = bounded(append(p.records, record), maxChanges)
	s.dropOldRecords()
}

// ticksOf returns a time in the ticks of .NET: published names of records begin with the
// ticks that are left.
func ticksOf(at time.Time) int64 {
	const unixEpoch = 621_355_968_000_000_000
	return unixEpoch + at.UnixNano()/100
}

// joins reports whether a change becomes part of the last record of its resource: soon
// after it, and before a report of it is visible.
func (s *Simulator) joins(last, record *graphRecord) bool {
	if last.changeType == changeDelete || record.changeType != changeUpdate || record.at.Sub(last.at) > s.options.Changes.Merge {
		return false
	}
	for _, shown := range last.copies {
		if !record.at.Before(shown.visible) {
			return false
		}
	}
	return true
}

// dropOldRecords removes the records that are older than the retention.
func (s *Simulator) dropOldRecords() {
	p, oldest := s.reports, s.clock.now().Add(-s.options.Changes.Retention)
	for len(p.records) > 0 && p.records[0].at.Before(oldest) {
		if record := p.records[0]; p.latest[key(record.resource)] == record {
			delete(p.latest, key(record.resource))
		}
		p.records = p.records[1:]
	}
}

// realTime returns the real time of a change, which is what clients see: their clocks do
// not follow the simulated one. A change happens after the last check of operations, also
// if a jump of the simulated time lies between.
func (s *Simulator) realTime(at time.Time) time.Time {
	now := s.options.Clock()
	passed := time.Duration(float64(s.clock.now().Sub(at)) / s.clock.scale)
	if earliest := s.reports.checkedReal; now.Add(-passed).Before(earliest) {
		return earliest
	}
	return now.Add(-passed)
}

// row returns a record as a row of its table. Its form is that of published rows
// (get-resource-changes.md). Only an update has changes.
func (record *graphRecord) row(tenant, name string) object {
	t, _ := parseID(record.resource) // the ID of a stored resource parses
	attributes := object{
		"timestamp": timeText(record.stamp), "correlationId": cmp.Or(record.author.CorrelationID, noCorrelation),
		"changedBy": record.author.name(), "changedByType": record.author.kind(), "clientType": record.author.client(),
		"operation": record.operation, "changesCount": len(record.changes),
		"previousResourceSnapshotId": name + "_1", "newResourceSnapshotId": name + "_2",
	}
	properties := object{
		"targetResourceId": record.resource, "targetResourceType": strings.ToLower(operationType(record.typ)),
		"changeType": record.changeType, "changeAttributes": attributes,
	}
	if record.changeType == changeUpdate {
		changes := object{}
		for path, change := range record.changes {
			changes[path] = object{"previousValue": change.before, "newValue": change.after}
		}
		properties["changes"] = changes
	}
	return object{
		"id": record.resource + "/providers/Microsoft.Resources/changes/" + name, "name": name, "type": "microsoft.resources/changes",
		"tenantId": tenant, "location": "", "kind": "", "managedBy": "", "resourceGroup": strings.ToLower(t.group),
		"subscriptionId": t.subscription, "tags": nil, "identity": nil, "sku": nil, "plan": nil, "zones": nil,
		"extendedLocation": nil, "properties": properties,
	}
}

// timeText returns a time as Resource Graph writes it: in milliseconds, without zeros at
// the end.
func timeText(at time.Time) string {
	return at.UTC().Truncate(time.Millisecond).Format("2006-01-02T15:04:05.999Z07:00")
}

// changeRows returns the visible rows of tables that the principal may read, in no order of
// their changes.
func (s *Simulator) changeRows(body object, tables []string) []object {
	now := s.clock.now()
	s.dropOldRecords()
	tenant := cmp.Or(s.options.TenantID, "00000000-0000-0000-0000-000000000000")
	var rows []object
	for _, record := range s.reports.records {
		if !containsFold(tables, record.table) || !inQueryScope(body, record.resource) || s.deniedRead(record.resource) {
			continue
		}
		if record.changeType == changeUpdate && len(record.changes) == 0 {
			continue // a second write undid the first one
		}
		for i := range record.copies {
			shown := &record.copies[i]
			if now.Before(shown.visible) {
				continue
			}
			if shown.row == nil {
				shown.row = record.row(tenant, shown.name)
			}
			rows = append(rows, shown.row)
		}
	}
	return rows
}

// inQueryScope reports whether a resource is in the subscriptions of a query; a query
// without any is for all.
func inQueryScope(body object, id string) bool {
	subscriptions, _ := body["subscriptions"].([]any)
	if len(subscriptions) == 0 {
		return true
	}
	for _, subscription := range subscriptions {
		if name, _ := subscription.(string); within(id, "/subscriptions/"+name) {
			return true
		}
	}
	return false
}

// deniedRead reports whether a denial covers reads of a resource.
func (s *Simulator) deniedRead(id string) bool {
	for _, d := range s.denials {
		if globMatch(d.Scope, id) && globMatch(d.Method, http.MethodGet) {
			return true
		}
	}
	return false
}

// checkGraphScope refuses a query if the principal may read none of its subscriptions. Of
// several subscriptions the service leaves out those that it may not read.
func (s *Simulator) checkGraphScope(body object) *response {
	subscriptions, _ := body["subscriptions"].([]any)
	for _, subscription := range subscriptions {
		if name, _ := subscription.(string); !s.deniedRead("/subscriptions/" + name) {
			return nil
		}
	}
	if len(subscriptions) == 0 {
		return nil
	}
	first, _ := subscriptions[0].(string)
	return s.errDenied("read", "Microsoft.Resources/subscriptions/resources", "/subscriptions/"+first)
}
