package starter

import (
	"errors"
	"sync"

	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/starter/internal/backend"
	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/armature-io/armature/starter/internal/wait"
	"github.com/armature-io/armature/workflows"
)

// applyResult is what an apply did with one resource, in one word that does not change.
type applyResult string

// The results. applyManaged is the first spec of a resource, which may exist in Azure
// already. applyDeleting and applyDetached are results of --prune, applyDeleted of --prune
// with --wait.
const (
	applyManaged    applyResult = "managed"
	applyConfigured applyResult = "configured"
	applyUnchanged  applyResult = "unchanged"
	// applyRefused: the workflow refused the spec. applyFailed: it could not be reached.
	// applyUnsent: the apply did not get to it. applySkipped: it was blocked in the plan file.
	applyRefused  applyResult = "refused"
	applyFailed   applyResult = "failed"
	applyUnsent   applyResult = "unsent"
	applySkipped  applyResult = "skipped"
	applyDeleting applyResult = "deleting"
	applyDetached applyResult = "detached"
	applyDeleted  applyResult = "deleted"
)

// appliedResource is one resource of an apply. Its JSON names do not change.
type appliedResource struct {
	ID     resource.ID `json:"id"`
	Name   string      `json:"name"`
	Result applyResult `json:"result"`
	// Generation is that of the applied spec, 0 for none.
	Generation int64 `json:"generation,omitempty"`
	// Message is why the resource was refused or failed, for people.
	Message string `json:"message,omitempty"`
	// Paused is set when nothing starts before a resume, TakenBack when the apply ended a
	// deletion that had sent nothing.
	Paused    bool `json:"paused,omitempty"`
	TakenBack bool `json:"takenBack,omitempty"`
	// Phase and Condition are set after a wait, as of its end.
	Phase     workflows.Phase     `json:"phase,omitempty"`
	Condition *resource.Condition `json:"condition,omitempty"`
	// SupersededBy is the later spec in force at the end of the wait, nil for none.
	SupersededBy *wait.Replacement `json:"supersededBy,omitempty"`
}

// applyDocument is the result of an apply: the resources of the manifests in dependency order,
// then those that --prune deletes. Its JSON names do not change.
type applyDocument struct {
	Resources []appliedResource `json:"resources"`
	// Error is the sentence with which the command fails, "" for success.
	Error string `json:"error,omitempty"`

	mu      sync.Mutex
	applied int
}

// newApplyDocument returns the document of an apply that has sent nothing yet.
func newApplyDocument(desired []resource.Desired, stale []backend.Record) *applyDocument {
	d := &applyDocument{Resources: []appliedResource{}, applied: len(desired)}
	for _, spec := range desired {
		d.Resources = append(d.Resources, appliedResource{ID: spec.ID, Name: spec.Name, Result: applyUnsent})
	}
	for _, r := range stale {
		d.Resources = append(d.Resources, appliedResource{ID: r.ID, Name: r.Name, Result: applyUnsent})
	}
	return d
}

// Sent records the result of the spec of a resource, or the error of the last try.
func (d *applyDocument) Sent(i int, result workflows.ApplyResult, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	r := &d.Resources[i]
	if r.Message = ""; err != nil {
		r.fail(err)
		return
	}
	r.Generation, r.Paused, r.TakenBack = result.Generation, result.Paused, result.TakenBack
	switch {
	case !result.Changed:
		r.Result = applyUnchanged
	case result.Generation == 1:
		r.Result = applyManaged
	default:
		r.Result = applyConfigured
	}
}

// Pruned records the result of the deletion of a stale resource.
func (d *applyDocument) Pruned(i int, policy resource.Policy, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	r := &d.Resources[d.applied+i]
	if r.Message, r.Result = "", applyDeleting; policy.Detaches() {
		r.Result = applyDetached
	}
	if err != nil {
		r.fail(err)
	}
}

// fail records an error. What the user interrupted was perhaps not sent.
func (r *appliedResource) fail(err error) {
	r.Result, r.Message = applyFailed, err.Error()
	if _, refused := errors.AsType[*backend.RefusedError](err); refused {
		r.Result = applyRefused
	}
	if errors.Is(err, backend.ErrInterrupted) {
		r.Result = applyUnsent
	}
}

// Waited records the state of the applied resources at the end of a wait.
func (d *applyDocument) Waited(outcomes []wait.Outcome, replacements map[int]wait.Replacement) {
	for i, o := range outcomes {
		r := &d.Resources[i]
		condition := o.View.Condition
		r.Phase, r.Condition = o.View.Phase, &condition
		if replacement, ok := replacements[i]; ok {
			r.SupersededBy = &replacement
		}
	}
}

// WaitedForDeletions records which stale resources a wait saw deleted.
func (d *applyDocument) WaitedForDeletions(outcomes []wait.Outcome) {
	for i, o := range outcomes {
		if o.Done && d.Resources[d.applied+i].Result == applyDeleting {
			d.Resources[d.applied+i].Result = applyDeleted
		}
	}
}

// End adds the resources that the apply left out, and the error of the command, nil for
// none.
func (d *applyDocument) End(err error, skipped []resource.Desired) {
	for _, spec := range skipped {
		d.Resources = append(d.Resources, appliedResource{ID: spec.ID, Name: spec.Name, Result: applySkipped, Message: "it was blocked in the plan"})
	}
	if err != nil {
		d.Error = cli.OneLine(err.Error())
	}
}
