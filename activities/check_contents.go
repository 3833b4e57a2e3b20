package activities

import (
	"context"
	"fmt"
	"strings"

	"encoding/json"

	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/resource"
)

// Bounds of what CheckContents looks at and names.
const (
	contentsListed = 100
	contentsNamed  = 10
)

// CheckContents blocks a DELETE while it would take along what nobody named:
// first the managed resources that have this one as owner, then whatever else a
// group or a known kind of parent holds.
func (a *Activities) CheckContents(ctx context.Context, in CheckContentsInput) (CheckContentsResult, error) {
	heart := startHeart[readProgress](ctx)
	defer heart.stop()
	managed, err := a.Dependents.Dependents(ctx, in.ID.WorkflowID())
	if err != nil {
		return CheckContentsResult{}, fmt.Errorf("list dependents of %s: %w", in.ID, err)
	}
	if len(managed) > 0 {
		verdict := resource.Block(resource.ReasonWaitingForDependents, fmt.Sprintf(
			"%s still manages what depends on it: %s; delete that first, or delete with --cascade", in.ID.Short(), shorts(managed)))
		verdict.WaitingFor = managed
		return CheckContentsResult{Verdict: a.observed("CheckContents", verdict)}, nil
	}
	unmanaged, err := a.contents(correlated(ctx), in)
	if err != nil {
		progress := heart.progress()
		progress.Faults++
		heart.record(progress)
		if again, retry := fault(err, progress.Faults); retry {
			return CheckContentsResult{}, again
		}
		return CheckContentsResult{Verdict: a.observed("CheckContents", a.verdict(ctx, in.ID, in.APIVersion, err))}, nil
	}
	verdict := resource.Proceed("nothing else would go with it")
	if len(unmanaged) > 0 {
		verdict = resource.Block(resource.ReasonContainsUnmanaged, fmt.Sprintf(
			"a DELETE of %s would take along what Armature does not manage: %s; remove that first, or delete with --cascade",
			in.ID.Short(), shorts(unmanaged)))
	}
	return CheckContentsResult{Verdict: a.observed("CheckContents", verdict)}, nil
}

// contents lists what ARM says is inside.
func (a *Activities) contents(ctx context.Context, in CheckContentsInput) ([]resource.ID, error) {
	collections := a.Registry.Children(in.ID.Type())
	apiVersion := in.APIVersion
	if strings.EqualFold(in.ID.Type(), resource.TypeResourceGroup) {
		collections, apiVersion = []string{"resources"}, resource.ResourceGroupAPIVersion
	}
	var found []resource.ID
	for _, collection := range collections {
		items, err := a.Client.List(ctx, in.ID, collection, apiVersion, contentsListed)
		if arm.IsAbsent(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		for _, item := range items {
			found = append(found, idOf(item))
		}
	}
	return found, nil
}

// idOf is the ID of a listed item; one that does not parse is shown as none.
func idOf(item json.RawMessage) resource.ID {
	var listed struct {
		ID string `json:"id"`
	}
	_ = json.Unmarshal(item, &listed)
	id, err := resource.ParseID(listed.ID)
	if err != nil {
		return resource.ID{}
	}
	return id
}

// shorts names the first of many resources.
func shorts(ids []resource.ID) string {
	names := make([]string, 0, contentsNamed)
	for _, id := range ids[:min(len(ids), contentsNamed)] {
		names = append(names, id.Short()+" ("+id.Type()+")")
	}
	text := strings.Join(names, ", ")
	if more := len(ids) - contentsNamed; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
