package workflows

import (
	"fmt"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/internal/audit"
	"github.com/armature-io/armature/resource"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"
)

// registerHandlers registers the handlers of updates, queries and signals. None of them
// waits for ARM: a handler changes the state and returns, the loop does the work.
func (r *reconciler) registerHandlers(ctx workflow.Context) error {
	updates := []struct {
		name, description  string
		handler, validator any
	}{
		{ApplyUpdate, "Apply a spec; returns its generation.", r.apply, r.validateApply},
		{ReconcileUpdate, "Run a pass now; returns its number.", r.reconcile, r.validateReconcile},
		{PauseUpdate, "Let a running operation finish and start no further step.", r.pause, r.validatePause},
		{ResumeUpdate, "Continue after a pause.", r.resume, r.validatePause},
		{DeleteUpdate, "Delete the resource and end the workflow.", r.delete, r.validateDelete},
		{AbortUpdate, "Take back a deletion that has sent nothing.", r.abort, r.validateAbort},
		{ForgetUpdate, "End the management and the workflow; send nothing to Azure.", r.forget, r.validateForget},
	}
	for _, update := range updates {
		if err := registerUpdate(ctx, update.name, update.description, update.handler, update.validator); err != nil {
			return err
		}
	}
	if err := workflow.SetQueryHandler(ctx, StatusQuery, r.status); err != nil {
		return fmt.Errorf("set query handler %s: %w", StatusQuery, err)
	}
	if err := workflow.SetQueryHandler(ctx, MemoryQuery, r.recollect); err != nil {
		return fmt.Errorf("set query handler %s: %w", MemoryQuery, err)
	}
	r.wakes, r.reports = workflow.GetSignalChannel(ctx, WakeSignal), workflow.GetSignalChannel(ctx, ReportSignal)
	return nil
}

// registerUpdate registers an update handler; validator may be nil.
func registerUpdate(ctx workflow.Context, name, description string, handler, validator any) error {
	options := workflow.UpdateHandlerOptions{Validator: validator, Description: description}
	if err := workflow.SetUpdateHandlerWithOptions(ctx, name, handler, options); err != nil {
		return fmt.Errorf("set update handler %s: %w", name, err)
	}
	return nil
}

// refused returns the error with which a validator refuses an update.
func refused(kind, format string, args ...any) error {
	return temporal.NewApplicationErrorWithOptions(fmt.Sprintf(format, args...), kind,
		temporal.ApplicationErrorOptions{NonRetryable: true})
}

func (r *reconciler) validateApply(ctx workflow.Context, in ApplyInput) error {
	workflowID, name := workflow.GetInfo(ctx).WorkflowExecution.ID, in.Desired.ID.Short()
	switch {
	case r.state.Forget != nil:
		return refused(RefusedDeleting, "the management of %s is ending: apply again in a moment", r.state.Desired.ID.Short())
	case r.deleteRuns:
		return refused(RefusedRunning, "%s is being deleted, and a DELETE runs: apply again in some seconds, which takes the deletion back if Azure accepts none", r.state.Desired.ID.Short())
	case r.state.Deletion != nil && !r.state.canAbort():
		return refused(RefusedDeleting, "%s is being deleted, and Azure may have accepted the DELETE: wait until it is deleted, then apply again", r.state.Desired.ID.Short())
	case in.Once && r.state.Desired != nil && !r.state.Once:
		return refused(RefusedOnce, "%s is managed already, and --once would end that: apply it without --once", r.state.Desired.ID.Short())
	case in.Carried != nil && r.state.Desired != nil:
		return refused(RefusedManaged, "%s is managed already: its own memory stays", r.state.Desired.ID.Short())
	case in.Desired.ID.WorkflowID() != workflowID:
		return refused(RefusedInvalid, "the resource ID %q does not belong to the workflow %q", in.Desired.ID, workflowID)
	case in.Desired.APIVersion == "":
		return refused(RefusedInvalid, "%s has no api-version", name)
	case !labelsFit(in.Desired.Labels):
		return refused(RefusedInvalid, "the labels of %s exceed the %d bytes of a search attribute", name, maxAttributeBytes)
	case len(in.Desired.Body) > resource.MaxBodyBytes:
		return refused(RefusedInvalid, "the body of %s has %d bytes; at most %d are allowed", name, len(in.Desired.Body), resource.MaxBodyBytes)
	}
	return r.validateSignature(in.Desired)
}

