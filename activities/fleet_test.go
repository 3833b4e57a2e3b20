package activities

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/armature-io/armature/activities/writing"
	"github.com/armature-io/armature/resource"
)

// fakeFleet replaces Temporal; package fleet is tested on a real one.
type fakeFleet struct {
	mu sync.Mutex
	// managed are the workflows by ID key; dependents those that Dependents
	// lists.
	managed    map[string]Managed
	describes  int
	dependents Dependents
	// dependentsErr is the error of Dependents alone.
	dependentsErr error
	// memories are the results of the query memory, by ID key.
	memories map[string]WorkflowMemory
	err      error
	// confirmed are the attempts that asked to write; confirm returns the answer to the
	// n-th, the newest where it is nil.
	confirmed []writing.Attempt
	confirm   func(n int) (writing.Standing, error)
	// deleted, woken and notified record the requests.
	deleted []resource.ID
	// cascades are the cascades of the deletions, taken those that were taken back,
	// aborted the result.
	cascades, taken []Cascade
	aborted         Aborted
	// released are held deletions that were let begin, applied the specs.
	released, applied []resource.ID
	// slow delays deletions until it is closed.
	slow     chan struct{}
	woken    []Change
	notified []resource.ID
	// awaited is the result of Awaited.
	awaited  bool
	position Position
	// silent makes the queue of turns not answer.
	silent bool
	// freeze applies to resources with the label stack=prod while frozen is set.
	freeze writing.Freeze
	frozen bool
	// budgets counts the PUTs that the budgets granted, by budget and token; spent are
	// their times. It works like the workflow of the budgets.
	budgets map[string]bool
	spent   map[string][]time.Time
	asked   []writing.Expense
	// budgetErr is the error of the budgets.
	budgetErr error
}

// Spend grants a PUT within the limit of an hour.
func (w *world) Spend(_ context.Context, expense writing.Expense) (writing.Grant, error) {
	w.fleet.mu.Lock()
	defer w.fleet.mu.Unlock()
	if w.fleet.budgetErr != nil {
		return writing.Grant{}, w.fleet.budgetErr
	}
	if w.fleet.budgets == nil {
		w.fleet.budgets, w.fleet.spent = map[string]bool{}, map[string][]time.Time{}
	}
	w.fleet.asked = append(w.fleet.asked, expense)
	token := expense.Budget + " " + expense.ID.Key() + " " + expense.Token
	spent := slices.DeleteFunc(w.fleet.spent[expense.Budget], func(at time.Time) bool { return w.now().Sub(at) >= time.Hour })
	switch {
	case w.fleet.budgets[token]:
	case len(spent) >= expense.Limit:
		return writing.Grant{Spent: len(spent), RetryAfter: time.Hour - w.now().Sub(spent[0])}, nil
	default:
		spent = append(spent, w.now())
		w.fleet.budgets[token] = true
	}
	w.fleet.spent[expense.Budget] = spent
	return writing.Grant{Granted: true, Spent: len(spent)}, nil
}

func (w *world) Spent(_ context.Context, budget string) (int, error) {
	return len(w.fleet.spent[budget]), w.fleet.budgetErr
}

func (w *world) Dependents(context.Context, resource.ID) (Dependents, error) {
	return w.fleet.dependents, cmp.Or(w.fleet.dependentsErr, w.fleet.err)
}

func (w *world) Managed(_ context.Context, id resource.ID) (Managed, bool, error) {
	w.fleet.mu.Lock()
	defer w.fleet.mu.Unlock()
	w.fleet.describes++
	managed, known := w.fleet.managed[id.Key()]
	return managed, known, w.fleet.err
}

func (w *world) Delete(_ context.Context, id resource.ID, cascade Cascade) error {
	if w.fleet.slow != nil {
		<-w.fleet.slow
	}
	w.fleet.mu.Lock()
	defer w.fleet.mu.Unlock()
	w.fleet.deleted, w.fleet.cascades = append(w.fleet.deleted, id), append(w.fleet.cascades, cascade)
	return w.fleet.err
}

func (w *world) Release(_ context.Context, id resource.ID, _, _ string) error {
	w.fleet.mu.Lock()
	defer w.fleet.mu.Unlock()
	w.fleet.released = append(w.fleet.released, id)
	return nil
}

func (w *world) Apply(_ context.Context, desired resource.Desired, _ string) error {
	w.fleet.mu.Lock()
	defer w.fleet.mu.Unlock()
	w.fleet.applied = append(w.fleet.applied, desired.ID)
	return nil
}

func (w *world) Abort(_ context.Context, cascade Cascade) (Aborted, error) {
	w.fleet.taken = append(w.fleet.taken, cascade)
	return w.fleet.aborted, w.fleet.err
}

func (w *world) Wake(_ context.Context, change Change) (int, error) {
	w.fleet.mu.Lock()
	defer w.fleet.mu.Unlock()
	w.fleet.woken = append(w.fleet.woken, change)
	return 1, w.fleet.err
}

func (w *world) WakeDeleting(_ context.Context, _ Change, needed []resource.ID) (int, error) {
	w.fleet.notified = append(w.fleet.notified, needed...)
	return len(needed), w.fleet.err
}

func (w *world) WakeFallen(_ context.Context, _ Change, needed []resource.ID) (int, error) {
	w.fleet.notified = append(w.fleet.notified, needed...)
	return len(needed), w.fleet.err
}

func (w *world) Awaited(context.Context, resource.ID) (bool, error) {
	return w.fleet.awaited, w.fleet.err
}

func (w *world) Take(ctx context.Context, _ Turn) (Position, error) {
	if w.fleet.silent {
		<-ctx.Done()
		return Position{}, ctx.Err()
	}
	return w.fleet.position, w.fleet.err
}

// manages adds a workflow that manages the resource.
func (w *world) manages(text string, managed Managed) {
	if w.fleet.managed == nil {
		w.fleet.managed = map[string]Managed{}
	}
	managed.ID = id(w.t, text)
	w.fleet.mu.Lock()
	defer w.fleet.mu.Unlock()
	w.fleet.managed[managed.ID.Key()] = managed
}

// writes returns a context in which the client may write outside of an activity.
func (w *world) writes(ctx context.Context) context.Context {
	return writing.WithStep(ctx, writing.Step{Checks: w.acts.checks(), Progress: func() any { return nil }})
}

// Confirm reports what the test set, and stores the heartbeat.
func (w *world) Confirm(_ context.Context, attempt writing.Attempt) (writing.Standing, error) {
	w.fleet.mu.Lock()
	defer w.fleet.mu.Unlock()
	w.fleet.confirmed = append(w.fleet.confirmed, attempt)
	if w.fleet.confirm != nil {
		return w.fleet.confirm(len(w.fleet.confirmed))
	}
	return writing.Standing{}, nil
}

func (w *world) KnownFreeze(labels map[string]string) (writing.Freeze, bool) {
	return w.fleet.freeze, w.fleet.frozen && labels["stack"] == "prod"
}

func (w *world) Frozen(_ context.Context, labels map[string]string) (writing.Freeze, bool, error) {
	return w.fleet.freeze, w.fleet.frozen && labels["stack"] == "prod", w.fleet.err
}

// Recall is what the workflow of a managed resource would say.
func (w *world) ReadMemory(_ context.Context, id resource.ID) (WorkflowMemory, bool, error) {
	memory, known := w.fleet.memories[id.Key()]
	return memory, known, w.fleet.err
}
