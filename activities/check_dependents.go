package activities

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/armature-io/armature/activities/contents"
	"github.com/armature-io/armature/activities/writing"
	"github.com/armature-io/armature/resource"
	"go.temporal.io/sdk/activity"
	"golang.org/x/sync/errgroup"
)

// CheckDependentsInput is the resource to delete after its dependents.
type CheckDependentsInput struct {
	ID resource.ID `json:"id"`
	// Needs are the resources that this one depends on.
	Needs []resource.ID `json:"needs,omitempty"`
	// Cascade deletes the dependents in the resource, as requested by By.
	Cascade bool   `json:"cascade,omitempty"`
	By      string `json:"by,omitempty"`
	// WithData is as in contents.Request; a cascade passes it on.
	WithData bool            `json:"withData,omitempty"`
	Intent   contents.Intent `json:"intent,omitempty"`
	// StatedAt is when a user requested the deletion.
	StatedAt time.Time `json:"statedAt,omitzero"`
	// WaitedFor is how long the deletion has been waiting for the same resources.
	WaitedFor time.Duration `json:"waitedFor,omitempty"`
	// Order is the signed request, which a cascade passes on; nil for one that is not
	// signed.
	Order *resource.DeletionOrder `json:"order,omitempty"`
}

// CheckDependentsResult blocks while there are dependents.
type CheckDependentsResult struct {
	Verdict resource.Verdict `json:"verdict"`
	// OverdueAfter is the worker's setting. A pass that deletes begins with this step.
	OverdueAfter time.Duration `json:"overdueAfter,omitempty"`
	// Audits is set if the worker keeps an audit trail.
	Audits bool `json:"audits,omitempty"`
	// Falling are the managed resources that fall with one that is replaced, and that are created
	// again after it.
	Falling []resource.ID `json:"falling,omitempty"`
}

// CheckDependents blocks a deletion while managed resources need this one: they are
// deleted first, in the reverse order of owner, $ref and dependsOn. A resource that
// ARM deletes only with its owner does not block the owner. With Cascade the
// dependents in the resource are deleted; those that refer to it from elsewhere are
// not.
func (a *Activities) CheckDependents(ctx context.Context, in CheckDependentsInput) (CheckDependentsResult, error) {
	heartbeat := startHeartbeat[readProgress](ctx)
	defer heartbeat.stop()
	requests, cancel := requestContext(ctx)
	defer cancel()
	result := CheckDependentsResult{OverdueAfter: a.options.OverdueAfter, Audits: a.Audit.IsOn()}
	found, err := a.dependents(requests, in)
	found = withoutMutual(in, found)
	if err == nil && in.Cascade {
		err = a.cascade(requests, in, found)
	}
	if err == nil {
		err = a.wakeRefused(requests, in.ID, found)
	}
	if err = TemporalError(err); err != nil {
		if retry := countTransient(heartbeat, err); retry != nil {
			return CheckDependentsResult{}, retry
		}
		result.Verdict = a.report("CheckDependents", writing.Unanswered(
			fmt.Sprintf("cannot look up in Temporal what depends on %s, so it is not deleted", in.ID.Short()), err))
		return result, nil
	}
	if in.Intent == contents.IntentReplace {
		result.Falling, result.Verdict = a.falling(in, found)
		a.report("CheckDependents", result.Verdict)
		return result, nil
	}
	verdict := dependentsVerdict(in, found)
	if owner, deleting := a.deletedWithOwner(requests, in.ID, found); deleting && verdict.Reason == resource.ReasonWaitingForDependents {
		verdict = waitForOwnerDelete(owner, "everything that needs it is deleted with that owner too, and not before: "+contents.NameAll(contents.DisplayNames(verdict.WaitingFor)))
	}
	if lastsLong(verdict, in.WaitedFor) {
		verdict.Class = resource.RetryWoken // what is managed wakes what it needs when it ends
	}
	result.Verdict = a.report("CheckDependents", verdict)
	return result, nil
}

// listLag is how far the lists of Temporal may be behind its workflows.
const listLag = 3 * time.Second

