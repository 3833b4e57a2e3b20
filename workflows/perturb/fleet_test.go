package perturb

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/activity"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/activities/writing"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
)

// fleet is the port to the other workflows, in memory. Each request is a point of the run.
type fleet struct {
	world *world

	mu      sync.Mutex
	managed map[string]activities.Managed
	// standing is what its writes read in the memo of the workflow.
	standing writing.Standing
	// frozen is the freeze in force, nil without one, frozenBy the call during which it began.
	frozen   *writing.Freeze
	frozenBy *call
	// turns are the turns of the only queue, the first one holds it.
	turns []activities.Turn
	// away is until when Temporal does not respond.
	away  time.Time
	woken int
}

func newFleet(w *world) *fleet {
	return &fleet{world: w, managed: map[string]activities.Managed{}}
}

// errAway is the error of a request that Temporal does not respond to.
func errAway() error {
	return activities.TemporalError(serviceerror.NewUnavailable("Temporal does not respond"))
}

// ask is a request to Temporal.
func ask[T any](ctx context.Context, f *fleet, name string, serve func() T) (answer T, err error) {
	err = f.world.call(ctx, &call{point: point{site: siteTemporal, name: name}, execute: func() error {
		if err := ctx.Err(); err != nil {
			return err
		}
		if f.isAway() {
			return errAway()
		}
		f.mu.Lock()
		defer f.mu.Unlock()
		answer = serve()
		return nil
	}})
	return answer, err
}

// none is the answer of a request that returns only an error.
type none struct{}

// command is a request without an answer.
func command(ctx context.Context, f *fleet, name string) error {
	_, err := ask(ctx, f, name, func() none { return none{} })
	return err
}

// Dependents returns no resources: the one of the run is alone.
func (f *fleet) Dependents(ctx context.Context, _ resource.ID) (activities.Dependents, error) {
	return ask(ctx, f, "Dependents", func() activities.Dependents { return activities.Dependents{} })
}

// Managed returns the managed resources of the kind.
func (f *fleet) Managed(ctx context.Context, id resource.ID) (activities.Managed, bool, error) {
	found, err := ask(ctx, f, "Managed", func() *activities.Managed {
		if managed, known := f.managed[strings.ToLower(id.String())]; known {
			return &managed
		}
		return nil
	})
	if err != nil || found == nil {
		return activities.Managed{}, false, err
	}
	return *found, true, nil
}

// Delete requests the deletion of another resource.
func (f *fleet) Delete(ctx context.Context, _ resource.ID, _ activities.Cascade) error {
	return command(ctx, f, "Delete")
}

// Abort takes no deletion back.
func (f *fleet) Abort(ctx context.Context, _ activities.Cascade) (activities.Aborted, error) {
	return ask(ctx, f, "Abort", func() activities.Aborted { return activities.Aborted{} })
}

// Release continues the deletion of another resource.
func (f *fleet) Release(ctx context.Context, _ resource.ID, _, _ string) error {
	return command(ctx, f, "Release")
}

// Apply applies the spec of another resource.
func (f *fleet) Apply(ctx context.Context, _ resource.Desired, _ string) error {
	return command(ctx, f, "Apply")
}

// Wake counts the wake.
func (f *fleet) Wake(ctx context.Context, _ activities.Change) (int, error) {
	return ask(ctx, f, "Wake", func() int { f.woken++; return 0 })
}

// WakeDeleting wakes nothing.
func (f *fleet) WakeDeleting(ctx context.Context, _ activities.Change, _ []resource.ID) (int, error) {
	return ask(ctx, f, "WakeDeleting", func() int { return 0 })
}

// WakeFallen wakes nothing.
func (f *fleet) WakeFallen(ctx context.Context, _ activities.Change, _ []resource.ID) (int, error) {
	return ask(ctx, f, "WakeFallen", func() int { return 0 })
}

// Awaited reports that another resource waits.
func (f *fleet) Awaited(ctx context.Context, _ resource.ID) (bool, error) {
	return ask(ctx, f, "Awaited", func() bool { return true })
}

// Take takes a turn in the queue.
func (f *fleet) Take(ctx context.Context, turn activities.Turn) (activities.Position, error) {
	return ask(ctx, f, "Take", func() activities.Position {
		at := slices.IndexFunc(f.turns, func(t activities.Turn) bool { return t.ID.Equal(turn.ID) })
		if at < 0 {
			f.turns, at = append(f.turns, turn), len(f.turns)
		}
		return activities.Position{Granted: at == 0, Holder: f.turns[0].ID, Ahead: at}
	})
}

