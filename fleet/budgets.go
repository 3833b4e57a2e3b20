package fleet

import (
	"context"
	"fmt"
	"time"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/activities/writing"
	"github.com/armature-io/armature/workflows"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
)

const (
	// budgetTimeout bounds one request to the workflow of the budgets.
	budgetTimeout = 10 * time.Second
	// maxRefusalAge is how long a refusal applies to the requests of this worker: thousands
	// of resources that are held do not become thousands of updates of one workflow.
	maxRefusalAge = 30 * time.Second
	// maxBudgetErrorAge is the same for a failed request, so that the requests that wait
	// behind it do not fail one after the other.
	maxBudgetErrorAge = 2 * time.Second
)

// budgets are the last refusals of this worker, by the name of the budget. Its channel
// lets one request at a time through.
type budgets struct {
	turn     chan struct{}
	refusals map[string]refusal
}

// refusal is what a request got that was not granted.
type refusal struct {
	at    time.Time
	grant writing.Grant
	err   error
}

// Spend asks the workflow of the budgets. A refusal applies to further requests of this
// worker for 30 s at most; where Temporal does not respond, Spend fails.
func (f *Fleet) Spend(ctx context.Context, expense writing.Expense) (writing.Grant, error) {
	ctx, cancel := context.WithTimeout(ctx, budgetTimeout)
	defer cancel()
	select {
	case f.budgets.turn <- struct{}{}:
		defer func() { <-f.budgets.turn }()
	case <-ctx.Done():
		return writing.Grant{}, activities.TemporalError(fmt.Errorf("wait for the %s-budget: %w", expense.Budget, ctx.Err()))
	}
	if last, known := f.budgets.refusals[expense.Budget]; known {
		if grant, err, valid := last.answer(time.Now()); valid {
			return grant, err
		}
		delete(f.budgets.refusals, expense.Budget)
	}
	grant, err := f.spend(ctx, expense)
	if err != nil || !grant.Granted {
		if f.budgets.refusals == nil {
			f.budgets.refusals = map[string]refusal{}
		}
		f.budgets.refusals[expense.Budget] = refusal{at: time.Now(), grant: grant, err: err}
	}
	return grant, err
}

// answer returns what the refusal means at a later time, and whether it still counts.
func (r refusal) answer(now time.Time) (writing.Grant, error, bool) {
	age := now.Sub(r.at)
	if r.err != nil {
		return writing.Grant{}, r.err, age < maxBudgetErrorAge
	}
	grant := r.grant
	grant.RetryAfter -= age
	return grant, nil, age < maxRefusalAge && grant.RetryAfter > 0
}

// spend sends the update, and starts the workflow of the budgets if none runs.
func (f *Fleet) spend(ctx context.Context, expense writing.Expense) (writing.Grant, error) {
	id := workflows.BudgetsWorkflowID(f.options.TaskQueue)
	handle, err := f.temporal.UpdateWithStartWorkflow(ctx, client.UpdateWithStartWorkflowOptions{
		StartWorkflowOperation: f.temporal.NewWithStartWorkflowOperation(client.StartWorkflowOptions{
			ID: id, TaskQueue: f.options.TaskQueue, StaticSummary: "PUTs that no user requested",
			WorkflowIDConflictPolicy: enumspb.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING,
			Priority:                 temporal.Priority{PriorityKey: workflows.PriorityBrake},
		}, workflows.HoldBudgetsWorkflow, workflows.HoldBudgetsInput{}),
		UpdateOptions: client.UpdateWorkflowOptions{
			WorkflowID: id, UpdateName: workflows.SpendUpdate, Args: []any{expense},
			WaitForStage: client.WorkflowUpdateStageCompleted,
		},
	})
	var grant writing.Grant
	if err == nil {
		err = handle.Get(ctx, &grant)
	}
	if err != nil {
		return writing.Grant{}, activities.TemporalError(fmt.Errorf("ask the %s-budget: %w", expense.Budget, err))
	}
	return grant, nil
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
