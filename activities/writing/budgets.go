package writing

import (
	"context"
	"time"

	"github.com/armature-io/armature/resource"
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
