package writing

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/resource"
)

// maxTaskAge is how old the workflow task of a local activity may be when a link writes. The
// server starts another one after 10 s, and a write leaves within 2 s after it was allowed.
const maxTaskAge = 6 * time.Second

// Link is a write that a link requested: the method and the other resource.
type Link struct {
	ID     resource.ID
	Method string
}

// WithLink returns the context of a write that a link requested, in a step that may write.
func WithLink(ctx context.Context, write Link) context.Context {
	step := stepOf(ctx)
	if step == nil {
		return ctx
	}
	changed := *step
	changed.link = &write
	return context.WithValue(ctx, stepKey{}, &changed)
}

// checkTask returns the verdict that stops a write of a local activity: only a link writes
// there, and only early in a workflow task that is known.
func (s *Step) checkTask(write arm.Write) *resource.Verdict {
	if s.link == nil || s.TaskStarted.IsZero() {
		return new(resource.Fail(resource.ReasonCheckFailed, resource.RetrySlow, "a check sends no "+write.Method+"; nothing was sent"))
	}
	if age := s.Clock.Now().Sub(s.TaskStarted); age > maxTaskAge {
		return new(superseded(fmt.Sprintf("the check took %s before its %s: nothing was sent, the next pass sends it", age.Round(time.Second), write.Method)))
	}
	return nil
}

// checkLink returns the verdict that stops a write that a link requested, nil where none does
// and for other writes: the policy of the resource under reconciliation, and what Armature
// knows of the other one.
func (s *Step) checkLink(ctx context.Context, _ arm.Write) *resource.Verdict {
	write := s.link
	policy, origin := s.Observed.PolicyOf(s.Desired)
	switch {
	case write == nil:
		return nil
	case policy == resource.PolicyObserve:
		return new(resource.Fail(resource.ReasonProtected, resource.RetryVerySlow, fmt.Sprintf(
			"%s of %s allows no %s of %s by an extension; nothing was sent", origin, s.Desired.ID.Short(), write.Method, write.ID.Short())))
	case write.Method == http.MethodPost:
		return nil
	case write.ID.Equal(s.Desired.ID):
		return new(resource.Fail(resource.ReasonProtected, resource.RetryVerySlow, fmt.Sprintf(
			"an extension writes other resources only; the pass writes %s itself, and a modifier changes what it sends", write.ID.Short())))
	}
	return s.checkManaged(ctx, *write)
}

// checkManaged returns the verdict that stops a write of a resource that Armature manages: a
// DELETE, which its own workflow sends, and any write that its policy or a freeze forbids.
func (s *Step) checkManaged(ctx context.Context, write Link) *resource.Verdict {
	managed, known, err := s.Managed(ctx, write.ID)
	origin := cmp.Or(s.Observed.Setting(managed.Labels), "policy "+string(managed.Policy))
	switch {
	case err != nil:
		return new(Unanswered(fmt.Sprintf("cannot look up in Temporal whether Armature manages %s, so no %s is sent", write.ID.Short(), write.Method), err))
	case !known:
		return nil
	case write.Method == http.MethodDelete, managed.Policy == resource.PolicyObserve:
		return new(resource.Fail(resource.ReasonProtected, resource.RetryVerySlow, fmt.Sprintf(
			"Armature manages %s with %s, so an extension of %s sends no %s; nothing was sent", write.ID.Short(), origin, s.Desired.ID.Short(), write.Method)))
	}
	return s.CheckFreeze(ctx, managed)
}

// checkLinkBudget returns the verdict that stops a write of a link beyond the put-budget.
func (s *Step) checkLinkBudget(ctx context.Context, _ arm.Write) *resource.Verdict {
	write := s.link
	if write == nil || write.Method == http.MethodPost || s.Deletion != nil || !s.Unrequested || s.PutBudget <= 0 {
		return nil
	}
	grant, err := s.Budgets.Spend(ctx, Expense{
		Budget: PutBudget, Limit: s.PutBudget, ID: write.ID,
		Token: s.Activity.Token() + "/" + write.Method,
	})
	switch {
	case err != nil:
		return new(Unanswered(fmt.Sprintf("cannot ask the put-budget of the fleet in Temporal for the %s of %s by an extension, so nothing is written", write.Method, write.ID.Short()), err))
	case grant.Granted:
		return nil
	}
	return new(resource.Block(resource.ReasonHeld, fmt.Sprintf(
		"put-budget exhausted: the workers wrote %d times within an hour without a request of a user, so the %s of %s by an extension waits; armature reconcile %s does not wait",
		s.PutBudget, write.Method, write.ID.Short(), s.Desired.ID.Short())))
}
