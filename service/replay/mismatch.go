package replay

import (
	"sort"

	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/sdk/workflow"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// explain finds the first workflow task with different commands, and in it the first
// event that differs. A replay of the whole history would report a consequence many
// events later.
func (p Replayer) explain(result *Result, history *historypb.History, execution workflow.Execution, tasks []workflowTask) {
	events := history.GetEvents()
	first := sort.Search(len(tasks), func(i int) bool {
		return p.replay(&historypb.History{Events: events[:tasks[i].end]}, execution) != nil
	})
	if first == len(tasks) {
		return
	}
	before := 0
	if first > 0 {
		before = len(p.commandsOf(events[:tasks[first-1].end], execution))
	}
	task := tasks[first]
	commands := p.commandsOf(events[:task.end], execution)
	result.EventID, result.Expected, result.Found = p.firstMismatch(events[task.begin:task.end], commands[min(before, len(commands)):])
}

// commandsOf returns the commands of a workflow that replays the events.
func (p Replayer) commandsOf(events []*historypb.HistoryEvent, execution workflow.Execution) []string {
	r := &recorder{}
	_ = p.replay(&historypb.History{Events: events}, execution, r) // the commands before the error count
	return r.commands
}

// firstMismatch compares the events of one workflow task with the commands of this
// version. Events that the recorder cannot see are skipped.
func (p Replayer) firstMismatch(events []*historypb.HistoryEvent, commands []string) (eventID int64, expected, found string) {
	next := 0
	for _, event := range events {
		expected := p.commandText(event)
		if expected == "" {
			continue
		}
		if next == len(commands) {
			return event.GetEventId(), expected, "nothing more"
		}
		if commands[next] != expected {
			return event.GetEventId(), expected, commands[next]
		}
		next++
	}
	if next < len(commands) {
		return events[0].GetEventId(), "nothing more in this workflow task", commands[next]
	}
	return events[0].GetEventId(), "", ""
}

// commandText returns the command that an event records, in the recorder's form; ""
// for an event without a command, or with one that the recorder cannot see.
func (p Replayer) commandText(event *historypb.HistoryEvent) string {
	switch event.GetEventType() {
	case enumspb.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED:
		return activityCommand + event.GetActivityTaskScheduledEventAttributes().GetActivityType().GetName()
	case enumspb.EVENT_TYPE_TIMER_STARTED:
		return timerCommand
	case enumspb.EVENT_TYPE_MARKER_RECORDED:
		return p.markerText(event.GetMarkerRecordedEventAttributes())
	case enumspb.EVENT_TYPE_SIGNAL_EXTERNAL_WORKFLOW_EXECUTION_INITIATED:
		return signalCommand + event.GetSignalExternalWorkflowExecutionInitiatedEventAttributes().GetSignalName()
	}
	return ""
}

// localActivityMarker is the SDK's name for the marker of a local activity.
const localActivityMarker = "LocalActivity"

func (p Replayer) markerText(marker *historypb.MarkerRecordedEventAttributes) string {
	if marker.GetMarkerName() != localActivityMarker {
		return markerCommand + marker.GetMarkerName()
	}
	var data struct{ ActivityType string }
	details := marker.GetDetails()["data"]
	if len(details.GetPayloads()) == 0 || p.Converter.FromPayload(details.GetPayloads()[0], &data) != nil {
		return localActivityCommand
	}
	return localActivityCommand + data.ActivityType
}

// isCommandEvent reports whether an event records a command of a workflow task: it
// refers to the task, or belongs to an update.
func isCommandEvent(event *historypb.HistoryEvent) bool {
	switch event.GetEventType() {
	case enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_UPDATE_ACCEPTED, enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_UPDATE_COMPLETED,
		enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_UPDATE_REJECTED:
		return true
	}
	message := event.ProtoReflect()
	attributes := message.WhichOneof(message.Descriptor().Oneofs().ByName("attributes"))
	if attributes == nil {
		return false
	}
	inner := message.Get(attributes).Message()
	field := inner.Descriptor().Fields().ByName(protoreflect.Name("workflow_task_completed_event_id"))
	return field != nil && inner.Get(field).Int() > 0
}
