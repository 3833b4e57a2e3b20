package activities

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/armature-io/armature/resource"
	"go.temporal.io/sdk/activity"
	"golang.org/x/sync/errgroup"
)

// CheckDependents blocks a deletion while managed resources need this one: they
// go first, in the reverse order of owner, $ref and dependsOn. One that ARM lets
// go only with its owner holds nothing up. With Cascade those that the resource
// holds are told to go; who only refers to it from elsewhere is not.
func (a *Activities) CheckDependents(ctx context.Context, in CheckDependentsInput) (CheckDependentsResult, error) {
	heart := startHeart[readProgress](ctx)
	defer heart.stop()
	requests, cancel := forARM(ctx)
	defer cancel()
	found, err := a.Fleet.Dependents(requests, in.ID)
	found = withoutMutual(in, found)
	if err == nil && in.Cascade {
		err = a.cascade(requests, in, found)
	}
	if err == nil {
		err = a.takeAlong(requests, in.ID, found)
	}
	if err != nil {
		progress := heart.progress()
		progress.Faults++
		heart.record(progress)
		if again, retry := fault(err, progress.Faults); retry {
			return CheckDependentsResult{}, again
		}
		return CheckDependentsResult{OverdueAfter: a.options.OverdueAfter, Verdict: a.observed("CheckDependents", resource.Fail(
			resource.ReasonCheckFailed, resource.RetrySlow,
			fmt.Sprintf("Temporal could not tell what depends on %s, so it is not deleted: %v", in.ID.Short(), err)))}, nil
	}
	verdict := dependentsVerdict(in, found)
	if owner, goes := a.goWithOwner(requests, in.ID, found); goes && verdict.Reason == resource.ReasonWaitingForDependents {
		verdict = waitForOwnerDelete(owner, "what needs it goes with that too, and not before: "+names(listed(verdict.WaitingFor)))
	}
	return CheckDependentsResult{Verdict: a.observed("CheckDependents", verdict), OverdueAfter: a.options.OverdueAfter}, nil
}

// withoutMutual leaves out the dependents that are being deleted too and that
// this resource needs in turn: they would wait for each other for ever. ARM says
// which of them it lets go first.
func withoutMutual(in CheckDependentsInput, found Dependents) Dependents {
	listed := make([]Managed, 0, len(found.Listed))
	for _, dependent := range found.Listed {
		if dependent.Deleting && slices.ContainsFunc(in.Needs, dependent.ID.Equal) {
			found.Holding--
			continue
		}
		listed = append(listed, dependent)
	}
	found.Listed = listed
	return found
}

// goWithOwner is the owner of a resource to whose deletion everything that needs
// the resource is left, if it is: they would wait for each other.
func (a *Activities) goWithOwner(ctx context.Context, id resource.ID, found Dependents) (resource.ID, bool) {
	if found.Holding == 0 || found.More {
		return resource.ID{}, false
	}
	for _, dependent := range found.Listed {
		if !dependent.Released || !Contains(id.Owner(), dependent.ID) {
			return resource.ID{}, false
		}
	}
	owner, going, err := a.ownerIsGoing(ctx, id)
	return owner, err == nil && going
}

// told is how many dependents a cascade tells at a time.
const told = 8

// cascade tells the dependents within the resource to go that do not go yet. Of
// thousands those are left to the next look that half of the time does not
// suffice for.
func (a *Activities) cascade(ctx context.Context, in CheckDependentsInput, found Dependents) error {
	if len(keeping(in.ID, found)) > 0 {
		return nil
	}
	group, telling := errgroup.WithContext(ctx)
	group.SetLimit(told)
	enough := halfway(ctx)
	for _, dependent := range found.Listed {
		if dependent.Deleting || !Contains(in.ID, dependent.ID) {
			continue
		}
		if telling.Err() != nil || enough() {
			break
		}
		group.Go(func() error {
			if err := a.Fleet.Delete(telling, dependent.ID, in.By); err != nil {
				return fmt.Errorf("tell %s to go: %w", dependent.ID.Short(), err)
			}
			return nil
		})
	}
	return group.Wait()
}

