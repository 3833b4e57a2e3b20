package harness

import (
	"os"
	"path/filepath"

	"github.com/armature-io/armature/dev/internal/histories"
)

// HistoriesVariable names the folder into which scenarios record their
// histories for the replay tests; without it nothing is recorded.
const HistoriesVariable = "HISTORIES"

// Record keeps the latest run of a resource's workflow as SCENARIO.json, where
// recording is on. The payloads stay as the server stores them.
func (w *World) Record(id, scenario string) {
	w.T.Helper()
	w.RecordRun(id, "", scenario)
}

// RecordRun is Record for one run.
func (w *World) RecordRun(id, runID, scenario string) {
	w.T.Helper()
	w.RecordWorkflow(w.WorkflowID(id), runID, scenario)
}

// RecordWorkflow is Record for one run, the latest without a run ID, of a
// workflow that belongs to no resource.
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
	if err := os.MkdirAll(folder, 0o755); err != nil {
		w.T.Fatal(err)
	}
	file, err := os.Create(filepath.Join(folder, scenario+".json"))
	if err != nil {
		w.T.Fatal(err)
	}
	if err := histories.Write(file, history); err != nil {
		w.T.Fatal(err)
	}
	if err := file.Close(); err != nil {
		w.T.Fatal(err)
	}
}
