package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/armature-io/armature/dev/internal/harness"
	"github.com/armature-io/armature/dev/internal/histories"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
)

// replayed is the result of one history in the output of `worker replay -o json`.
type replayed struct {
	Name, WorkflowID, WorkflowType, Result, Expected, Found string
	EventID                                                 int64
}

func (s scenarios) replay(code int, args ...string) map[string]replayed {
	s.T.Helper()
	result := s.Replay(s.Binaries.Worker, nil, append([]string{"-o", "json"}, args...)...)
	if result.Code != code {
		s.T.Fatalf("want exit code %d of %s", code, result)
	}
	var list []replayed
	if err := json.Unmarshal([]byte(result.Out), &list); err != nil {
		s.T.Fatalf("%v: %s", err, result)
	}
	all := map[string]replayed{}
	for _, r := range list {
		all[r.WorkflowID] = r
	}
	return all
}

// TestReplayCommand replays a running fleet before a rollout: runs of this version,
// and a run of an incompatible version, which a worker of this version then cannot
// continue.
func TestReplayCommand(t *testing.T) {
	t.Parallel()
	w := harness.New(t, binaries, harness.Options{})
	s := scenarios{w}
	other := thing{group: "replay", name: "other", interval: "1h"}
	s.startOther(other)
	w.StartWorker(harness.WorkerOptions{})
	s.putGroup("replay")
	good := thing{group: "replay", name: "good", interval: "1h"}
	s.apply(good, "small")
	s.UntilPhase(60*time.Second, good.id(), workflows.PhaseReady)
	s.MustCLI("freeze", "-l", "stack=none", "--reason", "the freeze workflow is replayed too")

	if text := s.MustReplay(good.id()).Out; !strings.Contains(text, "ok (ReconcileResource, ") || !strings.Contains(text, "1 of 1 replay") {
		t.Errorf("replay of one history prints\n%s", text)
	}
	var all map[string]replayed
	s.Until(30*time.Second, "visibility lists all three", func() (bool, string) {
		all = s.replay(1)
		return len(all) == 3, "fewer"
	})
	if all[s.WorkflowID(good.id())].Result != "ok" || all[workflows.FreezeWorkflowID].Result != "ok" {
		t.Errorf("replay returns %+v, want ok for runs of this version", all)
	}
	alien := all[s.WorkflowID(other.id())]
	if alien.Result != "nondeterminism" || alien.EventID == 0 || alien.Expected != "activity GetResourceTwice" {
		t.Errorf("replay returns %+v for the run of another version", alien)
	}
	s.stuck(other)
	s.replayAltered(good)
}

// startOther starts the workflow of a resource on a worker of another version,
// and ends that worker.
func (s scenarios) startOther(r thing) {
	s.T.Helper()
	id, err := resource.ParseID(r.id())
	if err != nil {
		s.T.Fatal(err)
	}
	old := worker.New(s.Client, workflows.TaskQueue, worker.Options{})
	old.RegisterWorkflowWithOptions(func(ctx workflow.Context, _ workflows.ReconcileResourceInput) error {
		ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{ScheduleToCloseTimeout: time.Hour, TaskQueue: "no-worker"})
		return workflow.ExecuteActivity(ctx, "GetResourceTwice").Get(ctx, nil)
	}, workflow.RegisterOptions{Name: workflows.ReconcileResourceWorkflow})
	if err := old.Start(); err != nil {
		s.T.Fatal(err)
	}
	defer old.Stop()
	desired := resource.Desired{ID: id, Name: r.name, APIVersion: "2024-01-01", Policy: resource.PolicyManage}
	if _, err := s.Client.ExecuteWorkflow(s.T.Context(), client.StartWorkflowOptions{
		ID: id.WorkflowID(), TaskQueue: workflows.TaskQueue, Memo: workflows.Memo(desired), TypedSearchAttributes: workflows.IdentityAttributes(desired),
	}, workflows.ReconcileResourceWorkflow, workflows.ReconcileResourceInput{}); err != nil {
		s.T.Fatal(err)
	}
	s.Until(30*time.Second, "the other version has started", func() (bool, string) {
		lines := s.HistoryLines(r.id())
		return strings.Contains(lines, "ACTIVITY_TASK_SCHEDULED"), lines
	})
}

// stuck wakes the other version's run. The worker takes its task and fails; the CLI
// distinguishes that from a missing worker.
func (s scenarios) stuck(r thing) {
	s.T.Helper()
	if err := s.Client.SignalWorkflow(s.T.Context(), s.WorkflowID(r.id()), "", workflows.WakeSignal, workflows.WakeInput{}); err != nil {
		s.T.Fatal(err)
	}
	s.Until(60*time.Second, "describe shows that it is stuck", func() (bool, string) {
		page := s.CLI("describe", r.id())
		return strings.Contains(page.Out, "its workflow task fails") && strings.Contains(page.Out, "`worker replay "+r.id()), page.String()
	})
	s.Until(2*time.Minute, "doctor counts it", func() (bool, string) {
		result := s.CLI("doctor")
		return result.Code == 1 && strings.Contains(result.Out, "1 workflow's task keeps failing") && strings.Contains(result.Out, "worker replay"), result.String()
	})
	if page := s.CLI("why", r.id()).Out; !strings.Contains(page, "worker replay") {
		s.T.Errorf("why prints\n%s", page)
	}
}

// replayAltered replays files: an unchanged history, and one in which an activity has
// another name.
func (s scenarios) replayAltered(r thing) {
	s.T.Helper()
	folder := s.T.TempDir()
	history := s.History(r.id())
	s.writeHistory(filepath.Join(folder, "same.json"), history)
	if all := s.replay(0, "-f", folder); len(all) != 1 {
		s.T.Errorf("replay of a folder returns %+v", all)
	}
	var (
		changed int64
		name    string
	)
	for _, event := range history.GetEvents() {
		if event.GetEventType() == enumspb.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED {
			activity := event.GetActivityTaskScheduledEventAttributes().ActivityType
			name, changed = activity.Name, event.GetEventId()
			activity.Name = "ReadResource"
			break
		}
	}
	file := filepath.Join(folder, "altered.json")
	s.writeHistory(file, history)
	got := s.replay(1, "-f", file)[s.WorkflowID(r.id())]
	if got.EventID != changed || got.Expected != "activity ReadResource" || got.Found != "activity "+name {
		s.T.Errorf("replay of the altered history returns %+v, want event %d", got, changed)
	}
}

func (s scenarios) writeHistory(path string, history *historypb.History) {
	s.T.Helper()
	content, err := histories.Marshal(history)
	if err != nil {
		s.T.Fatal(err)
	}
	if err := os.WriteFile(path, content, 0o600); err != nil {
		s.T.Fatal(err)
	}
}
