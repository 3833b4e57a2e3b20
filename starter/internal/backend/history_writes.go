package backend

import (
	"fmt"
	"net/http"

	commonpb "go.temporal.io/api/common/v1"
	historypb "go.temporal.io/api/history/v1"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/activities/writing"
	"github.com/armature-io/armature/internal/audit"
	"github.com/armature-io/armature/resource"
)

// The names of the activities that write, and of the pre-check, in histories.
const (
	putResource      = "PutResource"
	deleteResource   = "DeleteResource"
	purgeResource    = "PurgeResource"
	exportValues     = "ExportValues"
	registerProvider = "RegisterProvider"
	pollOperation    = "PollOperation"
	preCheck         = "PreCheck"
)

// readMarker takes the differences of a pre-check, a local activity.
func (r *historyReader) readMarker(event *historypb.HistoryEvent) {
	result, ok := preCheckOf(r.decode, event)
	if !ok {
		return
	}
	r.differences = result.Verdict
	if verdict := result.Verdict; verdict.Stops() && activities.IsAudited(verdict.Reason) {
		record := r.common(event)
		record.Activity = preCheck
		r.refuse(record, verdict)
	}
}

func first(payloads *commonpb.Payloads) *commonpb.Payload {
	if len(payloads.GetPayloads()) == 0 {
		return nil
	}
	return payloads.GetPayloads()[0]
}

// readActivity reads the input of a step that may write. Until its result is known, it may
// have sent its request.
func (r *historyReader) readActivity(event *historypb.HistoryEvent) {
	attributes := event.GetActivityTaskScheduledEventAttributes()
	name, input := attributes.GetActivityType().GetName(), attributes.GetInput()
	var (
		method     string
		generation int64
		cause      writing.Cause
	)
	switch name {
	case putResource:
		var in activities.PutResourceInput
		if r.decode.FromPayloads(input, &in) != nil {
			return
		}
		method, generation, cause = http.MethodPut, in.Generation, r.causeOf(in.Cause)
		r.fill(in.Desired.ID, in.Desired.APIVersion)
	case deleteResource:
		var in activities.DeleteResourceInput
		if r.decode.FromPayloads(input, &in) != nil {
			return
		}
		method, generation, cause = http.MethodDelete, in.Generation, r.deletion(in.Cause)
		r.fill(in.Desired.ID, in.Desired.APIVersion)
	case purgeResource:
		method, cause = http.MethodPost, r.deletion(nil)
	case registerProvider:
		method, cause = http.MethodPost, r.causeOf(nil)
	case exportValues:
		method, cause = http.MethodPut, r.causeOf(nil)
	case pollOperation:
	default:
		return
	}
	record := r.common(event)
	record.Event, record.Result, record.Method, record.Generation = audit.EventWrite, audit.ResultSending, method, generation
	if name == pollOperation {
		record.Event = "" // the write that began it has a record, and its failure gets another one
	}
	record.Activity, record.ActivityID = name, attributes.GetActivityId()
	record.Reason, record.Message, record.By = string(cause.Reason), cause.Message, by(cause.By)
	record.Differences, record.MoreDifferences = audit.Differences(cause.Differences), cause.More
	record.Request = cause.Request
	record.Key = audit.Key("history", r.run.WorkflowID, r.run.RunID, record.ActivityID)
	r.activities[event.GetEventId()] = &scheduled{Record: record}
}

// readResult completes the record of a step.
func (r *historyReader) readResult(event *historypb.HistoryEvent) {
	attributes := event.GetActivityTaskCompletedEventAttributes()
	activity := r.activities[attributes.GetScheduledEventId()]
	if activity == nil {
		return
	}
	record := activity.Record
	record.Time, record.Attempt = event.GetEventTime().AsTime(), int(activity.attempt)
	var (
		verdict  resource.Verdict
		accepted bool
		unknown  bool
	)
	switch record.Activity {
	case putResource:
		var result activities.PutResourceResult
		if r.decode.FromPayloads(attributes.GetResult(), &result) != nil {
			return
		}
		verdict, accepted, unknown = result.Verdict, result.Sent, result.Unknown
		if isPatch(verdict) {
			record.Method = http.MethodPatch
		}
	case deleteResource:
		var result activities.DeleteResourceResult
		if r.decode.FromPayloads(attributes.GetResult(), &result) != nil {
			return
		}
		verdict = result.Verdict
		accepted = !verdict.Stops()
		unknown = verdict.Stops() && !result.Unsent
	default:
		var result struct {
			Verdict resource.Verdict `json:"verdict"`
		}
		if r.decode.FromPayloads(attributes.GetResult(), &result) != nil {
			return
		}
		if verdict = result.Verdict; !verdict.Stops() {
			record.Event = "" // it may have had nothing to send: the audit trail knows
			return
		}
	}
	record.RequestID = verdict.RequestID
	if record.Activity == pollOperation {
		record.Event = audit.EventRefusal
	}
	switch {
	case accepted:
		record.Result = audit.ResultAccepted
	case verdict.RequestID != "", record.Activity == pollOperation:
		record.Result, record.Reason, record.Message = audit.ResultRefused, string(verdict.Reason), verdict.Message
	case unknown:
		record.Result, record.Reason, record.Message = audit.ResultUnknown, string(verdict.Reason), verdict.Message
	case verdict.Stops() && activities.IsAudited(verdict.Reason):
		r.refuse(record, verdict)
	default:
		record.Event = "" // nothing was due, or not yet
	}
	if activity.attempt > 1 && record.Event != "" {
		record.Message += fmt.Sprintf(" (%d attempts before this one were lost; each may have sent a request)", activity.attempt-1)
	}
}

// refuse makes a record the refusal of a write.
func (r *historyReader) refuse(record *audit.Record, verdict resource.Verdict) {
	record.Event, record.Result = audit.EventRefusal, audit.ResultNotSent
	record.Reason, record.Message = string(verdict.Reason), verdict.Message
	record.Differences, record.MoreDifferences = audit.Differences(verdict.Differences), verdict.More
	record.Key = audit.Key(string(audit.EventRefusal), r.run.WorkflowID, r.run.RunID, record.Activity, record.Time.String())
}
