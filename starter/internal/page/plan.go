package page

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/armature-io/armature/starter/internal/plan"
)

const (
	// planEvery is how old the check of a plan may be: a worker reads all its resources.
	planEvery   = time.Minute
	planTimeout = 5 * time.Minute
)

// SavedPlan is a plan that was read from a file.
type SavedPlan struct {
	// Name is that of the file.
	Name string
	File plan.File
}

// planCheck plans a saved plan again, at most once in planEvery.
type planCheck struct {
	saved SavedPlan
	again func(ctx context.Context, file plan.File) (plan.Plan, error)
	now   func() time.Time

	mu        sync.Mutex
	checkedAt time.Time
	current   plan.Plan
	err       error
}

// check returns the plan as it is now. away is why Temporal cannot be asked, nil if it can: the
// last check stays.
func (c *planCheck) check(ctx context.Context, away error) (current plan.Plan, checkedAt time.Time, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if away != nil {
		if c.checkedAt.IsZero() {
			return plan.Plan{}, c.now(), away
		}
		return c.current, c.checkedAt, c.err
	}
	if now := c.now(); c.checkedAt.IsZero() || now.Sub(c.checkedAt) >= planEvery {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), planTimeout)
		defer cancel()
		c.current, c.err = c.again(ctx, c.saved.File)
		c.checkedAt = now
	}
	return c.current, c.checkedAt, c.err
}

// PlanPage is the page of a saved plan.
type PlanPage struct {
	Frame
	Name    string
	By      string
	Created time.Time
	// Digest is that of the file.
	Digest    string
	CheckedAt time.Time
	// Problem is why it could not be planned again, "" if it was.
	Problem string
	// Changes are what changed since the plan was made. Without any it still holds.
	Changes []PlanChange
	Plan    plan.Page
	Rows    []PlanRow
}

// PlanChange is a resource that is planned otherwise by now.
type PlanChange struct {
	Ref
	Texts []string
}

// PlanRow is a row with its tone.
type PlanRow struct {
	plan.PageRow
	Tone Tone
}

// plan serves the saved plan. A visible page does not repeat the check: that costs reads of
// Azure.
func (s *Server) plan(w http.ResponseWriter, r *http.Request) {
	state := s.estate.look(r.Context())
	page := newPlanPage(r.Context(), s.plans, state.err)
	page.Frame = s.frame(r, state, "Plan")
	page.Self = ""
	s.render(w, r, pagePlan, page)
}

func newPlanPage(ctx context.Context, c *planCheck, away error) PlanPage {
	file := c.saved.File
	page := PlanPage{Name: cli.OneLine(c.saved.Name), By: cli.OneLine(file.By), Created: file.Created, Digest: file.Digest}
	current, checkedAt, err := c.check(ctx, away)
	page.CheckedAt = checkedAt
	if err != nil {
		page.Problem = cli.OneLine(err.Error())
		return page
	}
	for _, change := range file.Changes(current) {
		page.Changes = append(page.Changes, PlanChange{Ref: refOf(change.ID, ""), Texts: oneLines(change.Texts)})
	}
	page.Plan = current.Page()
	for _, row := range page.Plan.Rows {
		page.Rows = append(page.Rows, PlanRow{PageRow: row, Tone: actionTone(row.Action)})
	}
	return page
}

// actionTone returns the tone of a planned action.
func actionTone(action activities.PlanAction) Tone {
	switch action {
	case activities.PlanCreate:
		return ToneGood
	case activities.PlanUpdate, activities.PlanConfigure, activities.PlanBlocked:
		return ToneWait
	case activities.PlanDelete, activities.PlanReplace, activities.PlanError, plan.ActionFalls, plan.ActionRefused:
		return ToneBad
	}
	return ToneQuiet
}
