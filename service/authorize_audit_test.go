package service

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/armature-io/armature/audit"
	"github.com/armature-io/armature/caller"
	"github.com/google/go-cmp/cmp"
)

// channelSink passes lines on.
type channelSink chan []byte

func (channelSink) Name() string { return "channel" }
func (channelSink) Close() error { return nil }

func (c channelSink) Write(_ context.Context, lines []audit.Line) error {
	for _, line := range lines {
		c <- line.JSON
	}
	return nil
}

// TestRefusalsAreAudited checks the line of a refused message, and that one that is allowed
// has none here.
func TestRefusalsAreAudited(t *testing.T) {
	t.Parallel()
	lines := make(channelSink, 2)
	journal := audit.New(audit.Options{}, lines)
	t.Cleanup(func() { closeJournal(journal) })
	decided := auditRefusals(journal, slog.New(slog.DiscardHandler))
	id := stubDesired(t).ID
	action := Action{
		Verb: VerbReconcile, Force: true, ID: id, WorkflowID: id.WorkflowID(), RunID: "run", UpdateID: "update", By: "ann@laptop",
		Caller: &caller.Caller{Issuer: "https://login.example.com", Subject: "ann"},
	}
	decided(action, nil)
	decided(action, errors.New("no change request"))
	var got audit.Record
	if err := json.Unmarshal(<-lines, &got); err != nil {
		t.Fatal(err)
	}
	got.Time = time.Time{}
	want := audit.Record{
		Schema: audit.Schema, Key: audit.Key("refused", id.WorkflowID(), "run", "update"), Event: audit.EventForce, Result: audit.ResultRefused,
		ID: id.String(), Type: id.Type(), Reason: RefusedNotAuthorized, Message: "no change request", WorkflowID: id.WorkflowID(), RunID: "run", CorrelationID: "run",
		By: &audit.Subject{Name: "ann", Verified: true, Method: audit.MethodOIDC, Issuer: "https://login.example.com", Stated: "ann@laptop"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the line (-want +got):\n%s", diff)
	}
	if record := refusalRecord(Action{Verb: VerbUnfreeze, Selector: "stage=prod"}, errors.New("no")); record.Event != audit.EventUnfreeze || record.ID != "stage=prod" || record.By != nil {
		t.Errorf("the record of an unfreeze: %+v", record)
	}
}
