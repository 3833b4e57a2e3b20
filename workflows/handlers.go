package workflows

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/resource"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"
)

// handleMessages registers the handlers. None of them waits for ARM: a handler changes
// the state and returns, the loop does the work.
func (r *reconciler) handleMessages(ctx workflow.Context) error {
	updates := []struct {
		name, description  string
		handler, validator any
	}{
		{ApplyUpdate, "Take a new spec; answers its generation.", r.apply, r.validateApply},
		{ReconcileUpdate, "Run a pass now; answers its number.", r.reconcile, r.validateReconcile},
		{PauseUpdate, "Let an operation end and start no step.", r.pause, r.validatePause},
		{ResumeUpdate, "Go on after a pause.", r.resume, r.validatePause},
		{DeleteUpdate, "Delete the resource and end.", r.delete, r.validateDelete},
	}
	for _, update := range updates {
		options := workflow.UpdateHandlerOptions{Validator: update.validator, Description: update.description}
		if err := workflow.SetUpdateHandlerWithOptions(ctx, update.name, update.handler, options); err != nil {
			return fmt.Errorf("set update handler %s: %w", update.name, err)
		}
	}
	if err := workflow.SetQueryHandler(ctx, StatusQuery, r.report); err != nil {
		return fmt.Errorf("set query handler %s: %w", StatusQuery, err)
	}
	if err := workflow.SetQueryHandler(ctx, MemoryQuery, r.recollect); err != nil {
		return fmt.Errorf("set query handler %s: %w", MemoryQuery, err)
	}
	r.wakes = workflow.GetSignalChannel(ctx, WakeSignal)
	return nil
}

// report answers StatusQuery.
func (r *reconciler) report() (Status, error) {
	return r.state.status(), nil
}

// refused is the error of a validator.
func refused(kind, format string, args ...any) error {
	return temporal.NewApplicationErrorWithOptions(fmt.Sprintf(format, args...), kind,
		temporal.ApplicationErrorOptions{NonRetryable: true})
}

func (r *reconciler) validateApply(ctx workflow.Context, in ApplyInput) error {
	id := workflow.GetInfo(ctx).WorkflowExecution.ID
	switch {
	case r.state.Delete != nil:
		return refused(RefusedDeleting, "%s is being deleted: wait until it is gone, then apply again", r.state.Desired.ID.Short())
	case in.Once && r.state.Desired != nil && !r.state.Once:
		return refused(RefusedOnce, "%s is managed already: --once would end that; apply it without --once", r.state.Desired.ID.Short())
	case in.Desired.ID.WorkflowID() != id:
		return refused(RefusedInvalid, "the resource ID %q does not belong to the workflow %q", in.Desired.ID, id)
	case in.Desired.APIVersion == "":
		return refused(RefusedInvalid, "%s has no api-version", in.Desired.ID.Short())
	case !labelsFit(in.Desired.Labels):
		return refused(RefusedInvalid, "the labels of %s take more than the %d bytes that a search attribute holds", in.Desired.ID.Short(), searchAttributeMax)
	case len(in.Desired.Body) > resource.MaxBodyBytes:
		return refused(RefusedInvalid, "the body of %s has %d bytes; at most %d are allowed", in.Desired.ID.Short(), len(in.Desired.Body), resource.MaxBodyBytes)
	}
	return nil
}

func (r *reconciler) apply(ctx workflow.Context, in ApplyInput) (ApplyResult, error) {
	changed := r.state.Desired == nil || !same(*r.state.Desired, in.Desired)
	r.state.Once = in.Once
	if changed {
		r.upsertMemo(ctx, in.Desired)
		r.state.Desired = &in.Desired
		r.state.Generation++
		r.state.Attempts, r.state.FailedPuts = 0, 0
		r.state.Ended = activities.Repeated{}
		r.state.NotReadySince, r.state.Overdue = time.Time{}, false
		r.upsertIdentity(ctx)
		if r.state.Generation == 1 {
			r.state.Phase = PhasePending
			r.state.Condition.Set(resource.Condition{
				Severity: resource.SeverityInfo, Reason: resource.ReasonReconciling, ObservedGeneration: 1,
				Message: "the first pass has not ended yet",
			}, workflow.Now(ctx))
		}
		r.want(ctx, ApplyUpdate, fmt.Sprintf("generation %d by %s", r.state.Generation, in.By))
	}
	return ApplyResult{Generation: r.state.Generation, Changed: changed, Paused: r.state.holds()}, nil
}

