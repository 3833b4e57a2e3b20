package backend

import (
	"cmp"
	"fmt"
	"strings"

	historypb "go.temporal.io/api/history/v1"

	"github.com/armature-io/armature/internal/audit"
	"github.com/armature-io/armature/workflows"
)

// readStart takes the spec that a run got from the run before.
func (r *historyReader) readStart(event *historypb.HistoryEvent) {
	var in workflows.ReconcileResourceInput
	if r.decode.FromPayloads(event.GetWorkflowExecutionStartedEventAttributes().GetInput(), &in) != nil || in.State == nil || in.State.Desired == nil {
		return
	}
	r.appliedBy = in.State.AppliedBy
	if in.State.Deletion != nil {
		r.deletedBy = in.State.Deletion.By
	}
	r.fill(in.State.Desired.ID, in.State.Desired.APIVersion)
}

// readUpdate reads the request of a user.
func (r *historyReader) readUpdate(event *historypb.HistoryEvent) {
	accepted := event.GetWorkflowExecutionUpdateAcceptedEventAttributes()
	request := accepted.GetAcceptedRequest()
	record := r.common(event)
	record.Result = audit.ResultRequested
	input := request.GetInput().GetArgs()
	switch request.GetInput().GetName() {
	case workflows.ApplyUpdate:
		var in workflows.ApplyInput
		if r.decode.FromPayloads(input, &in) == nil {
			record.Event, record.By = audit.EventApply, by(in.By)
			r.appliedBy = in.By
			r.fill(in.Desired.ID, in.Desired.APIVersion)
		}
	case workflows.ReconcileUpdate:
		var in workflows.ReconcileInput
		if r.decode.FromPayloads(input, &in) == nil {
			r.readReconcile(record, in)
		}
	case workflows.DeleteUpdate:
		var in workflows.DeleteInput
		if r.decode.FromPayloads(input, &in) == nil {
			record.Event, record.By, record.Message = audit.EventDelete, by(in.By), deleteText(in)
			r.deletedBy = in.By
			if in.Desired != nil {
				r.fill(in.Desired.ID, in.Desired.APIVersion)
			}
		}
	default:
		var in workflows.PauseInput
		if r.decode.FromPayloads(input, &in) == nil {
			record.Event, record.By, record.Reason = namedEvents()[request.GetInput().GetName()], by(in.By), in.Reason
		}
	}
	record.ID, record.Type, record.APIVersion = cmp.Or(record.ID, r.id.String()), cmp.Or(record.Type, r.id.Type()), cmp.Or(record.APIVersion, r.apiVersion)
	record.Key = audit.RequestKey(record.Event, r.run.WorkflowID, request.GetMeta().GetUpdateId())
	r.updates[event.GetEventId()] = record
}

// namedEvents returns the events of the updates that have no more than a user and a reason.
func namedEvents() map[string]audit.Event {
	return map[string]audit.Event{
		workflows.PauseUpdate: audit.EventPause, workflows.ResumeUpdate: audit.EventResume,
		workflows.AbortUpdate: audit.EventAbort, workflows.ForgetUpdate: audit.EventForget,
	}
}

// readReconcile reads a forced reconcile, or an approval; another one is no event.
func (r *historyReader) readReconcile(record *audit.Record, in workflows.ReconcileInput) {
	record.By, record.Reason = by(in.By), in.Reason
	var approved []string
	if in.Recreate {
		approved = append(approved, "recreation approved")
	}
	if in.DropBaseline {
		approved = append(approved, "baseline dropped")
	}
	record.Message = strings.Join(approved, "; ")
	switch {
	case in.Force:
		record.Event = audit.EventForce
	case len(approved) > 0:
		record.Event = audit.EventApproval
	}
}

func deleteText(in workflows.DeleteInput) string {
	var details []string
	if in.Cascade {
		details = append(details, "with everything in it")
	}
	if in.WithData {
		details = append(details, "with data")
	}
	if !in.From.IsZero() {
		details = append(details, "with the deletion of "+in.From.String())
	}
	return strings.Join(details, "; ")
}

// readUpdateResult adds what an update changed. One that changed nothing is no event.
func (r *historyReader) readUpdateResult(event *historypb.HistoryEvent) {
	completed := event.GetWorkflowExecutionUpdateCompletedEventAttributes()
	record := r.updates[completed.GetAcceptedEventId()]
	if record == nil {
		return
	}
	success := completed.GetOutcome().GetSuccess()
	switch record.Event {
	case audit.EventApply:
		var result workflows.ApplyResult
		if r.decode.FromPayloads(success, &result) != nil {
			return
		}
		record.Generation = result.Generation
		record.Message = fmt.Sprintf("generation %d", result.Generation)
		switch {
		case result.TakenBack:
			record.Message += "; takes back the deletion"
		case !result.Changed:
			record.Message += ", unchanged"
		}
	case audit.EventPause, audit.EventResume:
		var result workflows.PauseResult
		if r.decode.FromPayloads(success, &result) == nil && !result.Changed {
			record.Event = ""
		}
	}
}
