package harness

import (
	"os"
	"path/filepath"

	"github.com/armature-io/armature/dev/internal/histories"
)

// HistoriesVariable names the environment variable of the folder into which
// scenarios record histories for the replay tests. Unset, nothing is recorded.
const HistoriesVariable = "HISTORIES"

// Record writes the latest run of a resource's workflow to SCENARIO.json if
// recording is on. Payloads stay as the server stores them.
func (w *World) Record(id, scenario string) {
	w.T.Helper()
	w.RecordRun(id, "", scenario)
}

// RecordRun records one run of a resource's workflow, like Record.
func (w *World) RecordRun(id, runID, scenario string) {
	w.T.Helper()
	w.RecordWorkflow(w.WorkflowID(id), runID, scenario)
}

// RecordWorkflow records one run, the latest for runID "", of a workflow that
// belongs to no resource, like Record.
func (w *World) RecordWorkflow(workflowID, runID, scenario string) {
	w.T.Helper()
	folder := os.Getenv(HistoriesVariable)
	if folder == "" {
		return
	}
	history, err := histories.Fetch(w.T.Context(), w.Client, workflowID, runID)
	if err != nil {
		w.T.Fatal(err)
	}
	content, err := histories.Marshal(history)
	if err != nil {
		w.T.Fatal(err)
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		w.T.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, scenario+".json"), content, 0o644); err != nil {
		w.T.Fatal(err)
	}
}
