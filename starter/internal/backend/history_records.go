package backend

import (
	"cmp"
	"slices"
	"strings"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/sdk/converter"

	"github.com/armature-io/armature/activities/writing"
	"github.com/armature-io/armature/internal/audit"
	"github.com/armature-io/armature/internal/text"
	"github.com/armature-io/armature/resource"
)

// HistoryRun is the history of one run of a workflow.
type HistoryRun struct {
	WorkflowID, RunID string
	Started           time.Time
	Events            []*historypb.HistoryEvent
}

// HistoryEnd describes where the histories begin: what was before is not in Temporal any more, or
// there was nothing.
func HistoryEnd(runs []HistoryRun) string {
	if len(runs) == 0 {
		return "Temporal has no history of it"
	}
	first := runs[0]
	if before := first.Continued(); before != "" {
		return "the histories in Temporal begin at " + text.Time(first.Started) + "; the run before, " + before + ", is past the retention of the namespace"
	}
	return "the histories in Temporal begin at " + text.Time(first.Started) + ", where its workflow was started"
}

// Continued returns the run that this one continues, "" for none.
func (r HistoryRun) Continued() string {
	if len(r.Events) == 0 {
		return ""
	}
	return r.Events[0].GetWorkflowExecutionStartedEventAttributes().GetContinuedExecutionRunId()
}

// AuditRecords returns the events of runs, oldest first, since a time; zero for all.
func AuditRecords(decode converter.DataConverter, runs []HistoryRun, since time.Time) []audit.Record {
	var records []audit.Record
	for _, run := range runs {
		r := &historyReader{run: run, decode: decode, updates: map[int64]*audit.Record{}, activities: map[int64]*scheduled{}}
		for _, event := range run.Events {
			r.read(event)
		}
		records = append(records, r.records()...)
	}
	slices.SortStableFunc(records, func(a, b audit.Record) int { return a.Time.Compare(b.Time) })
	return slices.DeleteFunc(records, func(record audit.Record) bool { return record.Time.Before(since) })
}

// scheduled is an activity that may write.
type scheduled struct {
	*audit.Record
	// attempt is the number of its last attempt.
	attempt int32
}

// historyReader reads one run.
type historyReader struct {
	run    HistoryRun
	decode converter.DataConverter
	// found are the records in the order of their events; updates and activities find those
	// that a later event completes.
	found      []*audit.Record
	updates    map[int64]*audit.Record
	activities map[int64]*scheduled
	// id and apiVersion are those of the last spec, differences those of the last pre-check.
	id          resource.ID
	apiVersion  string
	appliedBy   string
	deletedBy   string
	differences resource.Verdict
}

// records returns the records of the run. A step that has not ended is one that may have
// sent its request.
func (r *historyReader) records() []audit.Record {
	var records []audit.Record
	for _, record := range r.found {
		if record.Event == "" {
			continue
		}
		record.Schema = audit.Schema
		records = append(records, *record)
	}
	return records
}

// read reads one event.
func (r *historyReader) read(event *historypb.HistoryEvent) {
	switch event.GetEventType() {
	case enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED:
		r.readStart(event)
	case enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_UPDATE_ACCEPTED:
		r.readUpdate(event)
	case enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_UPDATE_COMPLETED:
		r.readUpdateResult(event)
	case enumspb.EVENT_TYPE_MARKER_RECORDED:
		r.readMarker(event)
	case enumspb.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED:
		r.readActivity(event)
	case enumspb.EVENT_TYPE_ACTIVITY_TASK_STARTED:
		started := event.GetActivityTaskStartedEventAttributes()
		if activity := r.activities[started.GetScheduledEventId()]; activity != nil {
			activity.attempt = started.GetAttempt()
		}
	case enumspb.EVENT_TYPE_ACTIVITY_TASK_COMPLETED:
		r.readResult(event)
	}
}

// common returns a record with what all records of the run have.
func (r *historyReader) common(event *historypb.HistoryEvent) *audit.Record {
	record := &audit.Record{
		Time: event.GetEventTime().AsTime(), ID: r.id.String(), Type: r.id.Type(), APIVersion: r.apiVersion,
		WorkflowID: r.run.WorkflowID, RunID: r.run.RunID, CorrelationID: r.run.RunID,
	}
	r.found = append(r.found, record)
	return record
}

// fill completes the records before the first spec of the run was known.
func (r *historyReader) fill(id resource.ID, apiVersion string) {
	r.id, r.apiVersion = id, apiVersion
	for _, record := range r.found {
		if record.ID == "" {
			record.ID, record.Type, record.APIVersion = id.String(), id.Type(), apiVersion
		}
	}
}

// by returns a user that was not verified, nil for none.
func by(name string) *audit.Subject {
	if name == "" {
		return nil
	}
	return &audit.Subject{Name: name}
}

// causeOf returns why a step wrote: what it was sent, else the last pre-check.
func (r *historyReader) causeOf(sent *writing.Cause) writing.Cause {
	if sent != nil {
		return *sent
	}
	last := r.differences
	return writing.Cause{By: r.appliedBy, Reason: last.Reason, Message: last.WithAuthor(), Differences: last.Differences, More: last.More}
}

// deletion returns why a step deleted.
func (r *historyReader) deletion(sent *writing.Cause) writing.Cause {
	if sent != nil {
		return *sent
	}
	return writing.Cause{By: cmp.Or(r.deletedBy, r.appliedBy), Reason: resource.ReasonDeleting}
}

// isPatch reports whether the verdict of a PUT names a PATCH.
func isPatch(verdict resource.Verdict) bool {
	return strings.HasPrefix(verdict.Message, "ARM accepted the PATCH")
}