// endTurn takes a turn out of the queue, and returns the next one if it is granted now.
func (f *fleet) endTurn(turn activities.Turn) (next activities.Turn, granted bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	held := len(f.turns) > 0 && f.turns[0].ID.Equal(turn.ID)
	f.turns = slices.DeleteFunc(f.turns, func(t activities.Turn) bool { return t.ID.Equal(turn.ID) })
	if !held || len(f.turns) == 0 {
		return next, false
	}
	return f.turns[0], true
}

// KnownFreeze returns the freeze in force: the worker has confirmed it.
func (f *fleet) KnownFreeze(map[string]string) (writing.Freeze, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.frozen == nil {
		return writing.Freeze{}, false
	}
	return *f.frozen, true
}

// Frozen returns the freeze in force.
func (f *fleet) Frozen(ctx context.Context, _ map[string]string) (writing.Freeze, bool, error) {
	freeze, err := ask(ctx, f, "Frozen", func() *writing.Freeze { return f.frozen })
	if err != nil || freeze == nil {
		return writing.Freeze{}, false, err
	}
	return *freeze, true, nil
}

// freeze freezes everything during a call, nil for none.
func (f *fleet) freeze(during *call) {
	now := f.world.now()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.frozen, f.frozenBy = &writing.Freeze{By: "ada", Reason: "maintenance", Since: now}, during
}

// unfreeze lifts the freeze.
func (f *fleet) unfreeze() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.frozen = nil
}

// forbids reports whether a freeze in force forbids a write. One that left before is not stopped.
func (f *fleet) forbids(c *call) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.frozen != nil && f.frozenBy != c
}

// Spend grants each expense.
func (f *fleet) Spend(ctx context.Context, _ writing.Expense) (writing.Grant, error) {
	return ask(ctx, f, "Spend", func() writing.Grant { return writing.Grant{Granted: true} })
}

// Spent returns no expenses.
func (f *fleet) Spent(ctx context.Context, _ string) (int, error) {
	return ask(ctx, f, "Spent", func() int { return 0 })
}

// ReadMemory returns no memory: no other workflow managed the resource.
func (f *fleet) ReadMemory(ctx context.Context, _ resource.ID) (activities.WorkflowMemory, bool, error) {
	_, err := ask(ctx, f, "ReadMemory", func() none { return none{} })
	return activities.WorkflowMemory{}, false, err
}

// Confirm records a heartbeat, and returns the standing in the memo.
func (f *fleet) Confirm(ctx context.Context, attempt writing.Attempt) (writing.Standing, error) {
	attemptOf(ctx).noteEnd(f.world.isForgotten())
	return ask(ctx, f, "Confirm", func() writing.Standing {
		if attemptOf(ctx).isLost() {
			return writing.Standing{Over: "another attempt has begun"}
		}
		if attempt.TaskToken != nil {
			activity.RecordHeartbeat(ctx, attempt.Progress)
		}
		return f.standing
	})
}

func (f *fleet) noteMemo(memo map[string]any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if generation, ok := memo[workflows.MemoGeneration].(int64); ok {
		f.standing.Generation = generation
	}
	if memo[workflows.MemoForgotten] == true {
		f.standing.Over = "the management of the resource has ended"
	}
}

// manage makes another resource a managed one.
func (f *fleet) manage(id string, ready bool) {
	parsed, _ := resource.ParseID(id)
	now := f.world.now()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.managed[strings.ToLower(id)] = activities.Managed{ID: parsed, Policy: resource.PolicyManage, Ready: ready, Since: now}
}

// wake notifies the workflow of a change of another resource.
func wake(id, state string) func(*world) {
	return func(w *world) {
		parsed, _ := resource.ParseID(id)
		w.send(message{name: workflows.WakeSignal, signal: true, input: workflows.WakeInput{ID: parsed, State: state, At: w.now()}}, func() {})
	}
}

// freezeFor is how long a freeze of a disturbance is in force.
const freezeFor = 30 * time.Minute

// awayUntil lets Temporal not respond until a time.
func (f *fleet) awayUntil(end time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.away = end
}

func (f *fleet) isAway() bool {
	now := f.world.now()
	f.mu.Lock()
	defer f.mu.Unlock()
	return now.Before(f.away)
}
