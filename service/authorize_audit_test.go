package service

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/armature-io/armature/caller"
	"github.com/armature-io/armature/internal/audit"
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

// TestMessagesAreAudited checks the lines of a refused message and of an allowed one whose
// sender is verified, and that an allowed one without has none here.
func TestMessagesAreAudited(t *testing.T) {
	t.Parallel()
	lines := make(channelSink, 3)
	journal := audit.New(audit.Options{}, lines)
	t.Cleanup(func() { closeJournal(journal) })
	decided := auditMessages(journal, slog.New(slog.DiscardHandler))
	id := stubDesired(t).ID
	action := Action{
		Verb: VerbReconcile, Force: true, Reason: "INC-1", ID: id, WorkflowID: id.WorkflowID(), RunID: "run", UpdateID: "update", By: "ann@laptop",
	}
	next := func() (got audit.Record) {
		t.Helper()
		if err := json.Unmarshal(<-lines, &got); err != nil {
			t.Fatal(err)
		}
		got.Time = time.Time{}
		return got
	}
	decided(action, nil)
	action.Caller = &caller.Caller{Issuer: "https://login.example.com", Subject: "ann"}
	want := audit.Record{
		Schema: audit.Schema, Key: audit.Key("refused", id.WorkflowID(), "run", "update"), Event: audit.EventForce, Result: audit.ResultRefused,
		ID: id.String(), Type: id.Type(), Reason: RefusedNotAuthorized, Message: "no change request", WorkflowID: id.WorkflowID(), RunID: "run", CorrelationID: "run",
		By: &audit.Subject{Name: "ann", Verified: true, Method: audit.MethodOIDC, Issuer: "https://login.example.com", Stated: "ann@laptop"},
	}
	decided(action, errors.New("no change request"))
	if diff := cmp.Diff(want, next()); diff != "" {
		t.Errorf("the line of a refused message (-want +got):\n%s", diff)
	}
	want.Key, want.Result, want.Reason, want.Message = audit.RequestKey(audit.EventForce, id.WorkflowID(), "update"), audit.ResultReceived, "INC-1", ""
	decided(action, nil)
	if diff := cmp.Diff(want, next()); diff != "" {
		t.Errorf("the line of an allowed message (-want +got):\n%s", diff)
	}
	if record := refusalRecord(Action{Verb: VerbUnfreeze, Selector: "stage=prod"}, errors.New("no")); record.Event != audit.EventUnfreeze || record.ID != "stage=prod" || record.By != nil {
		t.Errorf("the record of an unfreeze: %+v", record)
	}
}

// TestReceivedDoesNotHang checks that a message does not wait for a trail that hangs, and
// that its line is written later.
func TestReceivedDoesNotHang(t *testing.T) {
	t.Parallel()
	lines := make(channelSink)
	journal := audit.New(audit.Options{Timeout: time.Minute}, lines)
	decided := auditMessages(journal, slog.New(slog.DiscardHandler))
	ended := make(chan struct{})
	go func() {
		decided(Action{Verb: VerbPause, ID: stubDesired(t).ID, Caller: &caller.Caller{Subject: "ann"}}, nil)
		close(ended)
	}()
	select {
	case <-ended:
	case <-time.After(30 * time.Second):
		t.Fatal("the message waits for the trail")
	}
	if line := <-lines; !json.Valid(line) {
		t.Errorf("the line is %s", line)
	}
	closeJournal(journal)
}
