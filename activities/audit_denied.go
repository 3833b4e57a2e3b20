package activities

import (
	"context"
	"strconv"
	"sync"

	"github.com/armature-io/armature/activities/contents"
	"github.com/armature-io/armature/activities/writing"
	"github.com/armature-io/armature/internal/audit"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/secrets"
)

// auditedReasons are the reasons with which Armature blocks a write that is due. Reasons that
// only mean "not yet", such as a busy owner, are none.
var auditedReasons = map[resource.Reason]bool{
	resource.ReasonFrozen: true, resource.ReasonReadOnly: true, resource.ReasonHeld: true, resource.ReasonProtected: true,
	resource.ReasonSignatureMissing: true, resource.ReasonSignatureInvalid: true, resource.ReasonSignatureOutdated: true,
	resource.ReasonOlderThanRecorded: true, resource.ReasonStopped: true, resource.ReasonDisappeared: true, resource.ReasonMoved: true, resource.ReasonCreatedAgain: true,
	resource.ReasonAlreadyExists: true, resource.ReasonContested: true, resource.ReasonDriftDetected: true,
	resource.ReasonContainsUnmanaged: true, resource.ReasonContainsProtected: true, resource.ReasonContainsData: true,
	resource.ReasonDeletionNotSupported: true, resource.ReasonExportNotAllowed: true, resource.ReasonExportRefused: true,
}

// IsAudited reports whether a verdict with the reason blocks a write that was due.
func IsAudited(reason resource.Reason) bool { return auditedReasons[reason] }

// maxDenials bounds the denials that a worker remembers.
const maxDenials = 10_000

// denials are the keys of the denials that this worker wrote: the same denial in the next
// pass has the same key, and is not written again.
type denials struct {
	mu   sync.Mutex
	keys map[string]bool
}

func (d *denials) known(key string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.keys[key]
}

func (d *denials) note(key string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.keys == nil || len(d.keys) >= maxDenials {
		d.keys = map[string]bool{}
	}
	d.keys[key] = true
}

// denial is the verdict on a write that was due: Armature blocked it, or Azure refused it.
type denial struct {
	id         resource.ID
	apiVersion string
	generation int64
	cause      *writing.Cause
	verdict    resource.Verdict
	// writes is set for a step that sends requests: what Azure refused is a denial too.
	writes bool
	// operation is the token of an operation that failed, "" for another step.
	operation string
}

// denialOf returns the verdict of a step that may deny a write, from its input and its
// result; false for other steps.
func denialOf(args []any, result any) (denial, bool) {
	if len(args) != 1 {
		return denial{}, false
	}
	of := func(desired resource.Desired, generation int64, cause *writing.Cause, verdict resource.Verdict, writes bool) (denial, bool) {
		return denial{id: desired.ID, apiVersion: desired.APIVersion, generation: generation, cause: cause, verdict: verdict, writes: writes}, true
	}
	switch in := args[0].(type) {
	case PreCheckInput:
		if r, ok := result.(PreCheckResult); ok {
			return of(in.Desired, in.Generation, nil, r.Verdict, false)
		}
	case PutResourceInput:
		if r, ok := result.(PutResourceResult); ok {
			return of(in.Desired, in.Generation, in.Cause, r.Verdict, true)
		}
	case PollOperationInput:
		if r, ok := result.(PollOperationResult); ok {
			return denial{id: in.ID, apiVersion: in.APIVersion, verdict: r.Verdict, writes: true, operation: in.Token}, true
		}
	case contents.Request:
		if r, ok := result.(CheckContentsResult); ok {
			return of(resource.Desired{ID: in.ID, APIVersion: in.APIVersion}, 0, &writing.Cause{By: in.By}, r.Verdict, false)
		}
	case DeleteResourceInput:
		if r, ok := result.(DeleteResourceResult); ok {
			return of(in.Desired, in.Generation, in.Cause, r.Verdict, true)
		}
	case PurgeResourceInput:
		if r, ok := result.(PurgeResourceResult); ok {
			return of(in.Desired, in.Generation, in.Cause, r.Verdict, true)
		}
	case ExportValuesInput:
		if r, ok := result.(ExportValuesResult); ok {
			return of(in.Desired, in.Generation, in.Cause, r.Verdict, true)
		}
	}
	return denial{}, false
}

// noteDenial logs what Azure refused, and writes the denial of a write to the audit trail, once
// for each run of a workflow, generation, step and reason, and for each failed operation. Nothing
// depends on it.
func (a *Activities) noteDenial(ctx context.Context, args []any, result any) {
	found, ok := denialOf(args, result)
	byAzure := ok && found.writes && found.verdict.RequestID != ""
	if !ok || !found.verdict.Stops() || !byAzure && !IsAudited(found.verdict.Reason) {
		return
	}
	if byAzure {
		a.Log.InfoContext(ctx, "Azure refused a write", "id", found.id.String(), "reason", string(found.verdict.Reason), "message", secrets.Scrub(found.verdict.Message, nil))
	}
	if !a.Audit.IsOn() {
		return
	}
	step := activityOf(ctx).AuditStep()
	record := step.Record()
	record.Key = audit.Key(string(audit.EventRefusal), step.WorkflowID, step.RunID, step.Activity,
		strconv.FormatInt(found.generation, 10), string(found.verdict.Reason), found.verdict.RefusalDigest, found.operation)
	if a.denials.known(record.Key) {
		return
	}
	record.Event, record.Result = audit.EventRefusal, audit.ResultNotSent
	if byAzure {
		record.Result, record.RequestID = audit.ResultRefused, found.verdict.RequestID
	}
	record.ID, record.Type, record.APIVersion = found.id.String(), found.id.Type(), found.apiVersion
	record.Generation, record.Reason = found.generation, string(found.verdict.Reason)
	record.Message = secrets.Scrub(found.verdict.Message, nil)
	record.Differences, record.MoreDifferences = audit.Differences(found.verdict.Differences), found.verdict.More
	if cause := found.cause; cause != nil {
		record.Request = cause.Request
		if cause.By != "" {
			record.By = &audit.Subject{Name: cause.By}
		}
	}
	if err := a.Audit.Write(ctx, record); err != nil {
		a.Log.WarnContext(ctx, "cannot write the audit line of a refusal yet", "id", record.ID, "reason", record.Reason, "error", err)
		return
	}
	a.denials.note(record.Key)
}
