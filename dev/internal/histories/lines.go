package histories

import (
	"fmt"
	"sort"
	"strings"

	failurepb "go.temporal.io/api/failure/v1"
	historypb "go.temporal.io/api/history/v1"

	"github.com/armature-io/armature/payload"
)

// Lines prints a history, one line an event: number, time, type, what it is
// about, and its summary. With payloads the inputs and results follow, decoded.
func Lines(history *historypb.History, payloads bool) []string {
	var lines []string
	for _, event := range history.GetEvents() {
		about, content := describe(event)
		line := fmt.Sprintf("%4d  %s  %-38s %s", event.GetEventId(),
			event.GetEventTime().AsTime().Format("15:04:05.000"), event.GetEventType(), about)
		if summary := text(event.GetUserMetadata().GetSummary()); summary != "" {
			line += " • " + summary
		}
		if payloads && content != "" {
			line += "  " + content
		}
		lines = append(lines, strings.TrimRight(line, " "))
	}
	return lines
}

// describe says what an event is about, and gives its payloads decoded.
func describe(event *historypb.HistoryEvent) (about, content string) {
	switch a := event.GetAttributes().(type) {
	case *historypb.HistoryEvent_WorkflowExecutionStartedEventAttributes:
		started := a.WorkflowExecutionStartedEventAttributes
		about = started.GetWorkflowType().GetName()
		if before := started.GetContinuedExecutionRunId(); before != "" {
			about += " continued from " + before
		}
		return about, texts(started.GetInput())
	case *historypb.HistoryEvent_WorkflowExecutionCompletedEventAttributes:
		return "", texts(a.WorkflowExecutionCompletedEventAttributes.GetResult())
	case *historypb.HistoryEvent_WorkflowExecutionFailedEventAttributes:
		return failure(a.WorkflowExecutionFailedEventAttributes.GetFailure()), ""
	case *historypb.HistoryEvent_WorkflowExecutionContinuedAsNewEventAttributes:
		next := a.WorkflowExecutionContinuedAsNewEventAttributes
		return "as " + next.GetNewExecutionRunId(), texts(next.GetInput())
	case *historypb.HistoryEvent_WorkflowTaskFailedEventAttributes:
		return failure(a.WorkflowTaskFailedEventAttributes.GetFailure()), ""
	case *historypb.HistoryEvent_TimerStartedEventAttributes:
		return a.TimerStartedEventAttributes.GetStartToFireTimeout().AsDuration().String(), ""
	case *historypb.HistoryEvent_TimerFiredEventAttributes:
		return of(a.TimerFiredEventAttributes.GetStartedEventId()), ""
	case *historypb.HistoryEvent_TimerCanceledEventAttributes:
		return of(a.TimerCanceledEventAttributes.GetStartedEventId()), ""
	case *historypb.HistoryEvent_WorkflowExecutionSignaledEventAttributes:
		signaled := a.WorkflowExecutionSignaledEventAttributes
		return signaled.GetSignalName(), texts(signaled.GetInput())
	case *historypb.HistoryEvent_MarkerRecordedEventAttributes:
		return marker(a.MarkerRecordedEventAttributes)
	}
	if about, content, ok := describeActivity(event); ok {
		return about, content
	}
	return describeUpdate(event)
}

func describeActivity(event *historypb.HistoryEvent) (about, content string, ok bool) {
	switch a := event.GetAttributes().(type) {
	case *historypb.HistoryEvent_ActivityTaskScheduledEventAttributes:
		scheduled := a.ActivityTaskScheduledEventAttributes
		return scheduled.GetActivityType().GetName(), texts(scheduled.GetInput()), true
	case *historypb.HistoryEvent_ActivityTaskStartedEventAttributes:
		started := a.ActivityTaskStartedEventAttributes
		about = of(started.GetScheduledEventId())
		if started.GetAttempt() > 1 {
			about += fmt.Sprintf(", attempt %d after %s", started.GetAttempt(), failure(started.GetLastFailure()))
		}
		return about, "", true
	case *historypb.HistoryEvent_ActivityTaskCompletedEventAttributes:
		completed := a.ActivityTaskCompletedEventAttributes
		return of(completed.GetScheduledEventId()), texts(completed.GetResult()), true
	case *historypb.HistoryEvent_ActivityTaskFailedEventAttributes:
		failed := a.ActivityTaskFailedEventAttributes
		return of(failed.GetScheduledEventId()) + ": " + failure(failed.GetFailure()), "", true
	case *historypb.HistoryEvent_ActivityTaskTimedOutEventAttributes:
		timedOut := a.ActivityTaskTimedOutEventAttributes
		return of(timedOut.GetScheduledEventId()) + ": " + failure(timedOut.GetFailure()), "", true
	}
	return "", "", false
}

func describeUpdate(event *historypb.HistoryEvent) (about, content string) {
	switch a := event.GetAttributes().(type) {
	case *historypb.HistoryEvent_WorkflowExecutionUpdateAcceptedEventAttributes:
		input := a.WorkflowExecutionUpdateAcceptedEventAttributes.GetAcceptedRequest().GetInput()
		return input.GetName(), texts(input.GetArgs())
	case *historypb.HistoryEvent_WorkflowExecutionUpdateCompletedEventAttributes:
		completed := a.WorkflowExecutionUpdateCompletedEventAttributes
		about = of(completed.GetAcceptedEventId())
		if problem := completed.GetOutcome().GetFailure(); problem != nil {
			return about + ": " + failure(problem), ""
		}
		return about, texts(completed.GetOutcome().GetSuccess())
	case *historypb.HistoryEvent_UpsertWorkflowSearchAttributesEventAttributes:
		fields := a.UpsertWorkflowSearchAttributesEventAttributes.GetSearchAttributes().GetIndexedFields()
		var pairs []string
		for name, value := range fields {
			pairs = append(pairs, name+"="+text(value))
		}
		sort.Strings(pairs)
		return strings.Join(pairs, " "), ""
	}
	return "", ""
}

// marker names the local activity of a marker instead of the word that all
// local activities share.
func marker(recorded *historypb.MarkerRecordedEventAttributes) (about, content string) {
	details := recorded.GetDetails()
	var local struct{ ActivityType string }
	if data := details["data"].GetPayloads(); len(data) > 0 && payload.DataConverter().FromPayload(data[0], &local) == nil && local.ActivityType != "" {
		about = local.ActivityType
	} else {
		about = recorded.GetMarkerName()
	}
	if problem := recorded.GetFailure(); problem != nil {
		about += ": " + failure(problem)
	}
	return about, texts(details["result"])
}

func failure(f *failurepb.Failure) string {
	var messages []string
	for ; f != nil; f = f.GetCause() {
		messages = append(messages, f.GetMessage())
	}
	return strings.Join(messages, ": ")
}

func of(eventID int64) string { return fmt.Sprintf("of %d", eventID) }