// dependents lists the dependents of a resource, those too that were applied right before its
// deletion was requested. What was applied later sees the deletion.
func (a *Activities) dependents(ctx context.Context, in CheckDependentsInput) (Dependents, error) {
	if wait := min(in.StatedAt.Add(listLag).Sub(a.clock.Now()), listLag); wait > 0 {
		a.options.Pause(ctx, wait)
	}
	return a.Fleet.Dependents(ctx, in.ID)
}

// falling returns the managed resources that fall with a resource that is replaced, and blocks
// if one of them would not be created again, or if others need the resource.
func (a *Activities) falling(in CheckDependentsInput, found Dependents) ([]resource.ID, resource.Verdict) {
	var falling, waitingFor []resource.ID
	var texts []string
	for _, dependent := range found.Listed {
		if dependent.Gone {
			continue
		}
		if dependent.Unreadable != nil {
			texts, waitingFor = append(texts, dependent.Unreadable.Error()), append(waitingFor, dependent.ID)
			continue
		}
		falls := Dependent{ID: dependent.ID, Policy: dependent.Policy, Deleting: dependent.Deleting}
		if refusal := replaceDependentRefusal(a.Registry, in.ID, falls); refusal != nil {
			texts, waitingFor = append(texts, refusal.Text()), append(waitingFor, dependent.ID)
			continue
		}
		falling = append(falling, dependent.ID)
	}
	switch {
	case found.More:
		texts = append(texts, "it has more dependents than were listed; delete a part of them first")
	case len(falling) > 0 && in.Order != nil && !in.Order.Cascade:
		texts = append(texts, "the signed request covers it alone, and not "+contents.NameAll(contents.DisplayNames(falling))+"; repeat armature reconcile --recreate "+in.ID.Short())
	}
	if len(texts) == 0 {
		slices.SortFunc(falling, func(a, b resource.ID) int { return strings.Compare(a.Key(), b.Key()) })
		return falling, resource.Proceed("")
	}
	verdict := resource.Block(resource.ReasonWaitingForDependents, fmt.Sprintf("%s is not replaced: %s", in.ID.Short(), strings.Join(texts[:min(len(texts), maxNamedRefusals)], "; ")))
	verdict.WaitingFor = waitingFor[:min(len(waitingFor), maxWaitingFor)]
	return nil, verdict
}

// maxNamedRefusals bounds the refusals that one message names.
const maxNamedRefusals = 5

// withoutMutual leaves out the dependents that are being deleted too and that this
// resource needs in turn: they would wait for each other without end. ARM decides
// which of them is deleted first.
func withoutMutual(in CheckDependentsInput, found Dependents) Dependents {
	listed := make([]Managed, 0, len(found.Listed))
	for _, dependent := range found.Listed {
		if dependent.Deleting && slices.ContainsFunc(in.Needs, dependent.ID.Equal) {
			found.Blocking--
			continue
		}
		listed = append(listed, dependent)
	}
	found.Listed = listed
	return found
}

// deletedWithOwner returns the owner of a resource and true where everything that
// needs the resource is deleted only with that owner, and the owner is being
// deleted: they would wait for each other.
func (a *Activities) deletedWithOwner(ctx context.Context, id resource.ID, found Dependents) (resource.ID, bool) {
	if found.Blocking == 0 || found.More {
		return resource.ID{}, false
	}
	for _, dependent := range found.Listed {
		if !dependent.Released || !Contains(id.Owner(), dependent.ID) {
			return resource.ID{}, false
		}
	}
	owner, deleting, err := deletingOwner(ctx, a.Fleet, id)
	return owner, err == nil && deleting
}

// maxConcurrentDeletes bounds the concurrent requests of a cascade.
const maxConcurrentDeletes = 8

// cascade deletes the dependents in the resource that are not being deleted yet. Where
// the request includes their data, it passes that on to those that wait for it.
// After half of its time it leaves the rest to the next pass.
func (a *Activities) cascade(ctx context.Context, in CheckDependentsInput, found Dependents) error {
	if len(protectedDependents(in.ID, found)) > 0 {
		return nil
	}
	group, deleting := errgroup.WithContext(ctx)
	group.SetLimit(maxConcurrentDeletes)
	deadline, bounded := ctx.Deadline()
	half := time.Until(deadline) / 2
	for _, dependent := range found.Listed {
		waits := in.WithData && dependent.HoldsData
		if dependent.Deleting && !waits || !Contains(in.ID, dependent.ID) {
			continue
		}
		if deleting.Err() != nil || bounded && time.Until(deadline) < half {
			break
		}
		group.Go(func() error {
			if err := a.Fleet.Delete(deleting, dependent.ID, Cascade{Owner: in.ID, By: in.By, WithData: in.WithData, StatedAt: in.StatedAt, Order: in.Order}); err != nil {
				return fmt.Errorf("delete %s: %w", dependent.ID.Short(), err)
			}
			return nil
		})
	}
	return group.Wait()
}

