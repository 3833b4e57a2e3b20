package replay

import (
	"context"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/armature-io/armature/internal/payload"
	"github.com/armature-io/armature/workflows"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/sdk/workflow"
)

const recordedHistories = "../../workflows/testdata/histories"

var replayer = Replayer{Converter: payload.DataConverter()}

// recordedHistory returns the recorded history of a scenario.
func recordedHistory(t *testing.T, scenario string) *historypb.History {
	t.Helper()
	history, err := readFile(filepath.Join(recordedHistories, scenario+".json"))
	if err != nil {
		t.Fatal(err)
	}
	return history
}

// firstOf returns the first event of a type.
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

func TestOneOfAlteredHistory(t *testing.T) {
	cases := map[string]struct {
		reason, scenario, want string
		change                 func(*testing.T, *historypb.History)
	}{
		"another activity": {
			reason: "both activities are named", scenario: "long-operation",
			want: "nondeterminism at event 10 of LENGTH: the history has activity Other, this version has activity PutResource; workflow /subscriptions/",
			change: func(t *testing.T, h *historypb.History) {
				firstOf(t, h, enumspb.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED).GetActivityTaskScheduledEventAttributes().ActivityType.Name = "Other"
			},
		},
		"another workflow": {
			reason: "the first event that differs is reported, not a later one", scenario: "create",
			want: "nondeterminism at event 7 of LENGTH: the history has local activity CheckOwner, this version has a timer",
			change: func(_ *testing.T, h *historypb.History) {
				startOf(h).WorkflowType.Name = workflows.SerializeSiblingsWorkflow
			},
		},
		"a later activity": {
			reason: "the workflow task that differs is found", scenario: "drift",
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
			reason: "a removed workflow type is named", scenario: "create", want: "nondeterminism: this version has no workflow Gone",
			change: func(_ *testing.T, h *historypb.History) { startOf(h).WorkflowType.Name = "Gone" },
		},
		"another marker": {
			reason: "the code does not record this marker", scenario: "in-sync", want: "nondeterminism at event",
			change: func(t *testing.T, h *historypb.History) {
				firstOf(t, h, enumspb.EVENT_TYPE_MARKER_RECORDED).GetMarkerRecordedEventAttributes().MarkerName = "SideEffect"
			},
		},
		"no start": {
			reason: "a history without its first event", scenario: "create", want: "unreadable: it does not begin with the start of a workflow",
			change: func(_ *testing.T, h *historypb.History) { h.Events = h.GetEvents()[1:] },
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			history := recordedHistory(t, tc.scenario)
			tc.change(t, history)
			result := replayer.One(t.Context(), Source{Name: name, Read: func(context.Context) (*historypb.History, error) { return history, nil }})
			want := strings.ReplaceAll(tc.want, "LENGTH", strconv.Itoa(len(history.GetEvents())))
			if got := result.Summary(); !strings.Contains(got, want) {
				t.Errorf("%s: %q, want %q", tc.reason, got, want)
			}
		})
	}
}

// TestReplayPrefixes replays every recorded history up to each of its workflow tasks,
// from the same events: explain searches among these prefixes.
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
		for _, task := range workflowTasks(history) {
			prefix := &historypb.History{Events: history.GetEvents()[:task.end]}
			if err := replayer.replay(prefix, execution); err != nil {
				t.Errorf("%s up to event %d: %v", file, task.end, err)
			}
		}
	}
}