// same compares two specs as they stand in histories; map keys are sorted
// there.
func same(a, b resource.Desired) bool {
	left, errLeft := json.Marshal(a)
	right, errRight := json.Marshal(b)
	return errLeft == nil && errRight == nil && bytes.Equal(left, right)
}

func (r *reconciler) validateReconcile(in ReconcileInput) error {
	if in.Force && in.Reason == "" {
		return refused(RefusedInvalid, "a forced reconcile needs a reason: it stands in the history")
	}
	return r.validateManaged()
}

func (r *reconciler) reconcile(ctx workflow.Context, in ReconcileInput) (ReconcileResult, error) {
	number := r.state.Pass + 1
	if r.passing {
		number++
	}
	message := "by " + in.By
	if in.Force {
		r.state.Force = &in
		message = "forced by " + in.By + ": " + in.Reason
	}
	if in.DropBaseline {
		r.state.Memory, r.state.Kept = nil, nil
		message += "; the baseline is dropped"
	}
	r.want(ctx, ReconcileUpdate, message)
	return ReconcileResult{Pass: number, Paused: r.state.holds()}, nil
}

func (r *reconciler) validatePause(PauseInput) error { return r.validateManaged() }

func (r *reconciler) validateManaged() error {
	if r.state.Desired == nil {
		return refused(RefusedNotManaged, "nothing is managed here: apply a manifest first")
	}
	return nil
}

func (r *reconciler) pause(ctx workflow.Context, in PauseInput) (PauseResult, error) {
	if r.state.Paused {
		return PauseResult{}, nil
	}
	r.state.Paused = true
	r.message(ctx, PauseUpdate, said(in))
	return PauseResult{Changed: true}, nil
}

func (r *reconciler) resume(ctx workflow.Context, in PauseInput) (PauseResult, error) {
	if !r.state.Paused {
		return PauseResult{}, nil
	}
	r.state.Paused = false
	r.state.NotReadySince, r.state.Overdue = time.Time{}, false
	r.want(ctx, ResumeUpdate, said(in))
	return PauseResult{Changed: true}, nil
}

// said is who gave which reason.
func said(in PauseInput) string {
	if in.Reason == "" {
		return "by " + in.By
	}
	return "by " + in.By + ": " + in.Reason
}

func (r *reconciler) validateDelete(ctx workflow.Context, in DeleteInput) error {
	if known := r.state.Desired; known != nil {
		// The applied policy decides. A manifest that wants to keep the resource
		// must not delete it because nobody applied it yet.
		if in.Desired != nil && in.Desired.Policy.Spares() && known.Policy != in.Desired.Policy {
			return refused(RefusedInvalid, "the manifest of %s says policy %s, but %s was applied: apply the manifest first, or delete by name",
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

// validateProtection refuses to delete what the policy protects.
func validateProtection(desired resource.Desired) error {
	if desired.Policy != resource.PolicyProtect {
		return nil
	}
	return refused(RefusedProtected, "%s is protected (policy protect), so nothing deletes it: apply its manifest with policy manage first, or detach-on-delete to let go of it",
		desired.ID.Short())
}

func (r *reconciler) delete(ctx workflow.Context, in DeleteInput) (DeleteResult, error) {
	changed := r.state.Delete == nil
	in.Cascade = in.Cascade || !changed && r.state.Delete.Cascade
	if r.state.Desired == nil {
		r.state.Desired, r.state.Generation = in.Desired, 1
		r.upsertIdentity(ctx)
	}
	in.Desired = nil
	r.state.Delete = &in
	if changed {
		r.state.Attempts = 0
		r.state.NotReadySince, r.state.Overdue = time.Time{}, false
	}
	message := "by " + in.By
	if in.Cascade {
		message += ", with everything in it"
	}
	r.want(ctx, DeleteUpdate, message)
	return DeleteResult{Changed: changed, Detached: r.state.Desired.Policy.Leaves()}, nil
}

// want asks for a pass; many messages join one.
func (r *reconciler) want(ctx workflow.Context, name, text string) {
	r.state.Wanted = true
	r.message(ctx, name, text)
}

// message logs a message and ends the wait.
func (r *reconciler) message(ctx workflow.Context, name, text string) {
	r.messages++
	r.state.remember(Decision{At: workflow.Now(ctx), Pass: r.state.Pass, Step: name, Message: text})
}