func (r *reconciler) apply(ctx workflow.Context, in ApplyInput) (ApplyResult, error) {
	changed := r.state.Desired == nil || !equalSpecs(*r.state.Desired, in.Desired)
	result := ApplyResult{Changed: changed}
	if r.state.Deletion != nil {
		result.TakenBack, result.DeletedWith = true, r.takeBack(ctx, in.By)
	}
	r.state.Once, r.state.StatedAt = in.Once, workflow.Now(ctx)
	if in.Carried != nil {
		r.state.carry(*in.Carried)
	}
	if changed {
		r.upsertMemo(ctx, in.Desired)
		r.state.replaceSpec(in.Desired)
		r.state.AppliedBy, r.state.AppliedRequest, r.state.ChangedAt = in.By, requestKey(ctx, audit.EventApply), workflow.Now(ctx)
		r.state.Retry.reset()
		r.upsertIdentity(ctx)
		r.announceGeneration(ctx)
		if r.state.Generation == 1 {
			r.state.Phase = PhasePending
			r.state.Condition.Set(resource.Condition{
				Severity: resource.SeverityInfo, Reason: resource.ReasonReconciling, ObservedGeneration: 1,
				Message: "the first pass has not ended yet",
			}, workflow.Now(ctx))
		}
	}
	renewed := !changed && r.renewSignature(in.Desired)
	approved := r.state.Requests.approveDrops()
	accepted := r.state.Condition.Reason == resource.ReasonOlderThanRecorded
	if changed || renewed || result.TakenBack || approved || accepted {
		r.interruptRead()
		r.requestPass(ctx, ApplyUpdate, fmt.Sprintf("generation %d by %s", r.state.Generation, in.By))
		r.noteApply(ctx, in, result.TakenBack, approved)
	}
	result.Generation, result.Paused = r.state.Generation, r.state.pauseBlocks()
	return result, nil
}

func (r *reconciler) validateReconcile(in ReconcileInput) error {
	if in.Force && in.Reason == "" {
		return refused(RefusedInvalid, "a forced reconcile needs a reason, which the history keeps")
	}
	return r.validateManaged()
}

func (r *reconciler) reconcile(ctx workflow.Context, in ReconcileInput) (ReconcileResult, error) {
	number := r.state.Pass + 1
	if r.inPass {
		number++
	}
	message := "by " + in.By
	if in.Force {
		in.Request = requestKey(ctx, audit.EventForce)
		r.state.Requests.Force = &in
		message = "forced by " + in.By + ": " + in.Reason
	}
	if in.DropBaseline {
		r.state.Known.Baseline, r.state.Known.Findings, r.state.Write.Accepted = nil, activities.Findings{}, nil
		message += "; baseline dropped"
	}
	if in.Recreate {
		r.state.approveRecreation()
		r.state.Requests.Approved.Replacement, r.state.Requests.Order = true, in.Order
		message += "; recreation approved"
	}
	dropsApproved := r.state.Requests.approveDrops()
	if dropsApproved {
		message += "; removals approved"
	}
	r.noteReconcile(ctx, in, dropsApproved)
	r.requestPass(ctx, ReconcileUpdate, message)
	return ReconcileResult{Pass: number, Paused: r.state.pauseBlocks()}, nil
}

func (r *reconciler) validatePause(PauseInput) error { return r.validateManaged() }

func (r *reconciler) validateManaged() error {
	switch {
	case r.state.Desired == nil:
		return refused(RefusedNotManaged, "the resource is not managed: apply a manifest first")
	case r.state.Forget != nil:
		return refused(RefusedNotManaged, "%s is no longer managed: apply a manifest first", r.state.Desired.ID.Short())
	}
	return nil
}

func (r *reconciler) pause(ctx workflow.Context, in PauseInput) (PauseResult, error) {
	if r.state.Paused {
		return PauseResult{}, nil
	}
	r.state.Paused = true
	if r.state.pauseBlocks() {
		r.interruptRead()
	}
	r.noteRequest(ctx, activities.UserRequest{Event: audit.EventPause, By: in.By, Reason: in.Reason})
	r.recordMessage(ctx, PauseUpdate, attribution(in))
	return PauseResult{Changed: true}, nil
}

