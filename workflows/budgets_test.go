package workflows_test

import (
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/activities/writing"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
	"github.com/google/go-cmp/cmp"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"
)

// budgets is a run of HoldBudgets.
type budgets struct {
	*testsuite.TestWorkflowEnvironment
}

func newBudgets(t *testing.T) *budgets {
	t.Helper()
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(log.NewStructuredLogger(slog.New(slog.DiscardHandler)))
	b := &budgets{TestWorkflowEnvironment: suite.NewTestWorkflowEnvironment()}
	b.SetStartWorkflowOptions(client.StartWorkflowOptions{ID: workflows.BudgetsWorkflowID("q")})
	workflows.Register(b)
	return b
}

const network = "/subscriptions/11111111-1111-1111-1111-111111111111/resourceGroups/rg1/providers/Microsoft.Network/virtualNetworks/net"

// expense returns a request of the resource with a number.
func expense(n int) writing.Expense {
	return writing.Expense{Budget: "disappearance", Limit: 5, ID: mustID(fmt.Sprintf("%s%d", network, n)), Token: "1"}
}

func (b *budgets) at(delay time.Duration, in writing.Expense) *updateResult {
	got := &updateResult{}
	b.RegisterDelayedCallback(func() { b.UpdateWorkflow(workflows.SpendUpdate, "", got.callbacks(), []writing.Expense{in}) }, delay)
	return got
}

func granted(t *testing.T, got *updateResult) writing.Grant {
	t.Helper()
	grants, ok := got.result.([]writing.Grant)
	if !ok || len(grants) != 1 {
		t.Fatalf("no result: %+v", got)
	}
	return grants[0]
}

// TestHoldBudgets checks that a budget grants its limit in any hour, each token once,
// counts what is in a resource with it, and keeps budgets apart.
//
//guard:disappearance-budget
func TestHoldBudgets(t *testing.T) {
	b := newBudgets(t)
	var first []*updateResult
	for n := range 40 {
		first = append(first, b.at(time.Duration(n)*time.Second, expense(n)))
	}
	again := b.at(2*time.Minute, expense(0))
	next := expense(0)
	next.Token = "2"
	anotherWrite := b.at(2*time.Minute, next)
	inside := writing.Expense{Budget: "disappearance", Limit: 5, ID: mustID(network + "0/subnets/a"), Token: "1", With: []resource.ID{mustID(network + "0")}}
	child := b.at(3*time.Minute, inside)
	beside := inside
	beside.ID, beside.With = mustID(network+"9/subnets/a"), []resource.ID{mustID(network + "9")}
	strangersChild := b.at(3*time.Minute, beside)
	other := expense(6)
	other.Budget = "put"
	otherBudget := b.at(4*time.Minute, other)
	early := b.at(59*time.Minute, expense(7))
	lateChild := inside
	lateChild.ID = mustID(network + "0/subnets/late")
	late := b.at(62*time.Minute, lateChild)
	b.at(62*time.Minute, expense(10))
	refreshed := b.at(63*time.Minute, expense(8))
	invalid := b.at(time.Minute, writing.Expense{Budget: "put"})
	started := b.Now()
	b.ExecuteWorkflow(workflows.HoldBudgetsWorkflow, workflows.HoldBudgetsInput{})
	if err := b.GetWorkflowError(); err != nil || !b.IsWorkflowCompleted() {
		t.Fatalf("the run ended with %v", err)
	}
	if took := b.Now().Sub(started); took < 24*time.Hour || took > 27*time.Hour {
		t.Errorf("the run ended after %s, want soon after its last grant is a day old", took)
	}
	for n, got := range first {
		grant := granted(t, got)
		if grant.Granted != (n < 5) {
			t.Errorf("resource %d: %+v, want the first five granted", n, grant)
		}
		if n >= 5 && (grant.RetryAfter < 58*time.Minute || grant.RetryAfter > 61*time.Minute) {
			t.Errorf("resource %d may retry after %s, want about an hour", n, grant.RetryAfter)
		}
	}
	for name, c := range map[string]struct {
		reason string
		got    *updateResult
		want   bool
	}{
		"same token":      {"a retry is not charged", again, true},
		"other token":     {"the resource was deleted once more", anotherWrite, false},
		"child":           {"it went with its owner", child, true},
		"stranger":        {"its owner was not recreated", strangersChild, false},
		"other budget":    {"budgets are apart", otherBudget, true},
		"before the hour": {"the period slides", early, false},
		"late child":      {"the owner was recreated more than an hour ago, so it is charged", late, true},
		"after the hour":  {"the first five no longer count", refreshed, true},
	} {
		if grant := granted(t, c.got); grant.Granted != c.want {
			t.Errorf("%s: %s: %+v", name, c.reason, grant)
		}
	}
	if grant := granted(t, late); grant.Spent != 1 {
		t.Errorf("the late child was not charged: %+v", grant)
	}
	if invalid.rejected == nil {
		t.Error("an expense without a limit was accepted")
	}
}

