package service_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/armature-io/armature/service"
	"github.com/armature-io/armature/service/replay"
	"github.com/armature-io/armature/workflows"
	"go.temporal.io/sdk/workflow"
)

const recordedHistories = "../workflows/testdata/histories"

// runReplay runs `worker replay` and returns its exit code and output.
func runReplay(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = service.Main(t.Context(), append([]string{"replay"}, args...), service.Options{Stdout: &out, Stderr: &errs})
	return code, out.String(), errs.String()
}

// TestReplayRecorded replays every recorded history.
func TestReplayRecorded(t *testing.T) {
	code, out, stderr := runReplay(t, "-f", recordedHistories)
	files, _ := filepath.Glob(recordedHistories + "/*.json")
	if code != service.ExitStopped || len(files) < 15 || strings.Count(out, "  ok (") != len(files) {
		t.Errorf("exit code %d for %d files, and the output\n%s%s", code, len(files), out, stderr)
	}
}

// TestReplayDiffers checks the output for a history that does not replay, as a table and as JSON.
func TestReplayDiffers(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join(recordedHistories, "long-operation.json"))
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "altered.json")
	if err := os.WriteFile(file, bytes.Replace(raw, []byte(`"PutResource"`), []byte(`"Other"`), 1), 0o600); err != nil {
		t.Fatal(err)
	}
	code, out, stderr := runReplay(t, "-f", file)
	for _, want := range []string{"the history has activity Other, this version has activity PutResource; workflow /subscriptions/", "0 of 1 replay"} {
		if !strings.Contains(out, want) {
			t.Errorf("the output lacks %q:\n%s", want, out)
		}
	}
	if code != service.ExitFailed || !strings.Contains(stderr, "do not roll it out") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
	var results []replay.Result
	if _, out, _ = runReplay(t, "-f", file, "-o", "json"); json.Unmarshal([]byte(out), &results) != nil || len(results) != 1 || results[0].EventID == 0 {
		t.Errorf("JSON: %s", out)
	}
}

func TestReplayFlags(t *testing.T) {
	for name, tc := range map[string]struct {
		reason, want string
		args         []string
	}{
		"two choices": {reason: "IDs and files are two questions", args: []string{"-f", recordedHistories, "id"}, want: "cannot be combined"},
		"empty ID":    {reason: "a variable that is not set", args: []string{""}, want: "an ID is empty"},
		"format":      {reason: "yaml is not offered", args: []string{"-o", "yaml"}, want: "neither table nor json"},
		"no folder":   {reason: "a wrong path is named", args: []string{"-f", "nowhere"}, want: "read histories: stat nowhere"},
		"empty":       {reason: "a folder without histories", args: []string{"-f", t.TempDir()}, want: "has no *.json file"},
		"flag":        {reason: "an unknown flag", args: []string{"--all"}, want: "flag provided but not defined"},
	} {
		t.Run(name, func(t *testing.T) {
			if code, out, stderr := runReplay(t, tc.args...); code != service.ExitConfig || !strings.Contains(stderr, tc.want) {
				t.Errorf("%s: exit code %d, want %q in\n%s%s", tc.reason, code, tc.want, out, stderr)
			}
		})
	}
	if code, out, _ := runReplay(t, "--help"); code != service.ExitStopped || !strings.Contains(out, "Usage: worker replay") {
		t.Errorf("exit code %d of --help:\n%s", code, out)
	}
}

// TestReplayRegistersAllWorkflows checks that names and registration agree.
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
