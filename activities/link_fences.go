package activities

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"go.temporal.io/sdk/activity"

	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/resource"
)

// maxTaskAge is how old the workflow task of a local activity may be when a link writes. The
// server starts another one after 10 s, and a write leaves within 2 s after it was allowed.
const maxTaskAge = 6 * time.Second

// checkTask returns the verdict that stops a write of a local activity: only a link writes
// there, and only early in a workflow task that is known.
func (s *writeStep) checkTask(write arm.Write) *resource.Verdict {
	if s.link == nil || s.taskStarted.IsZero() {
		return new(resource.Fail(resource.ReasonCheckFailed, resource.RetrySlow, "a check sends no "+write.Method+"; nothing was sent"))
	}
	if age := s.clock.Now().Sub(s.taskStarted); age > maxTaskAge {
		return new(superseded(fmt.Sprintf("the check took %s before its %s: nothing was sent, the next pass sends it", age.Round(time.Second), write.Method)))
	}
	return nil
}

// checkLink returns the verdict that stops a write that a link requested, nil where none does
// and for other writes: the policy of the resource under reconciliation, and what Armature
// knows of the other one.
func (s *writeStep) checkLink(ctx context.Context, _ arm.Write) *resource.Verdict {
	write := s.link
	switch {
	case write == nil:
		return nil
	case s.desired.Policy == resource.PolicyObserve:
		return new(resource.Fail(resource.ReasonProtected, resource.RetryVerySlow, fmt.Sprintf(
			"policy observe of %s allows no %s of %s by an extension; nothing was sent", s.desired.ID.Short(), write.method, write.id.Short())))
	case write.method == http.MethodPost:
		return nil
	case write.id.Equal(s.desired.ID):
		return new(resource.Fail(resource.ReasonProtected, resource.RetryVerySlow, fmt.Sprintf(
			"an extension writes other resources only; the pass writes %s itself, and a modifier changes what it sends", write.id.Short())))
	}
	return s.checkManaged(ctx, *write)
}

// checkManaged returns the verdict that stops a write of a resource that Armature manages: a
// DELETE, which its own workflow sends, and any write that its policy or a freeze forbids.
func (s *writeStep) checkManaged(ctx context.Context, write linkWrite) *resource.Verdict {
	managed, known, err := s.managed.of(ctx, write.id, time.Time{})
	switch {
	case err != nil:
		return new(resource.Fail(resource.ReasonCheckFailed, resource.RetrySlow, fmt.Sprintf(
			"cannot look up in Temporal whether Armature manages %s, so no %s is sent: %v", write.id.Short(), write.method, err)))
	case !known:
		return nil
	case write.method == http.MethodDelete, managed.Policy == resource.PolicyObserve:
		return new(resource.Fail(resource.ReasonProtected, resource.RetryVerySlow, fmt.Sprintf(
			"Armature manages %s with policy %s, so an extension of %s sends no %s; nothing was sent", write.id.Short(), managed.Policy, s.desired.ID.Short(), write.method)))
	}
	return s.checkFreeze(ctx, resource.Desired{ID: write.id, Labels: managed.Labels})
}

// checkLinkBudget returns the verdict that stops a write of a link beyond the put-budget.
func (s *writeStep) checkLinkBudget(ctx context.Context, _ arm.Write) *resource.Verdict {
	write := s.link
	if write == nil || write.method == http.MethodPost || s.deletion != nil || !s.Unrequested() || s.putBudget <= 0 {
		return nil
	}
	info := activity.GetInfo(ctx)
	grant, err := s.budgets.Spend(ctx, Expense{
		Budget: PutBudget, Limit: s.putBudget, ID: write.id,
		Token: info.WorkflowExecution.RunID + "/" + info.ActivityID + "/" + write.method,
	})
	switch {
	case err != nil:
		return new(resource.Block(resource.ReasonHeld, fmt.Sprintf("cannot ask the put-budget of the fleet in Temporal, so no %s is sent: %v", write.method, err)))
	case grant.Granted:
		return nil
	}
	return new(resource.Block(resource.ReasonHeld, fmt.Sprintf(
		"put-budget exhausted: the workers wrote %d times within an hour without a request of a user, so the %s of %s by an extension waits; armature reconcile %s does not wait",
		s.putBudget, write.method, write.id.Short(), s.desired.ID.Short())))
}
