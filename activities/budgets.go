package activities

import (
	"cmp"
	"context"
	"fmt"

	"github.com/armature-io/armature/activities/writing"
	"github.com/armature-io/armature/resource"
)

// checkBudgets returns the verdict that stops a PUT beyond one of the budgets, nil
// within them. No budget limits what a user requested or approved.
func (p *put) checkBudgets(ctx context.Context) *resource.Verdict {
	if p.in.Approved.Recreation || p.preconditionRetries > 0 {
		return nil
	}
	if !p.request.Object.Exists() && p.in.Kind == PutRecreation {
		if stop := p.spend(ctx, writing.DisappearanceBudget, p.disappearanceBudget); stop != nil {
			return stop
		}
	}
	if !p.in.Unrequested() || p.repeated {
		return nil
	}
	return p.spend(ctx, writing.PutBudget, p.checks.PutBudget)
}

// spend asks one budget of the fleet; a limit of 0 is none.
func (p *put) spend(ctx context.Context, budget string, limit int) *resource.Verdict {
	if limit <= 0 {
		return nil
	}
	id := p.in.Desired.ID
	expense := writing.Expense{Budget: budget, Limit: limit, ID: id, Token: cmp.Or(p.in.Token, activityOf(ctx).Token())}
	if budget == writing.DisappearanceBudget {
		for owner := id.Owner(); !owner.IsZero() && !owner.IsContainer(); owner = owner.Owner() {
			expense.With = append(expense.With, owner)
		}
	}
	grant, err := p.checks.Budgets.Spend(ctx, expense)
	switch {
	case err != nil:
		return new(writing.Unanswered(fmt.Sprintf("cannot ask the %s-budget of the fleet in Temporal, so nothing is written", budget), err))
	case grant.Granted:
		return nil
	}
	verdict := resource.Block(resource.ReasonHeld, heldText(expense))
	verdict.RetryAfter = grant.RetryAfter
	return &verdict
}

// heldText says which budget holds a PUT, and what to do.
func heldText(expense writing.Expense) string {
	if expense.Budget == writing.DisappearanceBudget {
		name := expense.ID.Short()
		return fmt.Sprintf("disappearance-budget exhausted: within an hour %d resources that were deleted outside Armature were recreated, so this one waits. "+
			"Check who deleted them; armature freeze stops the rest. It is recreated once the budget allows it; "+
			"armature reconcile --recreate %s, or -l SELECTOR, does not wait, and armature forget %s accepts the deletion", expense.Limit, name, name)
	}
	return fmt.Sprintf("put-budget exhausted: the workers corrected %d resources within an hour, so this PUT waits. Check whether the differences are real. "+
		"The PUT is sent once the budget allows it; armature reconcile %s, or an apply of a changed manifest, does not wait", expense.Limit, expense.ID.Short())
}