// wakeRefused wakes the dependents that ARM does not delete by themselves. When they
// tried, their owner was not being deleted; now it is.
func (a *Activities) wakeRefused(ctx context.Context, id resource.ID, found Dependents) error {
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
		return fmt.Errorf("wake %s, whose owner is being deleted: %w", refused[0].Short(), err)
	}
	return nil
}

// dependentsVerdict names the dependents that block a deletion.
func dependentsVerdict(in CheckDependentsInput, found Dependents) resource.Verdict {
	if protected := protectedDependents(in.ID, found); in.Cascade && len(protected) > 0 {
		verdict := resource.Block(resource.ReasonContainsProtected, fmt.Sprintf(
			"a DELETE of %s would also delete resources that their policy, or the worker's setting observe, keeps in Azure: %s; move them, or change that, first%s",
			in.ID.Short(), contents.NameAll(contents.DisplayNames(protected)), unreadableText(found)))
		verdict.WaitingFor = protected[:min(len(protected), maxWaitingFor)]
		return verdict
	}
	if found.Blocking == 0 {
		return resource.Proceed("")
	}
	blocking, outside, remaining := blockingDependents(in.ID, found)
	advice := "; they are being deleted"
	switch {
	case in.Cascade && len(outside) > 0:
		advice = fmt.Sprintf("; delete them first: --cascade deletes only what is in %s, and not %s", in.ID.Short(), contents.NameAll(contents.DisplayNames(outside)))
	case remaining && !in.Cascade:
		advice = "; delete them first, or delete with --cascade"
	case len(outside) > 0:
		advice = "; delete them first"
	}
	verdict := resource.Block(resource.ReasonWaitingForDependents, fmt.Sprintf(
		"managed resources need %s: %s%s%s", in.ID.Short(), contents.NameFirst(contents.DisplayNames(blocking), found.Blocking, found.More), advice, unreadableText(found)))
	verdict.WaitingFor = blocking[:min(len(blocking), maxWaitingFor)]
	return verdict
}

// unreadableText names the first dependent whose workflow cannot be read, and the remedy; "" if
// all can be read.
func unreadableText(found Dependents) string {
	i := slices.IndexFunc(found.Listed, func(dependent Managed) bool { return dependent.Unreadable != nil })
	if i < 0 {
		return ""
	}
	return fmt.Sprintf("; %s counts as protected: %v", contents.DisplayName(found.Listed[i].ID), found.Listed[i].Unreadable)
}

// blockingDependents returns the dependents that block a resource. Of those that
// are not being deleted, outside are the ones that are not in it, and remaining is
// set when one is.
func blockingDependents(id resource.ID, found Dependents) (blocking, outside []resource.ID, remaining bool) {
	for _, dependent := range found.Listed {
		within := Contains(id, dependent.ID)
		if !dependent.Released || !within {
			blocking = append(blocking, dependent.ID)
		}
		switch {
		case dependent.Deleting:
		case within:
			remaining = true
		default:
			outside = append(outside, dependent.ID)
		}
	}
	return blocking, outside, remaining
}

// maxWaitingFor bounds the resources that a verdict names: the rest is counted.
const maxWaitingFor = 32

// protectedDependents returns the dependents in a resource that stay in Azure.
func protectedDependents(id resource.ID, found Dependents) []resource.ID {
	var protected []resource.ID
	for _, dependent := range found.Listed {
		if dependent.Policy != resource.PolicyManage && Contains(id, dependent.ID) {
			protected = append(protected, dependent.ID)
		}
	}
	return protected
}

// Contains reports whether a DELETE of outer deletes inner too.
func Contains(outer, inner resource.ID) bool {
	return strings.HasPrefix(inner.Key(), outer.Key()+"/")
}
