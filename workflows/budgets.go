package workflows

import (
	"fmt"
	"slices"
	"time"

	"github.com/armature-io/armature/activities/writing"
	"go.temporal.io/sdk/workflow"
)

// HoldBudgetsWorkflow counts what the workers of a task queue write without a user's
// request. Its one run exists while something was written lately.
const HoldBudgetsWorkflow = "HoldBudgets"

// Names of its messages; they live in histories.
const (
	SpendUpdate = "spend"
	SpentQuery  = "spent"
)

// BudgetsWorkflowID returns the ID of the workflow that keeps the budgets of a task
// queue.
func BudgetsWorkflowID(taskQueue string) string { return "armature:budgets:" + taskQueue }

// Bounds of what a run remembers.
const (
	// budgetPeriod is the period of all budgets. It slides: no hour has more PUTs than
	// the limit.
	budgetPeriod = time.Hour
	// pruneInterval is the time between two removals of old entries. The run ends without any.
	pruneInterval = 90 * time.Minute
	// grantAge is how long after its last request a grant is repeated without a charge. It
	// covers what is below the resource for one period.
	grantAge = 24 * time.Hour
	// maxGrants bounds the grants; the oldest are forgotten first.
	maxGrants = 500
)

// HoldBudgetsInput starts a run; continue-as-new carries the budgets.
type HoldBudgetsInput struct {
	Budgets []BudgetState `json:"budgets,omitempty"`
}

// BudgetState is one budget.
type BudgetState struct {
	Name string `json:"name"`
	// Spent has one entry for each minute with PUTs, oldest first.
	Spent []MinuteSpent `json:"spent,omitempty"`
	// Grants are the PUTs that were granted, the one requested last at the end.
	Grants []GrantedPut `json:"grants,omitempty"`
}

// MinuteSpent is the number of PUTs that were granted within a minute.
type MinuteSpent struct {
	At    time.Time `json:"at"`
	Count int       `json:"count"`
}

// GrantedPut is a PUT that was granted. Key is the WaitingKey of the resource.
type GrantedPut struct {
	Key         string    `json:"key"`
	Token       string    `json:"token"`
	At          time.Time `json:"at"`
	RequestedAt time.Time `json:"requestedAt"`
}

// budgetKeeper is one run of HoldBudgets.
type budgetKeeper struct {
	state    HoldBudgetsInput
	messages int64
}

// HoldBudgets keeps the budgets until nothing in them counts any more. It writes nothing
// in Azure. Requests of many workers are served one after the other, so that two workers
// never spend the same PUT.
func HoldBudgets(ctx workflow.Context, input HoldBudgetsInput) error {
	k := &budgetKeeper{state: input}
	if err := registerUpdate(ctx, SpendUpdate, "Ask budgets for PUTs that no user requested.", k.spend, k.validate); err != nil {
		return err
	}
	if err := workflow.SetQueryHandler(ctx, SpentQuery, k.spent); err != nil {
		return fmt.Errorf("set query handler %s: %w", SpentQuery, err)
	}
	if err := awaitOrTimer(ctx, firstMessageTimeout, "waiting for the first PUT", k.inUse); err != nil {
		return err
	}
	for k.inUse() {
		drainMoveRequests(ctx)
		if shouldContinueAsNew(ctx) {
			if err := awaitHandlers(ctx); err != nil {
				return err
			}
			return continueAsNew(ctx, HoldBudgetsWorkflow, k.state)
		}
		handled := k.messages
		if err := awaitOrTimer(ctx, pruneInterval, "counting PUTs that no user requested", func() bool { return k.messages != handled || newRunAsked(ctx) }); err != nil {
			return err
		}
		k.prune(workflow.Now(ctx))
	}
	return awaitHandlers(ctx)
}

func (k *budgetKeeper) validate(expenses []writing.Expense) error {
	for _, in := range expenses {
		if in.Budget == "" || in.Limit <= 0 || in.Token == "" || in.ID.IsZero() {
			return refused(RefusedInvalid, "a budget is asked with its name, its limit, a resource and a token")
		}
	}
	return nil
}

func (k *budgetKeeper) inUse() bool {
	return slices.ContainsFunc(k.state.Budgets, func(b BudgetState) bool { return len(b.Spent) > 0 || len(b.Grants) > 0 })
}

