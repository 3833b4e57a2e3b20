package activities

import (
	"context"
	"fmt"

	"github.com/armature-io/armature/activities/contents"
	"github.com/armature-io/armature/resource"
)

// Replacement describes a change that needs a new resource: the resource is deleted and created
// again.
type Replacement struct {
	// Paths are the differences that Azure refuses to correct.
	Paths []string `json:"paths"`
	// Loss names the losses of the new resource, "" for none.
	Loss string `json:"loss,omitempty"`
	// Falling are the managed resources in it, which fall with it and are created again.
	Falling []resource.ID `json:"falling,omitempty"`
	// Refusals are the reasons for which Armature does not replace it. The client adds those of
	// Deletion, the facts on which the DELETE depends.
	Refusals []DeletionRefusal  `json:"refusals,omitempty"`
	Deletion PlanDeletionResult `json:"deletion"`
}

// checkReplacement makes an update that Azure refuses a replacement.
func (p *planning) checkReplacement(ctx context.Context, observed map[string]any, result *PlanResourceResult) {
	if result.Action != PlanUpdate || len(p.immutable) == 0 || observed == nil {
		return
	}
	desired := &p.in.Desired
	replacement := &Replacement{Refusals: replaceRefusals(p.registry, *desired), Deletion: p.askDeletion(ctx, desired)}
	for _, difference := range p.immutable[:min(len(p.immutable), resource.MaxDifferences)] {
		replacement.Paths = append(replacement.Paths, difference.Path)
	}
	if recreation := p.registry.Recreation(desired.ID.Type()); recreation.Loss != "" {
		replacement.Loss = fmt.Sprintf("%s %s", desired.ID.Type(), recreation.Loss)
	}
	for _, dependent := range replacement.Deletion.Dependents {
		if refusal := replaceDependentRefusal(p.registry, desired.ID, dependent); refusal != nil {
			replacement.Refusals = append(replacement.Refusals, *refusal)
		} else {
			replacement.Falling = append(replacement.Falling, dependent.ID)
		}
	}
	result.Action, result.Replacement = PlanReplace, replacement
	if desired.Recreate == resource.RecreateOnImmutable {
		result.Message = fmt.Sprintf("Azure refuses the change; `armature reconcile --recreate %s` deletes it and creates it again", desired.ID.Short())
	} else {
		result.Message = fmt.Sprintf("Azure refuses the change; state reconcile.recreate: on-immutable in its manifest and apply it, then `armature reconcile --recreate %s` deletes it and creates it again",
			desired.ID.Short())
	}
}

// deletionFacts returns the facts on which the DELETE of a managed resource depends.
func (a *Activities) deletionFacts(ctx context.Context, desired *resource.Desired) PlanDeletionResult {
	p := &deletionPlan{Activities: a, request: contents.Request{
		ID: desired.ID, APIVersion: desired.APIVersion, Credential: desired.Credential, Stated: desired.Body,
	}}
	p.result.Policy, p.result.APIVersion, p.result.Observed = desired.Policy, desired.APIVersion, a.observed.Setting(desired.Labels)
	p.ask(ctx, desired)
	return p.result
}
