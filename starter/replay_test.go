package starter

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/armature-io/armature/starter/internal/replay"
	"github.com/armature-io/armature/workflows"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/sdk/workflow"
)

const recordedHistories = "../workflows/testdata/histories"

// TestReplayRecorded replays every recorded history.
func TestReplayRecorded(t *testing.T) {
	w := newWorld()
	if code := w.run("replay", "-f", recordedHistories); code != cli.ExitOK {
		t.Fatalf("exit code %d\n%s%s", code, w.out, w.err)
	}
	files, _ := filepath.Glob(recordedHistories + "/*.json")
	if len(files) < 15 || strings.Count(w.out.String(), "  ok (") != len(files) {
		t.Errorf("%d files, and the output\n%s", len(files), w.out)
	}
}

// TestReplayRunning replays histories from Temporal, with JSON output.
func TestReplayRunning(t *testing.T) {
	w := newWorld()
	w.temporal.manage(t, database, readyStatus())
	w.temporal.manage(t, cluster, readyStatus())
	for name, args := range map[string][]string{"by name": {"adx"}, "by ID": {cluster}, "by label": {"-l", "stack=prod"}, "all": {"--all"}} {
		t.Run(name, func(t *testing.T) {
			w.out.Reset()
			if code := w.run(append([]string{"replay", "-o", "json"}, args...)...); code != cli.ExitOK {
				t.Fatalf("exit code %d: %s", code, w.err)
			}
			var results []replay.Result
			if err := json.Unmarshal(w.out.Bytes(), &results); err != nil {
				t.Fatal(err)
			}
			want := 1
			if strings.HasPrefix(args[0], "-") {
				want = 2
			}
			if len(results) != want || results[0].Result != replay.OK || results[0].Events == 0 {
				t.Errorf("results %+v, want %d that replay", results, want)
			}
		})
	}
}

// History returns the recorded creation for every workflow.
func (f *fakeTemporal) History(ctx context.Context, _ string) (*historypb.History, error) {
	sources, err := replay.Files([]string{filepath.Join(recordedHistories, "create.json")})
	if err != nil {
		return nil, err
	}
	return sources[0].Read(ctx)
}

// TestReplayRegistersAllWorkflows verifies that names and registration agree.
func TestReplayRegistersAllWorkflows(t *testing.T) {
	known := &registered{}
	workflows.Register(known)
	slices.Sort(known.names)
	if got, want := strings.Join(known.names, " "), strings.Join(slices.Sorted(slices.Values(workflows.Names())), " "); got != want {
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

// TestReplayDiffers verifies what the user reads about a history that does not
// replay.
func TestReplayDiffers(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join(recordedHistories, "long-operation.json"))
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "altered.json")
	if err := os.WriteFile(file, bytes.Replace(raw, []byte(`"PutResource"`), []byte(`"Other"`), 1), 0o600); err != nil {
		t.Fatal(err)
	}
	w := newWorld()
	want := "the history has activity Other, this version has activity PutResource; workflow /subscriptions/"
	if code := w.run("replay", "-f", file); code != cli.ExitFailed || !strings.Contains(w.out.String(), want) || !strings.Contains(w.out.String(), "0 of 1 history replay") {
		t.Errorf("exit code %d, want %q in\n%s%s", code, want, w.out, w.err)
	}
}