// halfway reports whether half of the time is over that is left now.
func halfway(ctx context.Context) func() bool {
	deadline, bounded := ctx.Deadline()
	half := time.Until(deadline) / 2
	return func() bool { return bounded && time.Until(deadline) < half }
}

// takeAlong tells the dependents that ARM does not delete, and that found no
// owner in deletion when they tried, that their owner goes now.
func (a *Activities) takeAlong(ctx context.Context, id resource.ID, found Dependents) error {
	var refused []resource.ID
	for _, dependent := range found.Listed {
		if dependent.Refused && Contains(id, dependent.ID) {
			refused = append(refused, dependent.ID)
		}
	}
	if len(refused) == 0 {
		return nil
	}
	change := Change{ID: id, State: "Deleting", At: activity.GetInfo(ctx).ScheduledTime}
	if _, err := a.Waker.WakeDeleting(ctx, change, refused); err != nil {
		return fmt.Errorf("tell %s that its owner goes: %w", refused[0].Short(), err)
	}
	return nil
}

// dependentsVerdict names who is waited for.
func dependentsVerdict(in CheckDependentsInput, found Dependents) resource.Verdict {
	if kept := keeping(in.ID, found); in.Cascade && len(kept) > 0 {
		verdict := resource.Block(resource.ReasonContainsProtected, fmt.Sprintf(
			"a DELETE of %s would take along what its manifest keeps in Azure: %s; move that, or give it another policy, first",
			in.ID.Short(), names(listed(kept))))
		verdict.WaitingFor = kept[:min(len(kept), waitingForMost)]
		return verdict
	}
	if found.Holding == 0 {
		return resource.Proceed("")
	}
	holding, elsewhere, staying := waitedFor(in.ID, found)
	advice := "; their deletion is under way"
	switch {
	case in.Cascade && len(elsewhere) > 0:
		advice = fmt.Sprintf("; delete that first: --cascade takes along only what %s holds, and not %s", in.ID.Short(), names(listed(elsewhere)))
	case staying && !in.Cascade:
		advice = "; delete that first, or delete with --cascade"
	case len(elsewhere) > 0:
		advice = "; delete that first"
	}
	verdict := resource.Block(resource.ReasonWaitingForDependents, fmt.Sprintf(
		"Armature manages what needs %s: %s%s", in.ID.Short(), counted(listed(holding), found), advice))
	verdict.WaitingFor = holding[:min(len(holding), waitingForMost)]
	return verdict
}

// waitedFor are the dependents that hold a resource up. Of those that nobody
// deletes, elsewhere are the ones that are not in it, and staying is set when
// one is.
func waitedFor(id resource.ID, found Dependents) (holding, elsewhere []resource.ID, staying bool) {
	for _, dependent := range found.Listed {
		within := Contains(id, dependent.ID)
		if !dependent.Released || !within {
			holding = append(holding, dependent.ID)
		}
		switch {
		case dependent.Deleting:
		case within:
			staying = true
		default:
			elsewhere = append(elsewhere, dependent.ID)
		}
	}
	return holding, elsewhere, staying
}

// waitingForMost bounds the resources that a verdict names: the rest is counted.
const waitingForMost = 32

// counted are the first names and how many there are.
func counted(all []string, found Dependents) string {
	text := strings.Join(all[:min(len(all), contentsNamed)], ", ")
	switch more := found.Holding - min(len(all), contentsNamed); {
	case found.More:
		text += fmt.Sprintf(" and at least %d more", more)
	case more > 0:
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// keeping are the dependents within a resource that are to stay in Azure.
func keeping(id resource.ID, found Dependents) []resource.ID {
	var kept []resource.ID
	for _, dependent := range found.Listed {
		if dependent.Policy != resource.PolicyManage && Contains(id, dependent.ID) {
			kept = append(kept, dependent.ID)
		}
	}
	return kept
}

// Contains reports whether a DELETE of one resource takes the other along.
func Contains(outer, inner resource.ID) bool {
	return strings.HasPrefix(inner.Key(), outer.Key()+"/")
}