// TestHoldBudgetsContinueAsNew checks that spent PUTs and grants survive
// continue-as-new, so that a new run does not begin with full budgets.
func TestHoldBudgetsContinueAsNew(t *testing.T) {
	b := newBudgets(t)
	for n := range 5 {
		b.at(time.Duration(n)*time.Second, expense(n))
	}
	b.RegisterDelayedCallback(func() { b.SetContinueAsNewSuggested(true) }, 10*time.Second)
	b.at(20*time.Second, expense(5))
	b.ExecuteWorkflow(workflows.HoldBudgetsWorkflow, workflows.HoldBudgetsInput{})
	input := nextRun[workflows.HoldBudgetsInput](t, b)
	second := newBudgets(t)
	second.SetStartTime(b.Now())
	sixth, again := second.at(time.Second, expense(6)), second.at(time.Second, expense(3))
	second.ExecuteWorkflow(workflows.HoldBudgetsWorkflow, input)
	if granted(t, sixth).Granted {
		t.Error("the next run granted a sixth PUT within the hour")
	}
	if !granted(t, again).Granted {
		t.Error("the next run forgot a grant")
	}
}

// TestHoldBudgetsJoined checks that the requests of one update are answered in their order.
//
//guard:disappearance-budget
func TestHoldBudgetsJoined(t *testing.T) {
	b := newBudgets(t)
	got := &updateResult{}
	var expenses []writing.Expense
	for _, n := range []int{0, 1, 0, 2, 3} {
		in := expense(n)
		in.Limit = 3
		expenses = append(expenses, in)
	}
	other := expense(3)
	other.Budget = "put"
	b.RegisterDelayedCallback(func() { b.UpdateWorkflow(workflows.SpendUpdate, "", got.callbacks(), append(expenses, other)) }, 0)
	b.ExecuteWorkflow(workflows.HoldBudgetsWorkflow, workflows.HoldBudgetsInput{})
	var grants []bool
	answers, _ := got.result.([]writing.Grant)
	for _, grant := range answers {
		grants = append(grants, grant.Granted)
	}
	if diff := cmp.Diff([]bool{true, true, true, true, false, true}, grants); diff != "" {
		t.Errorf("granted (-want +got):\n%s", diff)
	}
}

// TestBudgetMinutes checks how PUTs are counted by the minute: what users read, when the next PUT
// is granted, and what the next run starts with.
func TestBudgetMinutes(t *testing.T) {
	b := newBudgets(t)
	noon := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	b.SetStartTime(noon)
	old := []workflows.MinuteSpent{{At: noon.Add(-50 * time.Minute), Count: 2}, {At: noon.Add(-10 * time.Minute), Count: 1}}
	b.at(10*time.Second, expense(0))
	b.at(20*time.Second, expense(1))
	one, three := expense(2), expense(2)
	three.Limit = 3
	first, later := b.at(30*time.Second, one), b.at(30*time.Second, three)
	spent := map[string]int{}
	b.RegisterDelayedCallback(func() {
		for _, name := range []string{"disappearance", "put"} {
			value, err := b.QueryWorkflow(workflows.SpentQuery, name, b.Now())
			var got int
			if err != nil || value.Get(&got) != nil {
				t.Errorf("query what the budget %s spent: %v", name, err)
			}
			spent[name] = got
		}
		b.SetContinueAsNewSuggested(true)
	}, time.Minute)
	b.at(2*time.Minute, writing.Expense{Budget: "put", Limit: 1, ID: mustID(network), Token: "1"})
	b.ExecuteWorkflow(workflows.HoldBudgetsWorkflow, workflows.HoldBudgetsInput{Budgets: []workflows.BudgetState{{Name: "disappearance", Spent: old}}})
	for reason, c := range map[string]struct {
		got  *updateResult
		want time.Duration
	}{
		"the first two end to count":  {first, 10*time.Minute + 30*time.Second},
		"the third one ends to count": {later, 50*time.Minute + 30*time.Second},
	} {
		if grant := granted(t, c.got); grant.Granted || grant.RetryAfter != c.want {
			t.Errorf("%s: %+v, want %s", reason, grant, c.want)
		}
	}
	if diff := cmp.Diff(map[string]int{"disappearance": 5, "put": 0}, spent); diff != "" {
		t.Errorf("spent (-want +got):\n%s", diff)
	}
	input := nextRun[workflows.HoldBudgetsInput](t, b)
	if diff := cmp.Diff(append(old, workflows.MinuteSpent{At: noon, Count: 2}), input.Budgets[0].Spent); diff != "" {
		t.Errorf("the next run starts with (-want +got):\n%s", diff)
	}
}

