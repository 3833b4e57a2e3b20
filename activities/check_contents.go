package activities

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/secrets"
)

// Bounds of what CheckContents looks at, counts and names. What is managed and
// goes along may fill the first pages, so it looks on behind it.
const (
	contentsSeen   = 5000
	contentsListed = 100
	contentsNamed  = 10
)

// CheckContents blocks a DELETE while it would take along what Armature does not
// manage: whatever a group or a known kind of parent holds. What is managed and
// goes with its owner holds nothing up.
func (a *Activities) CheckContents(ctx context.Context, in CheckContentsInput) (CheckContentsResult, error) {
	ctx = arm.WithCredential(ctx, in.Credential)
	heart := startHeart[readProgress](ctx)
	defer heart.stop()
	requests, cancel := forARM(ctx)
	defer cancel()
	turn, _ := a.Registry.FamilyHead(in.ID)
	if in.Cascade {
		return CheckContentsResult{Verdict: resource.Proceed("not looked into: --cascade by " + in.By), Turn: turn}, nil
	}
	unmanaged, err := a.contents(requests, in)
	if err != nil && a.closed(requests, in, err) {
		return CheckContentsResult{Turn: turn, Verdict: resource.Proceed(
			"not looked into, for ARM refuses to; what Armature manages in it goes with it: " + secrets.Scrub(err.Error(), nil))}, nil
	}
	if err != nil {
		return a.contentsFailed(heart, err, a.contentsVerdict(ctx, in, err))
	}
	verdict := resource.Proceed("nothing else would go with it")
	if len(unmanaged) > 0 {
		verdict = resource.Block(resource.ReasonContainsUnmanaged, fmt.Sprintf(
			"a DELETE of %s would take along what Armature does not manage: %s; remove that first, or delete with --cascade",
			in.ID.Short(), names(unmanaged)))
	}
	return CheckContentsResult{Verdict: a.observed("CheckContents", verdict), Turn: turn}, nil
}

// closed reports whether a parent at rest, such as a stopped cluster, shows
// nothing of what it holds, while a managed child of it is left to its deletion.
// Without such a child nobody said that anything in it may go.
func (a *Activities) closed(ctx context.Context, in CheckContentsInput, err error) bool {
	var failure *arm.Error
	if !errors.As(err, &failure) || failure.Class != arm.ClassConflict {
		return false
	}
	found, err := a.Fleet.Dependents(ctx, in.ID)
	return err == nil && slices.ContainsFunc(found.Listed, func(m Managed) bool { return m.Released && Contains(in.ID, m.ID) })
}

// temporalError is a fault of Temporal, not of ARM.
type temporalError struct{ error }

func (a *Activities) contentsVerdict(ctx context.Context, in CheckContentsInput, err error) resource.Verdict {
	if fault := (temporalError{}); errors.As(err, &fault) {
		return resource.Fail(resource.ReasonCheckFailed, resource.RetrySlow,
			fmt.Sprintf("Temporal could not tell what Armature manages in %s, so it is not deleted: %v", in.ID.Short(), err))
	}
	return a.verdict(ctx, in.ID, in.APIVersion, err)
}

// contentsFailed gives faults a few more attempts, then says what is wrong.
func (a *Activities) contentsFailed(heart *heart[readProgress], err error, verdict resource.Verdict) (CheckContentsResult, error) {
	progress := heart.progress()
	progress.Faults++
	heart.record(progress)
	if again, retry := fault(err, progress.Faults); retry {
		return CheckContentsResult{}, again
	}
	return CheckContentsResult{Verdict: a.observed("CheckContents", verdict)}, nil
}

// contents names what ARM says is inside.
func (a *Activities) contents(ctx context.Context, in CheckContentsInput) ([]string, error) {
	collections := a.Registry.Children(in.ID.Type())
	apiVersion := in.APIVersion
	if strings.EqualFold(in.ID.Type(), resource.TypeResourceGroup) {
		collections, apiVersion = []string{"resources"}, resource.ResourceGroupAPIVersion
	}
	var found []string
	for _, collection := range collections {
		items, err := a.Client.List(ctx, in.ID, collection, apiVersion, contentsSeen)
		if arm.IsAbsent(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		for _, item := range items {
			name, managed, err := a.listedItem(ctx, in.ID, item)
			if err != nil {
				return nil, err
			}
			if managed {
				continue
			}
			if found = append(found, name); len(found) >= contentsListed {
				return found, nil
			}
		}
	}
	return found, nil
}

// listedItem is how a message calls a listed item, and whether Armature manages
// it and waits for the deletion of what holds it.
func (a *Activities) listedItem(ctx context.Context, parent resource.ID, item json.RawMessage) (string, bool, error) {
	var found struct {
		ID string `json:"id"`
	}
	if json.Unmarshal(item, &found) != nil || found.ID == "" {
		return "something without an ID", false, nil
	}
	id, err := resource.ParseID(found.ID)
	if err != nil {
		return found.ID, false, nil //nolint:nilerr // an ID of another shape is nobody's here, and its text is its name
	}
	managed, known, err := a.Fleet.Managed(ctx, id)
	if err != nil {
		return "", false, temporalError{fmt.Errorf("look up %s, which %s holds: %w", id.Short(), parent.Short(), err)}
	}
	return listed([]resource.ID{id})[0], known && managed.Deleting, nil
}

// listed is how a message calls resources: their short names and types.
func listed(ids []resource.ID) []string {
	names := make([]string, 0, len(ids))
	for _, id := range ids {
		names = append(names, id.Short()+" ("+id.Type()+")")
	}
	return names
}

// names are the first of many.
func names(all []string) string {
	text := strings.Join(all[:min(len(all), contentsNamed)], ", ")
	switch more := len(all) - contentsNamed; {
	case len(all) >= contentsListed:
		text += fmt.Sprintf(" and at least %d more", more)
	case more > 0:
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
