package writing

import (
	"cmp"
	"context"
	"net/http"
	"strconv"

	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/internal/audit"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/secrets"
)

// Cause is why a step may write, for the audit trail. Workflows send it to workers that
// keep one.
type Cause struct {
	// By is the user that applied the spec, or requested the write, as the client named
	// it. Request is the key of that request in the audit trail, "" for runs from before it.
	By      string          `json:"by,omitempty"`
	Request string          `json:"request,omitempty"`
	Reason  resource.Reason `json:"reason,omitempty"`
	Message string          `json:"message,omitempty"`
	// Differences are what the write removes, masked; More counts those beyond the bound.
	Differences []resource.Difference `json:"differences,omitempty"`
	More        int                   `json:"more,omitempty"`
}

// AuditStep returns the activity as records name it.
func (a Activity) AuditStep() audit.Step {
	step := audit.Step{WorkflowID: a.WorkflowID, RunID: a.RunID, Activity: a.Name, ActivityID: a.ID, Attempt: a.Attempt}
	if a.Local {
		// It has no attempts that the server counts: one that is run again after the loss of
		// its worker has the same ID.
		step.ActivityID += "@" + strconv.FormatInt(a.Started.UnixNano(), 36)
	}
	return step
}

// Journal is the arm.Journal of a worker: it writes one line before a request that could
// change something leaves, and one with its end.
func Journal(ctx context.Context, write arm.JournaledWrite) (string, func(arm.WriteEnd), error) {
	step := stepOf(ctx)
	if step == nil || !step.Audit.IsOn() {
		return "", func(arm.WriteEnd) {}, nil
	}
	record := step.writeRecord(write)
	finish, err := step.Audit.Begin(ctx, record)
	if err != nil {
		return "", nil, extensions.NotYet("nothing was sent, because "+err.Error()+"; it is tried again",
			extensions.WithReason(resource.ReasonAuditUnavailable), extensions.WithRetry(resource.RetrySlow))
	}
	return record.Key, func(end arm.WriteEnd) { finish(ended(record, end)) }, nil
}

// writeRecord returns the record of a request.
func (s *Step) writeRecord(write arm.JournaledWrite) audit.Record {
	step, cause := s.Activity.AuditStep(), s.cause()
	record := step.Record()
	record.Key = step.Key(int(s.requests.Add(1)))
	record.Event, record.Method, record.Action = audit.EventWrite, write.Method, write.Action
	record.ID, record.Type, record.APIVersion = write.Target, write.Type, write.APIVersion
	record.Generation, record.CorrelationID = s.Generation, cmp.Or(write.CorrelationID, record.CorrelationID)
	record.Reason, record.Message = string(cause.Reason), secrets.Scrub(cause.Message, nil)
	record.Differences, record.MoreDifferences = audit.Differences(cause.Differences), cause.More
	record.By, record.Request = s.subject(), cause.Request
	return record
}

// cause returns the reason of the writes, empty if the workflow sent none.
func (s *Step) cause() Cause {
	if s.Cause == nil {
		return Cause{}
	}
	return *s.Cause
}

// subject returns the origin of the writes of the step: the key that signed them, or what
// the client stated; nil for nothing.
func (s *Step) subject() *audit.Subject {
	stated := s.cause().By
	switch key := s.signingKey(); {
	case key != "":
		return SignedBy(key, stated)
	case stated != "":
		return &audit.Subject{Name: stated}
	}
	return nil
}

// SignedBy returns the subject of what a key signed.
func SignedBy(key, stated string) *audit.Subject {
	return &audit.Subject{Name: "key " + key, Verified: true, Method: audit.MethodSignature, Stated: stated}
}

// ended returns the record of a request with its end.
func ended(record audit.Record, end arm.WriteEnd) audit.Record {
	record.Status, record.RequestID = end.Status, end.RequestID
	switch {
	case end.Unsent:
		record.Result = audit.ResultNotSent
	case end.Status == 0 || end.Status == http.StatusRequestTimeout || end.Status >= http.StatusInternalServerError:
		record.Result = audit.ResultUnknown
	case end.Status >= http.StatusBadRequest:
		record.Result = audit.ResultRefused
	default:
		record.Result = audit.ResultAccepted
	}
	if end.Code != "" {
		record.Message, record.Reason = record.Reason+": "+record.Message, end.Code
	}
	return record
}
