package activities

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/armature-io/armature/resource"
	"go.temporal.io/sdk/activity"
)

// Names of the budgets of the fleet; they live in histories.
const (
	PutBudget           = "put"
	DisappearanceBudget = "disappearance"
)

// Expense asks a budget of the fleet for one PUT.
type Expense struct {
	// Budget is one of the names above, Limit the PUTs that it allows in an hour.
	Budget string `json:"budget"`
	Limit  int    `json:"limit"`
	// ID is the resource, Token one reason to write it: an expense that was granted is
	// granted again without a charge.
	ID    resource.ID `json:"id"`
	Token string      `json:"token"`
	// With are the resources that contain this one. A PUT that was granted to one of
	// them covers this one, too.
	With []resource.ID `json:"with,omitempty"`
}

// Grant is the response to an expense.
type Grant struct {
	Granted bool `json:"granted"`
	// Spent is the number of PUTs that the budget paid within the hour.
	Spent int `json:"spent"`
	// RetryAfter is the time until the budget allows a PUT again.
	RetryAfter time.Duration `json:"retryAfter,omitempty"`
}

// Budgets keep what the workers of a fleet wrote without a user's request.
type Budgets interface {
	// Spend may be repeated with the same token.
	Spend(ctx context.Context, expense Expense) (Grant, error)
	// Spent returns the PUTs within the hour.
	Spent(ctx context.Context, budget string) (int, error)
}

// checkBudgets returns the verdict that stops a PUT beyond one of the budgets, nil
// within them. No budget limits what a user requested or approved.
func (p *put) checkBudgets(ctx context.Context) *resource.Verdict {
	if p.in.Approved.Recreation || p.preconditionRetries > 0 {
		return nil
	}
	if !p.request.Object.Exists() && p.in.Kind.recreates() {
		if stop := p.spend(ctx, DisappearanceBudget, p.options.DisappearanceBudget); stop != nil {
			return stop
		}
	}
	if !p.in.Unrequested() || p.repeated {
		return nil
	}
	return p.spend(ctx, PutBudget, p.options.PutBudget)
}

// spend asks one budget of the fleet; a limit of 0 is none.
func (p *put) spend(ctx context.Context, budget string, limit int) *resource.Verdict {
	if limit <= 0 {
		return nil
	}
	info := activity.GetInfo(ctx)
	id := p.in.Desired.ID
	expense := Expense{Budget: budget, Limit: limit, ID: id, Token: cmp.Or(p.in.Token, info.WorkflowExecution.RunID+"/"+info.ActivityID)}
	if budget == DisappearanceBudget {
		for owner := id.Owner(); !owner.IsZero() && !owner.IsContainer(); owner = owner.Owner() {
			expense.With = append(expense.With, owner)
		}
	}
	grant, err := p.Budgets.Spend(ctx, expense)
	switch {
	case err != nil:
		return new(resource.Block(resource.ReasonHeld, fmt.Sprintf(
			"cannot ask the %s-budget of the fleet in Temporal, so nothing is written: %v", budget, err)))
	case grant.Granted:
		return nil
	}
	verdict := resource.Block(resource.ReasonHeld, heldText(expense))
	verdict.RetryAfter = grant.RetryAfter
	return &verdict
}

// heldText says which budget holds a PUT, and what to do.
func heldText(expense Expense) string {
	if expense.Budget == DisappearanceBudget {
		name := expense.ID.Short()
		return fmt.Sprintf("disappearance-budget exhausted: within an hour %d resources that were deleted outside Armature were recreated, so this one waits. "+
			"Check who deleted them; armature freeze stops the rest. It is recreated once the budget allows it; "+
			"armature reconcile --recreate %s, or -l SELECTOR, does not wait, and armature forget %s accepts the deletion", expense.Limit, name, name)
	}
	return fmt.Sprintf("put-budget exhausted: the workers corrected %d resources within an hour, so this PUT waits. Check whether the differences are real. "+
		"The PUT is sent once the budget allows it; armature reconcile %s, or an apply of a changed manifest, does not wait", expense.Limit, expense.ID.Short())
}