func (r *reconciler) resume(ctx workflow.Context, in PauseInput) (PauseResult, error) {
	if !r.state.Paused {
		return PauseResult{}, nil
	}
	r.state.Paused = false
	r.state.Retry.resetClock()
	r.noteRequest(ctx, activities.UserRequest{Event: audit.EventResume, By: in.By, Reason: in.Reason})
	r.requestPass(ctx, ResumeUpdate, attribution(in))
	return PauseResult{Changed: true}, nil
}

func (r *reconciler) validateDelete(ctx workflow.Context, in DeleteInput) error {
	if in.Continue && (r.state.Deletion == nil || r.state.Deletion.Stack != in.Stack) {
		return refused(RefusedNotDeleted, "its deletion was taken back, or another request deletes it")
	}
	if known := r.state.Desired; known != nil {
		if err := r.validateManaged(); err != nil {
			return err
		}
		// The applied policy decides. A manifest that would keep the resource must not
		// delete it because it has not been applied yet.
		if in.Desired != nil && in.Desired.Policy.PreventsDelete() && known.Policy != in.Desired.Policy {
			return refused(RefusedInvalid, "the manifest of %s has policy %s, but %s was applied: apply the manifest first, or delete by name",
				known.ID.Short(), in.Desired.Policy, known.Policy)
		}
		return validateProtection(*known)
	}
	if in.Desired == nil {
		return r.validateManaged()
	}
	if err := validateProtection(*in.Desired); err != nil {
		return err
	}
	return r.validateApply(ctx, ApplyInput{Desired: *in.Desired})
}

// validateProtection refuses to delete a resource with policy protect.
func validateProtection(desired resource.Desired) error {
	if desired.Policy != resource.PolicyProtect {
		return nil
	}
	return refused(RefusedProtected, "%s is protected (policy protect): to delete it, apply its manifest with policy manage first; to stop managing it, apply it with detach-on-delete",
		desired.ID.Short())
}

func (r *reconciler) delete(ctx workflow.Context, in DeleteInput) (DeleteResult, error) {
	earlier := r.state.Deletion
	changed := earlier == nil
	if !changed && in.From.IsZero() && !in.Continue {
		earlier.Identity = nil // the user means the resource that exists now
	}
	if in.From.IsZero() {
		in.StatedAt = workflow.Now(ctx)
	}
	if !changed {
		in.join(earlier.DeleteInput)
	}
	widened := changed || in.Cascade != earlier.Cascade || in.EndScope != earlier.EndScope || in.APIVersion != earlier.APIVersion || in.Held != earlier.Held
	if widened {
		r.interruptRead()
	}
	if r.state.Desired == nil {
		r.state.Desired, r.state.Generation, r.state.AppliedBy, r.state.AppliedRequest = in.Desired, 1, in.By, ""
		r.upsertIdentity(ctx)
	}
	in.Desired, in.Request = nil, requestKey(ctx, audit.EventDelete)
	noted := widened || in.WithData != earlier.WithData
	if !noted {
		in.Request = earlier.Request
	}
	if changed {
		r.state.Deletion = &Deletion{DeleteInput: in, Stage: DeletionRequested}
	} else {
		earlier.DeleteInput = in
	}
	if in.StatedAt.After(r.state.StatedAt) {
		r.state.StatedAt = in.StatedAt
	}
	if changed {
		r.state.Retry.Attempts = 0
		r.state.Retry.resetClock()
	}
	message := "by " + in.By
	if in.Cascade {
		message += ", with everything in it"
	}
	if in.WithData {
		message += ", with data"
	}
	if noted {
		r.noteDelete(ctx, in)
	}
	r.requestPass(ctx, DeleteUpdate, message)
	result := DeleteResult{Changed: changed, Detached: r.state.Desired.Policy.Detaches()}
	if stated := r.state.Desired.Deletion; !stated.IsZero() {
		result.Deletion = &stated
	}
	return result, nil
}

// status returns the result of StatusQuery.
func (r *reconciler) status() (*Status, error) {
	status := r.state.status()
	if r.inPass {
		status.PassSince = r.passSince
	}
	status.InPass = (r.inPass || r.state.Requests.Pass) && !r.state.pauseBlocks()
	return status, nil
}
