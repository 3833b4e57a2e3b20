package fleet

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/activities/writing"
	"github.com/armature-io/armature/internal/batching"
	"github.com/armature-io/armature/workflows"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
)

const (
	// budgetTimeout bounds one query of the workflow of the budgets.
	budgetTimeout = 10 * time.Second
	// maxRefusalAge is how long a refusal applies to the requests of this worker: thousands
	// of resources that are held do not become thousands of updates of one workflow.
	maxRefusalAge = 30 * time.Second
	// maxBudgetErrorAge is the same for a failed request, so that the requests that wait
	// behind it do not fail one after the other.
	maxBudgetErrorAge = 2 * time.Second
)

// budgets join the requests of this worker to the workflow of the budgets.
type budgets struct {
	requests *batching.Batcher[writing.Expense, spending]
	// refusals are the last ones, by the name of the budget. One batch at a time uses them.
	refusals map[string]spending
}

// spending is the result of a request to a budget.
type spending struct {
	at    time.Time
	grant writing.Grant
	err   error
}

// Spend asks the workflow of the budgets, together with the other requests of this worker that
// arrive while one is in flight. A refusal applies to further requests of this worker for 30 s at
// most; if Temporal does not respond, Spend fails.
func (f *Fleet) Spend(ctx context.Context, expense writing.Expense) (writing.Grant, error) {
	got, err := f.budgets.requests.Do(ctx, expense)
	if err = cmp.Or(err, got.err); err != nil {
		return writing.Grant{}, activities.TemporalError(fmt.Errorf("ask the %s-budget: %w", expense.Budget, err))
	}
	return got.grant, nil
}

// spendAll refuses requests by the last refusals, and sends the others in one update.
func (f *Fleet) spendAll(ctx context.Context, expenses []writing.Expense) ([]spending, error) {
	results := make([]spending, len(expenses))
	var open []int
	var asked []writing.Expense
	for i, expense := range expenses {
		var valid bool
		if results[i], valid = f.budgets.refusals[expense.Budget].later(time.Now()); !valid {
			open, asked = append(open, i), append(asked, expense)
		}
	}
	if len(asked) == 0 {
		return results, nil
	}
	grants, err := askKeeper[writing.Expense, writing.Grant](ctx, f, client.StartWorkflowOptions{
		ID: workflows.BudgetsWorkflowID(f.options.TaskQueue), StaticSummary: "PUTs that no user requested",
		Priority: temporal.Priority{PriorityKey: workflows.PriorityBrake},
	}, workflows.HoldBudgetsWorkflow, workflows.HoldBudgetsInput{}, workflows.SpendUpdate, asked)
	for n, i := range open {
		results[i] = spending{at: time.Now(), err: err}
		if err == nil {
			results[i].grant = grants[n]
		}
		if !results[i].grant.Granted {
			f.budgets.refusals[asked[n].Budget] = results[i]
		}
	}
	return results, nil
}

// later returns what a refusal means at a later time, and whether it still counts.
func (a spending) later(now time.Time) (spending, bool) {
	age := now.Sub(a.at)
	if a.err != nil {
		return a, age < maxBudgetErrorAge
	}
	a.grant.RetryAfter -= age
	return a, age < maxRefusalAge && a.grant.RetryAfter > 0
}

// Spent returns the PUTs that a budget paid within the hour. Without a running workflow
// there were none.
func (f *Fleet) Spent(ctx context.Context, budget string) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, budgetTimeout)
	defer cancel()
	value, err := f.temporal.QueryWorkflow(ctx, workflows.BudgetsWorkflowID(f.options.TaskQueue), "", workflows.SpentQuery, budget, f.options.Now())
	if isNotFound(err) {
		return 0, nil
	}
	spent := 0
	if err == nil {
		err = value.Get(&spent)
	}
	if err != nil {
		return 0, fmt.Errorf("query the %s-budget: %w", budget, err)
	}
	return spent, nil
}
