package starter

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/internal/audit"
	"github.com/armature-io/armature/internal/payload"
	"github.com/armature-io/armature/starter/internal/backend"
	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/armature-io/armature/workflows"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	updatepb "go.temporal.io/api/update/v1"
	"go.temporal.io/sdk/client"
)

// Runs returns the histories of the world, or a recorded deletion, for every workflow.
func (f *fakeTemporal) Runs(_ context.Context, workflowID string) ([]backend.HistoryRun, error) {
	if f.histories != nil {
		return f.histories, nil
	}
	file, err := os.Open("../workflows/testdata/histories/deleted.json")
	if err != nil {
		return nil, err
	}
	defer file.Close()
	history, err := client.HistoryFromJSON(file, client.HistoryJSONOptions{})
	if err != nil {
		return nil, err
	}
	events := history.GetEvents()
	return []backend.HistoryRun{{WorkflowID: workflowID, RunID: "run", Started: events[0].GetEventTime().AsTime(), Events: events}}, nil
}

// RunsSince returns the runs of the world by the ID of their workflow.
func (f *fakeTemporal) RunsSince(_ context.Context, workflowID string, _ time.Time) ([]backend.HistoryRun, error) {
	return slices.DeleteFunc(slices.Clone(f.histories), func(run backend.HistoryRun) bool { return run.WorkflowID != workflowID }), nil
}

// TestHistory prints what happened to a resource, by name and by the ID of one that is gone.
func TestHistory(t *testing.T) {
	w := newWorld()
	w.temporal.manage(t, cluster, readyStatus())
	for _, name := range []string{"adx", cluster, database} {
		w.out.Reset()
		w.err.Reset()
		if code := w.run("history", name); code != cli.ExitOK {
			t.Fatalf("exit code %d: %s", code, w.err)
		}
		for _, want := range []string{"apply", "PUT      accepted", "delete", "DELETE   accepted", "(unverified)"} {
			if !strings.Contains(w.out.String(), want) {
				t.Errorf("history %s does not print %q:\n%s", name, want, w.out)
			}
		}
		if !strings.Contains(w.err.String(), "the histories in Temporal begin at") {
			t.Errorf("history does not print where the histories begin: %s", w.err)
		}
	}
	w.out.Reset()
	if code := w.run("history", "adx", database); code != cli.ExitOK || !strings.Contains(w.out.String(), "  example thing deleted  ") {
		t.Errorf("exit code %d of two resources, want their names in the lines:\n%s%s", code, w.out, w.err)
	}
	w.out.Reset()
	if code := w.run("history", "adx", "-o", "json"); code != cli.ExitOK {
		t.Fatalf("exit code %d: %s", code, w.err)
	}
	var records []audit.Record
	if err := json.Unmarshal(w.out.Bytes(), &records); err != nil || len(records) < 4 || records[0].Schema != audit.Schema {
		t.Errorf("the output is no list of records (%v):\n%s", err, w.out)
	}
	w.out.Reset()
	if code := w.run("history", "adx", "--since", "2100-01-01", "-o", "json"); code != cli.ExitOK || strings.TrimSpace(w.out.String()) != "[]" {
		t.Errorf("exit code %d and %s, want an empty list", code, w.out)
	}
	for _, args := range [][]string{{"history"}, {"history", "adx", "--since", "yesterday"}, {"history", "nothing"}} {
		if code := w.run(args...); code == cli.ExitOK {
			t.Errorf("%v is accepted", args)
		}
	}
}

// TestHistoryWithoutKey checks that a history that lacks what cannot be read is not shown: it
// would look complete.
func TestHistoryWithoutKey(t *testing.T) {
	encrypted, err := payload.New(payload.Options{Keys: []payload.Key{{ID: "former", Secret: bytes.Repeat([]byte{1}, payload.KeySize)}}, WriteKey: "former"})
	if err != nil {
		t.Fatal(err)
	}
	input, err := encrypted.Data.ToPayloads(workflows.PauseInput{By: "ada@laptop"})
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld()
	w.temporal.histories = []backend.HistoryRun{{WorkflowID: "w", RunID: "run", Events: []*historypb.HistoryEvent{{
		EventId: 2, EventType: enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_UPDATE_ACCEPTED,
		Attributes: &historypb.HistoryEvent_WorkflowExecutionUpdateAcceptedEventAttributes{
			WorkflowExecutionUpdateAcceptedEventAttributes: &historypb.WorkflowExecutionUpdateAcceptedEventAttributes{
				AcceptedRequest: &updatepb.Request{Input: &updatepb.Input{Name: workflows.PauseUpdate, Args: input}},
			},
		},
	}}}}
	if code := w.run("history", cluster); code != cli.ExitBadInput || !strings.Contains(w.err.String(), "encrypted with the key former") || w.out.Len() > 0 {
		t.Errorf("exit code %d, want %d and the key:\n%s%s", code, cli.ExitBadInput, w.out, w.err)
	}
}