// TestHoldBudgetsIsBounded checks that grants do not grow the state beyond a bound: the
// run starts with the most that it keeps.
func TestHoldBudgetsIsBounded(t *testing.T) {
	b := newBudgets(t)
	b.SetStartTime(time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC))
	state := workflows.BudgetState{Name: "disappearance"}
	for n := range 500 {
		state.Grants = append(state.Grants, workflows.GrantedPut{Key: fmt.Sprintf("%016x", n), Token: "1", At: b.Now(), RequestedAt: b.Now()})
	}
	for n := range 60 {
		state.Spent = append(state.Spent, workflows.MinuteSpent{At: b.Now().Add(time.Duration(n-60) * time.Minute), Count: 1000})
	}
	for n := range 10 {
		in := expense(n)
		in.Limit = 100_000
		b.at(time.Duration(n)*time.Minute, in)
	}
	b.RegisterDelayedCallback(func() { b.SetContinueAsNewSuggested(true) }, 9*time.Minute)
	b.ExecuteWorkflow(workflows.HoldBudgetsWorkflow, workflows.HoldBudgetsInput{Budgets: []workflows.BudgetState{state}})
	var next *workflow.ContinueAsNewError
	if err := b.GetWorkflowError(); !errors.As(err, &next) {
		t.Fatalf("ended with %v, want continue-as-new", err)
	}
	var input workflows.HoldBudgetsInput
	if err := converter.GetDefaultDataConverter().FromPayloads(next.Input, &input); err != nil {
		t.Fatal(err)
	}
	if kept := input.Budgets[0]; len(kept.Grants) != 500 || len(kept.Spent) > 62 {
		t.Errorf("the next run starts with %d grants and %d minutes", len(kept.Grants), len(kept.Spent))
	}
	if size := len(next.Input.GetPayloads()[0].GetData()); size > 100_000 {
		t.Errorf("the state has %d bytes", size)
	}
}

// TestRecreationApproval checks what a pass knows about a disappearance: whether the
// resource was seen, one token for all passes that try the same write, and an approval
// that ends when a read shows the resource.
func TestRecreationApproval(t *testing.T) {
	r := newRun(t)
	exists := true
	r.script.get = func(activities.GetResourceInput) activities.GetResourceResult {
		if exists {
			return present()
		}
		return absent()
	}
	var checks []activities.PreCheckInput
	r.script.pre = func(in activities.PreCheckInput) resource.Verdict {
		checks = append(checks, in)
		switch {
		case exists:
			return resource.Verdict{Action: resource.ActionSkip, Reason: resource.ReasonInSync}
		case in.Approved.Recreation:
			return resource.Verdict{Action: resource.ActionProceed, Reason: resource.ReasonDisappeared, Create: true}
		}
		return resource.Block(resource.ReasonDisappeared, "gone")
	}
	var puts []activities.PutResourceInput
	r.script.put = func(in activities.PutResourceInput) (activities.PutResourceResult, error) {
		puts = append(puts, in)
		if len(puts) == 1 {
			return activities.PutResourceResult{Verdict: resource.Block(resource.ReasonFrozen, "frozen")}, nil
		}
		exists = true
		return activities.PutResourceResult{Verdict: resource.Proceed(""), Done: true, Sent: true}, nil
	}
	r.apply(desired())
	r.RegisterDelayedCallback(func() { exists = false }, time.Minute)
	r.at(2*time.Minute, workflows.ReconcileUpdate, workflows.ReconcileInput{})
	r.at(3*time.Minute, workflows.ReconcileUpdate, workflows.ReconcileInput{Recreate: true, By: "ada@host"})
	r.RegisterDelayedCallback(func() { exists = false }, 10*time.Minute)
	r.at(11*time.Minute, workflows.ReconcileUpdate, workflows.ReconcileInput{})
	r.start(12 * time.Minute)
	if len(puts) != 2 || !puts[0].Approved.Recreation || puts[0].Kind != activities.PutRecreation {
		t.Fatalf("puts %+v, want two approved recreations", puts)
	}
	if puts[0].Token == "" || puts[0].Token != puts[1].Token {
		t.Errorf("tokens %q and %q of one write, want the same", puts[0].Token, puts[1].Token)
	}
	if last := checks[len(checks)-1]; last.Approved.Recreation || !last.Existed {
		t.Errorf("after it was recreated and deleted once more: %+v, want no approval left", last)
	}
}
