package workflows_test

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/armature-io/armature/internal/payload"
	"github.com/armature-io/armature/workflows"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
	"google.golang.org/protobuf/proto"

	historypb "go.temporal.io/api/history/v1"
)

const historiesDir = "testdata/histories"

// quiet keeps the stack traces of replays that must fail out of the output.
var quiet = log.NewStructuredLogger(slog.New(slog.DiscardHandler))

// histories returns the recorded runs by scenario.
func histories(t *testing.T) map[string]*historypb.History {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(historiesDir, "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no histories in %s (%v); record them with make histories", historiesDir, err)
	}
	recorded := map[string]*historypb.History{}
	for _, file := range files {
		reader, err := os.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		history, err := client.HistoryFromJSON(reader, client.HistoryJSONOptions{})
		if closed := reader.Close(); err != nil || closed != nil {
			t.Fatalf("read %s: %v, %v", file, err, closed)
		}
		recorded[strings.TrimSuffix(filepath.Base(file), ".json")] = history
	}
	return recorded
}

func replayer(t *testing.T) worker.WorkflowReplayer {
	t.Helper()
	replayer, err := worker.NewWorkflowReplayerWithOptions(worker.WorkflowReplayerOptions{DataConverter: payload.DataConverter()})
	if err != nil {
		t.Fatal(err)
	}
	return replayer
}

// TestReplay checks that the workflow still makes the commands of every recorded
// run. Durations, summaries and texts are not compared here: the other tests of this
// package cover them.
func TestReplay(t *testing.T) {
	for name, history := range histories(t) {
		t.Run(name, func(t *testing.T) {
			r := replayer(t)
			workflows.Register(r)
			if err := r.ReplayWorkflowHistory(quiet, history); err != nil {
				t.Errorf("replay: %v; an intended change of the order of commands records the histories anew", err)
			}
		})
	}
}

// TestReplayScenarios checks that every scenario has a recording.
func TestReplayScenarios(t *testing.T) {
	recorded := histories(t)
	for _, scenario := range []string{
		"create", "in-sync", "drift", "owner-blocked", "pre-check-blocked", "post-check-failure", "long-operation",
		"throttled", "failed", "fatal", "paused", "deleted", "continue-as-new", "continued", "budgets", "reread",
		"interrupted-read", "message-before-new-run", "start-frozen", "superseded", "listed",
		"created", "created-awaited", "notification-left", "notification-started-again", "traced",
		"audited", "audited-freezes",
	} {
		if recorded[scenario] == nil {
			t.Errorf("no history of the scenario %s", scenario)
		}
	}
}

// TestReplayAltered checks that the replay of an altered workflow fails: with a removed,
// added or swapped step.
func TestReplayAltered(t *testing.T) {
	recorded := histories(t)
	for _, scenario := range []string{"create", "created", "in-sync", "drift", "long-operation"} {
		for name, alter := range workflows.Altered() {
			t.Run(scenario+" "+name, func(t *testing.T) {
				r := replayer(t)
				r.RegisterWorkflowWithOptions(alter, workflow.RegisterOptions{Name: workflows.ReconcileResourceWorkflow})
				// The replayer modifies the events.
				if err := r.ReplayWorkflowHistory(quiet, proto.CloneOf(recorded[scenario])); err == nil {
					t.Error("the altered workflow replays: the replay test cannot fail")
				}
			})
		}
	}
}
