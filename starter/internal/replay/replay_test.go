package replay

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/armature-io/armature/workflows"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/sdk/workflow"
)

const recordedHistories = "../../../workflows/testdata/histories"

// recorded returns a recorded history.
func recorded(t *testing.T, scenario string) *historypb.History {
	t.Helper()
	history, err := readFile(filepath.Join(recordedHistories, scenario+".json"))
	if err != nil {
		t.Fatal(err)
	}
	return history
}

// firstOf is the first event of a kind.
func firstOf(t *testing.T, h *historypb.History, kind enumspb.EventType) *historypb.HistoryEvent {
	t.Helper()
	for _, event := range h.GetEvents() {
		if event.GetEventType() == kind {
			return event
		}
	}
	t.Fatalf("no event %s", kind)
	return nil
}

func TestOneAltered(t *testing.T) {
	cases := map[string]struct {
		reason, scenario, want string
		change                 func(*testing.T, *historypb.History)
	}{
		"another activity": {
			reason: "both sides are named", scenario: "long-operation",
			want: "nondeterminism at event 8 of 36: the history has activity Other, this version has activity GetResource; workflow /subscriptions/",
			change: func(t *testing.T, h *historypb.History) {
				firstOf(t, h, enumspb.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED).GetActivityTaskScheduledEventAttributes().ActivityType.Name = "Other"
			},
		},
		"another workflow": {
			reason: "the first event that differs, not the last consequence", scenario: "create",
			want: "nondeterminism at event 7 of 30: the history has local activity CheckOwner, this version has a timer",
			change: func(_ *testing.T, h *historypb.History) {
				startOf(h).WorkflowType.Name = workflows.SerializeSiblingsWorkflow
			},
		},
		"a later activity": {
			reason: "the task that differs is looked for", scenario: "drift",
			want: "the history has activity Later, this version has activity ",
			change: func(_ *testing.T, h *historypb.History) {
				for _, event := range slices.Backward(h.GetEvents()) {
					if scheduled := event.GetActivityTaskScheduledEventAttributes(); scheduled != nil {
						scheduled.ActivityType.Name = "Later"
						return
					}
				}
			},
		},
		"an unknown workflow": {
			reason: "a type that was taken away", scenario: "create", want: "nondeterminism: this version has no workflow Gone",
			change: func(_ *testing.T, h *historypb.History) { startOf(h).WorkflowType.Name = "Gone" },
		},
		"another marker": {
			reason: "a version marker that the code does not ask for", scenario: "in-sync", want: "nondeterminism at event",
			change: func(t *testing.T, h *historypb.History) {
				firstOf(t, h, enumspb.EVENT_TYPE_MARKER_RECORDED).GetMarkerRecordedEventAttributes().MarkerName = "SideEffect"
			},
		},
		"no start": {
			reason: "half a history", scenario: "create", want: "unreadable: it does not begin with the start of a workflow",
			change: func(_ *testing.T, h *historypb.History) { h.Events = h.GetEvents()[1:] },
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			history := recorded(t, tc.scenario)
			tc.change(t, history)
			result := One(t.Context(), Source{Name: name, Read: func(context.Context) (*historypb.History, error) { return history, nil }})
			if got := result.Summary(); !strings.Contains(got, tc.want) {
				t.Errorf("%s: %q, want %q", tc.reason, got, tc.want)
			}
		})
	}
}

// TestReplayPrefixes replays every recorded history as it was after each of its
// workflow tasks, from the same events: explain searches these.
func TestReplayPrefixes(t *testing.T) {
	files, err := filepath.Glob(recordedHistories + "/*.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		history, err := readFile(file)
		if err != nil {
			t.Fatal(err)
		}
		execution := workflow.Execution{ID: startOf(history).GetWorkflowId(), RunID: startOf(history).GetOriginalExecutionRunId()}
		for _, d := range workflowTasks(history) {
			begun := &historypb.History{Events: history.GetEvents()[:d.end]}
			if err := replay(begun, execution); err != nil {
				t.Errorf("%s up to event %d: %v", file, d.end, err)
			}
		}
	}
}
