package backend

import (
	"testing"

	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
)

// TestChecksOf checks that the fingerprint is that of the worker that checked, and not of one
// that took a message afterwards.
func TestChecksOf(t *testing.T) {
	completed := func(id int64, identity string) *historypb.HistoryEvent {
		return &historypb.HistoryEvent{
			EventId: id, EventType: enumspb.EVENT_TYPE_WORKFLOW_TASK_COMPLETED,
			Attributes: &historypb.HistoryEvent_WorkflowTaskCompletedEventAttributes{
				WorkflowTaskCompletedEventAttributes: &historypb.WorkflowTaskCompletedEventAttributes{Identity: identity},
			},
		}
	}
	marker := func(id, task int64, name string) *historypb.HistoryEvent {
		return &historypb.HistoryEvent{
			EventId: id, EventType: enumspb.EVENT_TYPE_MARKER_RECORDED,
			Attributes: &historypb.HistoryEvent_MarkerRecordedEventAttributes{
				MarkerRecordedEventAttributes: &historypb.MarkerRecordedEventAttributes{MarkerName: name, WorkflowTaskCompletedEventId: task},
			},
		}
	}
	cases := map[string]struct {
		reason string
		events []*historypb.HistoryEvent
		want   string
	}{
		"none":        {reason: "the run has no event yet"},
		"last pass":   {"the newest pass counts", []*historypb.HistoryEvent{marker(12, 10, localActivity), marker(11, 10, localActivity), completed(10, "1@a@ checks=new"), marker(5, 4, localActivity), completed(4, "2@b@ checks=old")}, "new"},
		"a message":   {"a later task had no check", []*historypb.HistoryEvent{completed(20, "2@b@ checks=other"), marker(15, 14, "Version"), completed(14, "2@b@ checks=other"), marker(11, 10, localActivity), completed(10, "1@a@ checks=new")}, "new"},
		"no checks":   {"another program ran it", []*historypb.HistoryEvent{marker(11, 10, localActivity), completed(10, "1@a@")}, ""},
		"too far":     {"the task is not among the last events", []*historypb.HistoryEvent{marker(11, 10, localActivity)}, ""},
		"without one": {"no pass is among the last events", []*historypb.HistoryEvent{completed(10, "1@a@ checks=new")}, ""},
	}
	for name, c := range cases {
		if got := checksOf(c.events); got != c.want {
			t.Errorf("%s: %s: got %q, want %q", name, c.reason, got, c.want)
		}
	}
}
