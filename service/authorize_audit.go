package service

import (
	"context"
	"log/slog"
	"time"

	"github.com/armature-io/armature/internal/audit"
	"github.com/armature-io/armature/secrets"
)

// maxReceivedWait is how long a message waits for the line that names its verified sender.
// A line that takes longer is written later.
const maxReceivedWait = time.Second

// auditMessages returns a function that writes to the audit trail which messages were
// refused, and who sent those that were not, where that was verified; nil without a trail.
// The effect of an allowed message is a line of its workflow, with the same key.
func auditMessages(journal *audit.Journal, log *slog.Logger) func(Action, error) {
	if !journal.IsOn() {
		return nil
	}
	write := func(ctx context.Context, record audit.Record) {
		if err := journal.Write(ctx, record); err != nil {
			log.Error("cannot write the audit line of a message yet", "id", record.ID, "event", record.Event, "error", err)
		}
	}
	return func(action Action, err error) {
		switch {
		case err != nil:
			// The workflow task must not wait for the sinks. The end of the worker writes what is
			// pending.
			go write(context.Background(), refusalRecord(action, err))
		case action.Caller != nil:
			ctx, cancel := context.WithTimeout(context.Background(), maxReceivedWait)
			defer cancel()
			write(ctx, receivedRecord(action))
		}
	}
}

// refusalRecord returns the record of a refused message. A message that is delivered again
// has the same key.
func refusalRecord(action Action, err error) audit.Record {
	record := messageRecord(action)
	record.Key = audit.Key("refused", action.WorkflowID, action.RunID, action.UpdateID)
	record.Result, record.Reason, record.Message = audit.ResultRefused, RefusedNotAuthorized, secrets.Scrub(err.Error(), nil)
	return record
}

// receivedRecord returns the record of a message with a verified sender.
func receivedRecord(action Action) audit.Record {
	record := messageRecord(action)
	record.Key = audit.RequestKey(record.Event, action.WorkflowID, action.UpdateID)
	record.Result, record.Reason = audit.ResultReceived, secrets.Scrub(action.Reason, nil)
	return record
}

// messageRecord returns what all records of a message have.
func messageRecord(action Action) audit.Record {
	record := audit.Record{
		Event: eventOf(action), ID: action.ID.String(), WorkflowID: action.WorkflowID, RunID: action.RunID, CorrelationID: action.RunID,
	}
	if action.isFreeze() {
		record.ID = action.Selector
	} else {
		record.Type = action.ID.Type()
	}
	if action.Desired != nil {
		record.APIVersion = action.Desired.APIVersion
	}
	switch {
	case action.Caller != nil:
		record.By = &audit.Subject{Name: action.Caller.Subject, Verified: true, Method: audit.MethodOIDC, Issuer: action.Caller.Issuer, Stated: action.By}
	case action.By != "":
		record.By = &audit.Subject{Name: action.By}
	}
	return record
}

// eventOf returns the event that the message would have been. A reconcile without force
// approves what is held.
func eventOf(action Action) audit.Event {
	switch {
	case action.Verb == VerbReconcile && action.Force:
		return audit.EventForce
	case action.Verb == VerbReconcile:
		return audit.EventApproval
	}
	return audit.Event(action.Verb)
}
