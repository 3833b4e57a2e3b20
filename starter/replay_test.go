package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/armature-io/armature/workflows"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/sdk/workflow"
	"google.golang.org/protobuf/encoding/protojson"
)

const recordedHistories = "../workflows/testdata/histories"

// alteredHistory is a recorded history after a change, as a file.
func alteredHistory(t *testing.T, scenario string, change func(*historypb.History)) string {
	t.Helper()
	recorded, err := readHistory(filepath.Join(recordedHistories, scenario+".json"))
	if err != nil {
		t.Fatal(err)
	}
	change(recorded.history)
	text, err := protojson.Marshal(recorded.history)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), scenario+".json")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
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

// TestReplayRecorded replays every recorded history.
func TestReplayRecorded(t *testing.T) {
	w := newWorld()
	if code := w.run("replay", "-f", recordedHistories); code != exitOK {
		t.Fatalf("exit code %d\n%s%s", code, w.out, w.err)
	}
	files, _ := filepath.Glob(recordedHistories + "/*.json")
	if len(files) < 15 || strings.Count(w.out.String(), "  ok (") != len(files) {
		t.Errorf("%d files, and the output\n%s", len(files), w.out)
	}
}

func TestReplayAltered(t *testing.T) {
	cases := map[string]struct {
		reason, scenario, want string
		change                 func(*testing.T, *historypb.History)
	}{
		"another activity": {
			reason: "both sides are named", scenario: "long-operation",
			want: "nondeterminism at event 8 of 36: the history has activity Other, this version makes activity GetResource; workflow /subscriptions/",
			change: func(t *testing.T, h *historypb.History) {
				firstOf(t, h, enumspb.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED).GetActivityTaskScheduledEventAttributes().ActivityType.Name = "Other"
			},
		},
		"another workflow": {
			reason: "the first event that differs, not the last consequence", scenario: "create",
			want: "nondeterminism at event 8 of 30: the history has activity GetResource",
			change: func(_ *testing.T, h *historypb.History) {
				startOf(h).WorkflowType.Name = workflows.SerializeSiblingsWorkflow
			},
		},
		"a later activity": {
			reason: "the task that differs is looked for", scenario: "drift",
			want: "the history has activity Later, this version makes activity ",
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
			file := alteredHistory(t, tc.scenario, func(h *historypb.History) { tc.change(t, h) })
			w := newWorld()
			if code := w.run("replay", "-f", file); code != exitFailed || !strings.Contains(w.out.String(), tc.want) || !strings.Contains(w.out.String(), "0 of 1 history replay") {
				t.Errorf("%s: exit code %d, want %q in\n%s%s", tc.reason, code, tc.want, w.out, w.err)
			}
		})
	}
}

// TestReplayRunning replays what Temporal holds, for machines.
func TestReplayRunning(t *testing.T) {
	w := newWorld()
	w.temporal.manage(t, database, readyStatus())
	w.temporal.manage(t, cluster, readyStatus())
	for name, args := range map[string][]string{"by name": {"adx"}, "by ID": {cluster}, "by label": {"-l", "stack=prod"}, "all": {"--all"}} {
		t.Run(name, func(t *testing.T) {
			w.out.Reset()
			if code := w.run(append([]string{"replay", "-o", "json"}, args...)...); code != exitOK {
				t.Fatalf("exit code %d: %s", code, w.err)
			}
			var results []replayResult
			if err := json.Unmarshal(w.out.Bytes(), &results); err != nil {
				t.Fatal(err)
			}
			want := 1
			if strings.HasPrefix(args[0], "-") {
				want = 2
			}
			if len(results) != want || results[0].Result != replayOK || results[0].Events != 30 {
				t.Errorf("results %+v, want %d that replay", results, want)
			}
		})
	}
}

// history is the recorded creation, whoever is asked for.
func (f *fakeTemporal) history(context.Context, string) (pastRun, error) {
	return readHistory(filepath.Join(recordedHistories, "create.json"))
}

// TestReplayKnowsAll holds that names and registration agree.
func TestReplayKnowsAll(t *testing.T) {
	known := &registered{}
	workflows.Register(known)
	if got, want := strings.Join(known.names, " "), strings.Join(workflows.Names(), " "); got != want {
		t.Errorf("Register registers %s, Names are %s", got, want)
	}
}

type registered struct {
	workflows.Registry
	names []string
}

func (r *registered) RegisterWorkflowWithOptions(_ any, options workflow.RegisterOptions) {
	r.names = append(r.names, options.Name)
}

// TestReplayBeginnings replays every recorded history as it was after each of its
// workflow tasks, from the same events: explain searches among these.
func TestReplayBeginnings(t *testing.T) {
	judge, err := newReplayer()
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(recordedHistories + "/*.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		recorded, err := readHistory(file)
		if err != nil {
			t.Fatal(err)
		}
		execution := workflow.Execution{ID: startOf(recorded.history).GetWorkflowId(), RunID: recorded.runID}
		for _, d := range decisions(recorded.history) {
			begun := &historypb.History{Events: recorded.history.GetEvents()[:d.end]}
			if err := judge.once(begun, execution); err != nil {
				t.Errorf("%s up to event %d: %v", file, d.end, err)
			}
		}
	}
}
