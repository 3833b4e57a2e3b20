package fleet

import (
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/activities/writing"
	"github.com/armature-io/armature/internal/payload"
	"github.com/armature-io/armature/workflows"
	"go.temporal.io/api/serviceerror"
)

func expense(t *testing.T, budget string, n int) writing.Expense {
	t.Helper()
	return writing.Expense{Budget: budget, Limit: 5, ID: parse(t, database(n)), Token: "1"}
}

// TestSpend checks that each expense is one update, which starts the workflow of the
// task queue's budgets, and that a grant is not remembered for another expense.
func TestSpend(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.result = writing.Grant{Granted: true, Spent: 1}
	f := s.dial()
	for n := range 3 {
		got, err := f.Spend(t.Context(), expense(t, writing.DisappearanceBudget, n))
		if err != nil || !got.Granted {
			t.Fatalf("got %+v, %v", got, err)
		}
	}
	if len(s.updates) != 3 {
		t.Fatalf("%d updates, want one for each expense", len(s.updates))
	}
	sent := s.updates[0]
	if sent.name != workflows.SpendUpdate || sent.start != workflows.HoldBudgetsWorkflow || sent.taskQueue != "q" || sent.workflowID != workflows.BudgetsWorkflowID("q") {
		t.Errorf("update %+v", sent)
	}
	if sent.priority != workflows.PriorityBrake {
		t.Errorf("priority %d, want it before the tasks of resources", sent.priority)
	}
	var in []writing.Expense
	if err := payload.DataConverter().FromPayload(sent.args[0], &in); err != nil || len(in) != 1 || in[0].ID.Key() != parse(t, database(0)).Key() || in[0].Limit != 5 {
		t.Errorf("sent %+v (%v)", in, err)
	}
}

// TestSpendRefused checks that one refusal applies to the other requests of a worker for a
// while: thousands of held resources must not become thousands of updates.
func TestSpendRefused(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.result = writing.Grant{Spent: 5, RetryAfter: time.Hour}
	f := s.dial()
	for n := range 1000 {
		got, err := f.Spend(t.Context(), expense(t, writing.DisappearanceBudget, n))
		if err != nil || got.Granted || got.RetryAfter <= 59*time.Minute {
			t.Fatalf("got %+v, %v", got, err)
		}
	}
	if len(s.updates) != 1 {
		t.Errorf("%d updates for 1,000 refusals, want one", len(s.updates))
	}
	s.mu.Lock()
	s.result = writing.Grant{Granted: true}
	s.mu.Unlock()
	if got, err := f.Spend(t.Context(), expense(t, writing.PutBudget, 0)); err != nil || !got.Granted {
		t.Errorf("the other budget is refused, too: %+v, %v", got, err)
	}
	f.budgets.refusals[writing.DisappearanceBudget] = spending{at: time.Now().Add(-maxRefusalAge), grant: writing.Grant{RetryAfter: time.Hour}}
	if got, err := f.Spend(t.Context(), expense(t, writing.DisappearanceBudget, 0)); err != nil || !got.Granted {
		t.Errorf("an old refusal still counts: %+v, %v", got, err)
	}
}

// TestSpendFails checks that a budget that cannot be asked is an error, once for all
// requests that wait behind it.
//
//guard:budgets-fail-closed
func TestSpendFails(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.updateErr = serviceerror.NewInvalidArgument("no worker")
	f := s.dial()
	for n := range 50 {
		if got, err := f.Spend(t.Context(), expense(t, writing.PutBudget, n)); err == nil || got.Granted || !strings.Contains(err.Error(), "ask the put-budget") {
			t.Fatalf("got %+v, %v, want an error", got, err)
		}
	}
	if len(s.updates) > 2 {
		t.Errorf("%d updates, want the error to count for a while", len(s.updates))
	}
}
