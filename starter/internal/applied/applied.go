// Package applied owns the document that `apply -o json` prints: what an apply did with
// each resource. It neither sends nor prints anything.
package applied

import (
	"errors"
	"sync"

	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/starter/internal/backend"
	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/armature-io/armature/starter/internal/wait"
	"github.com/armature-io/armature/workflows"
)

// Result is what an apply did with one resource, in one word that does not change.
type Result string

// The results. Managed is the first spec of a resource, which may exist in Azure already;
// Deleting and Detached are those of --prune, Deleted after a wait.
const (
	Managed    Result = "managed"
	Configured Result = "configured"
	Unchanged  Result = "unchanged"
	// Refused is a resource whose workflow refused the spec, Failed one that could not be
	// reached, Unsent one that the apply did not get to, Skipped one that was blocked in
	// the plan file.
	Refused  Result = "refused"
	Failed   Result = "failed"
	Unsent   Result = "unsent"
	Skipped  Result = "skipped"
	Deleting Result = "deleting"
	Detached Result = "detached"
	Deleted  Result = "deleted"
)

// Resource is one resource of an apply. Its JSON names do not change.
type Resource struct {
	ID     resource.ID `json:"id"`
	Name   string      `json:"name"`
	Result Result      `json:"result"`
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

// Document is the result of an apply: the resources of the manifests in dependency order,
// then those that --prune deletes. Its JSON names do not change.
type Document struct {
	Resources []Resource `json:"resources"`
	// Error is the sentence with which the command fails, "" for success.
	Error string `json:"error,omitempty"`

	mu      sync.Mutex
	applied int
}

// New returns the document of an apply that has sent nothing yet.
func New(desired []resource.Desired, stale []backend.Record) *Document {
	d := &Document{Resources: []Resource{}, applied: len(desired)}
	for _, spec := range desired {
		d.Resources = append(d.Resources, Resource{ID: spec.ID, Name: spec.Name, Result: Unsent})
	}
	for _, r := range stale {
		d.Resources = append(d.Resources, Resource{ID: r.ID, Name: r.Name, Result: Unsent})
	}
	return d
}

// Sent records the result of the spec of a resource, or the error of the last try.
func (d *Document) Sent(i int, result workflows.ApplyResult, err error) {
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
		r.Result = Unchanged
	case result.Generation == 1:
		r.Result = Managed
	default:
		r.Result = Configured
	}
}

// Pruned records the result of the deletion of a stale resource.
func (d *Document) Pruned(i int, policy resource.Policy, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	r := &d.Resources[d.applied+i]
	if r.Message, r.Result = "", Deleting; policy.Detaches() {
		r.Result = Detached
	}
	if err != nil {
		r.fail(err)
	}
}

// fail records an error. What the user interrupted was perhaps not sent.
func (r *Resource) fail(err error) {
	r.Result, r.Message = Failed, err.Error()
	if _, refused := errors.AsType[*backend.RefusedError](err); refused {
		r.Result = Refused
	}
	if errors.Is(err, backend.ErrInterrupted) {
		r.Result = Unsent
	}
}

// Waited records the state of the applied resources at the end of a wait.
func (d *Document) Waited(outcomes []wait.Outcome, replacements map[int]wait.Replacement) {
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
func (d *Document) WaitedForDeletions(outcomes []wait.Outcome) {
	for i, o := range outcomes {
		if o.Done && d.Resources[d.applied+i].Result == Deleting {
			d.Resources[d.applied+i].Result = Deleted
		}
	}
}

// End adds the resources that the apply left out, and the error of the command, nil for
// none.
func (d *Document) End(err error, skipped []resource.Desired) {
	for _, spec := range skipped {
		d.Resources = append(d.Resources, Resource{ID: spec.ID, Name: spec.Name, Result: Skipped, Message: "it was blocked in the plan"})
	}
	if err != nil {
		d.Error = cli.OneLine(err.Error())
	}
}