// budget returns a budget by its name, and adds it if it is new.
func (k *budgetKeeper) budget(name string) *BudgetState {
	i := slices.IndexFunc(k.state.Budgets, func(b BudgetState) bool { return b.Name == name })
	if i < 0 {
		i = len(k.state.Budgets)
		k.state.Budgets = append(k.state.Budgets, BudgetState{Name: name})
	}
	return &k.state.Budgets[i]
}

// spent is the result of SpentQuery: the PUTs of a budget within the hour before now. It
// changes nothing.
func (k *budgetKeeper) spent(budget string, now time.Time) (int, error) {
	for _, b := range k.state.Budgets {
		if b.Name == budget {
			return b.spentSince(now.Add(-budgetPeriod)), nil
		}
	}
	return 0, nil
}

// spend answers the requests of a worker in their order.
func (k *budgetKeeper) spend(ctx workflow.Context, expenses []writing.Expense) ([]writing.Grant, error) {
	now := workflow.Now(ctx)
	k.messages++
	k.prune(now)
	grants := make([]writing.Grant, len(expenses))
	for i, expense := range expenses {
		grants[i] = k.grant(now, expense)
	}
	return grants, nil
}

// grant grants a PUT within the limit. A PUT that was granted before is not charged again, nor is
// one below a resource to which a PUT was granted.
func (k *budgetKeeper) grant(now time.Time, in writing.Expense) writing.Grant {
	b := k.budget(in.Budget)
	spent := b.spentSince(now.Add(-budgetPeriod))
	key := WaitingKey(in.ID)
	known := b.renew(now, func(g GrantedPut) bool { return g.Key == key && g.Token == in.Token })
	for _, owner := range in.With {
		ownerKey := WaitingKey(owner)
		known = known || b.renew(now, func(g GrantedPut) bool { return g.Key == ownerKey && now.Sub(g.At) < budgetPeriod })
	}
	switch {
	case known:
		return writing.Grant{Granted: true, Spent: spent}
	case spent >= in.Limit:
		return writing.Grant{Spent: spent, RetryAfter: b.freeAfter(spent-in.Limit+1, now)}
	}
	b.charge(now)
	b.Grants = append(b.Grants, GrantedPut{Key: key, Token: in.Token, At: now, RequestedAt: now})
	if extra := len(b.Grants) - maxGrants; extra > 0 {
		b.Grants = slices.Clone(b.Grants[extra:])
	}
	return writing.Grant{Granted: true, Spent: spent + 1}
}

// renew moves a grant to the end, and reports whether there is one.
func (b *BudgetState) renew(now time.Time, match func(GrantedPut) bool) bool {
	i := slices.IndexFunc(b.Grants, match)
	if i < 0 {
		return false
	}
	grant := b.Grants[i]
	grant.RequestedAt = now
	b.Grants = append(slices.Delete(slices.Clone(b.Grants), i, i+1), grant)
	return true
}

// charge counts one PUT.
func (b *BudgetState) charge(now time.Time) {
	minute := now.Truncate(time.Minute)
	if n := len(b.Spent); n > 0 && b.Spent[n-1].At.Equal(minute) {
		b.Spent[n-1].Count++
		return
	}
	b.Spent = append(b.Spent, MinuteSpent{At: minute, Count: 1})
}

// spentSince returns the PUTs since a time. A minute counts until its end has passed.
func (b *BudgetState) spentSince(since time.Time) int {
	sum := 0
	for _, minute := range b.Spent {
		if minute.At.Add(time.Minute).After(since) {
			sum += minute.Count
		}
	}
	return sum
}

// freeAfter returns the time until count of the PUTs no longer count.
func (b *BudgetState) freeAfter(count int, now time.Time) time.Duration {
	for _, minute := range b.Spent {
		if count -= minute.Count; count <= 0 {
			return max(minute.At.Add(time.Minute+budgetPeriod).Sub(now), time.Second)
		}
	}
	return budgetPeriod
}

// prune forgets what no longer counts.
func (k *budgetKeeper) prune(now time.Time) {
	for i := range k.state.Budgets {
		b := &k.state.Budgets[i]
		b.Spent = slices.DeleteFunc(b.Spent, func(m MinuteSpent) bool { return !m.At.Add(time.Minute + budgetPeriod).After(now) })
		b.Grants = slices.DeleteFunc(b.Grants, func(g GrantedPut) bool { return now.Sub(g.RequestedAt) >= grantAge })
	}
}
