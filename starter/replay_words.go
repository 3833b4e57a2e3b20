package main

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/armature-io/armature/payload"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// How the SDK words that history and workflow part (it has no other form; SDK
// v1.50.0, matchReplayWithHistory and the command state machines).
var (
	mismatched = regexp.MustCompile(`history event is (\w+): \((.*)\), replay command is (\w+): \((.*)\)`)
	missed     = regexp.MustCompile(`missing replay command for (\w+): \((.*)\)`)
	surplus    = regexp.MustCompile(`extra replay command for (\w+): \((.*)\)`)
	executed   = regexp.MustCompile(`code executed local activity (\w+), but history event found (\w+)`)
	lookedUp   = regexp.MustCompile(`scheduleEventID: (\d+)`)
	activityIn = regexp.MustCompile(`ActivityType:\(Name:([^)]*)\)`)
	markerIn   = regexp.MustCompile(`MarkerName:([\w-]+)`)
	idsIn      = regexp.MustCompile(`(ActivityId|TimerId|MarkerName):([^,)]+)`)
)

// parting says at which event of one decision the workflow parts from its
// history, what the history has there and what the workflow makes instead.
func parting(err error, events []*historypb.HistoryEvent) (eventID int64, expected, found string) {
	text := strings.Join(strings.Fields(err.Error()), " ")
	begin := events[0].GetEventId()
	if m := mismatched.FindStringSubmatch(text); m != nil {
		event := matching(events, m[1], m[2])
		return event.GetEventId(), eventWords(event), commandWords(m[3], m[4])
	}
	if m := missed.FindStringSubmatch(text); m != nil {
		event := matching(events, m[1], m[2])
		return event.GetEventId(), eventWords(event), "nothing more"
	}
	if m := surplus.FindStringSubmatch(text); m != nil {
		return begin, "nothing more in this workflow task", commandWords(m[1], m[2])
	}
	if m := executed.FindStringSubmatch(text); m != nil {
		for _, event := range events {
			if eventWords(event) == "local activity "+m[2] {
				begin = event.GetEventId()
			}
		}
		return begin, "local activity " + m[2], "local activity " + m[1]
	}
	if m := lookedUp.FindStringSubmatch(text); m != nil {
		if id, err := strconv.ParseInt(m[1], 10, 64); err == nil {
			for _, event := range events {
				if event.GetEventId() == id {
					return id, eventWords(event), "something else"
				}
			}
		}
	}
	return begin, "", ""
}

// matching is the event of a kind that the SDK printed: the first of that kind
// whose IDs are those of the text.
func matching(events []*historypb.HistoryEvent, kind, attributes string) *historypb.HistoryEvent {
	best := events[0]
	for _, event := range events {
		if event.GetEventType().String() != kind {
			continue
		}
		if best == events[0] {
			best = event
		}
		same := true
		for _, id := range idsIn.FindAllStringSubmatch(attributes, -1) {
			same = same && idOf(event, id[1]) == id[2]
		}
		if same {
			return event
		}
	}
	return best
}

func idOf(event *historypb.HistoryEvent, name string) string {
	switch name {
	case "ActivityId":
		return event.GetActivityTaskScheduledEventAttributes().GetActivityId()
	case "TimerId":
		return event.GetTimerStartedEventAttributes().GetTimerId() + event.GetTimerCanceledEventAttributes().GetTimerId()
	}
	return event.GetMarkerRecordedEventAttributes().GetMarkerName()
}

// eventWords say what an event of a history is.
func eventWords(event *historypb.HistoryEvent) string {
	switch event.GetEventType() {
	case enumspb.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED:
		return "activity " + event.GetActivityTaskScheduledEventAttributes().GetActivityType().GetName()
	case enumspb.EVENT_TYPE_TIMER_STARTED:
		return "a timer"
	case enumspb.EVENT_TYPE_TIMER_CANCELED:
		return "the end of a timer"
	case enumspb.EVENT_TYPE_MARKER_RECORDED:
		return markerWords(event.GetMarkerRecordedEventAttributes())
	}
	return event.GetEventType().String()
}

// localActivityMarker is how the SDK calls the marker of a local activity.
const localActivityMarker = "LocalActivity"

func markerWords(marker *historypb.MarkerRecordedEventAttributes) string {
	if marker.GetMarkerName() != localActivityMarker {
		return "the marker " + marker.GetMarkerName()
	}
	var data struct{ ActivityType string }
	held := marker.GetDetails()["data"]
	if len(held.GetPayloads()) == 0 || payload.DataConverter().FromPayload(held.GetPayloads()[0], &data) != nil {
		return "a local activity"
	}
	return "local activity " + data.ActivityType
}

// commandWords say what a command is, from how the SDK prints it.
func commandWords(kind, attributes string) string {
	name := activityIn.FindStringSubmatch(attributes)
	marker := markerIn.FindStringSubmatch(attributes)
	switch {
	case kind == "ScheduleActivityTask" && name != nil:
		return "activity " + name[1]
	case kind == "StartTimer":
		return "a timer"
	case kind == "CancelTimer":
		return "the end of a timer"
	case kind == "RecordMarker" && marker != nil && marker[1] == localActivityMarker:
		return "a local activity"
	case kind == "RecordMarker" && marker != nil:
		return "the marker " + marker[1]
	}
	return kind
}

// commanded reports whether an event is what a workflow task commanded: it names
// the task, or answers an update.
func commanded(event *historypb.HistoryEvent) bool {
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
