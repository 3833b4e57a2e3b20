package service

import (
	"context"
	"log/slog"

	"github.com/armature-io/armature/audit"
)

// auditRefusals returns a function that writes each refused message to the audit trail, nil
// without one. A message that is allowed is in the trail as the request of its user.
func auditRefusals(journal *audit.Journal, log *slog.Logger) func(Action, error) {
	if !journal.IsOn() {
		return nil
	}
	return func(action Action, err error) {
		if err == nil {
			return
		}
		record := refusalRecord(action, err)
		// The workflow task must not wait for the sinks. The end of the worker writes what is
		// pending.
		go func() {
			if err := journal.Write(context.Background(), record); err != nil {
				log.Error("cannot audit a refused message", "id", record.ID, "event", record.Event, "error", err)
			}
		}()
	}
}

// refusalRecord returns the record of a refused message. A message that is delivered again
// has the same key.
func refusalRecord(action Action, err error) audit.Record {
	record := audit.Record{
		Key:   audit.Key("refused", action.WorkflowID, action.RunID, action.UpdateID),
		Event: eventOf(action), Result: audit.ResultRefused, Reason: RefusedNotAuthorized, Message: err.Error(),
		ID: action.ID.String(), WorkflowID: action.WorkflowID, RunID: action.RunID, CorrelationID: action.RunID,
	}
	if action.Verb == VerbUnfreeze {
		record.ID = action.Selector
	} else {
		record.Type = action.ID.Type()
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
