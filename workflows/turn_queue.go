package workflows

import (
	"fmt"
	"slices"
	"time"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/resource"
	"go.temporal.io/sdk/workflow"
)

// SerializeSiblingsWorkflow keeps the turns of one parent: ARM changes its children one
// at a time. A run lives while the queue is in use.
const SerializeSiblingsWorkflow = "SerializeSiblings"

// Names of its messages; they live in histories.
const (
	TakeTurnUpdate = "take"
	EndTurnSignal  = "end"
)

// SiblingsWorkflowID returns the ID of the workflow that keeps the turns of a parent.
func SiblingsWorkflowID(parent resource.ID) string { return "siblings:" + parent.WorkflowID() }

// Times of a turn.
const (
	// idleHolderCheck is how often a holder is checked while no turn is requested: the run ends
	// without it.
	idleHolderCheck = 90 * time.Minute
	// holderCheck is how often a holder is checked while others wait, firstHolderCheck when it is
	// checked first.
	firstHolderCheck = 15 * time.Second
	holderCheck      = 30 * time.Second
	// emptyTimeout is how long the queue stays empty before the run ends.
	emptyTimeout = 10 * time.Second
)

// SerializeSiblingsInput starts a run. The first request leaves it empty;
// continue-as-new carries the queue.
type SerializeSiblingsInput struct {
	Holder *HeldTurn         `json:"holder,omitempty"`
	Queue  []activities.Turn `json:"queue,omitempty"`
}

// HeldTurn is the turn that is granted.
type HeldTurn struct {
	Turn activities.Turn `json:"turn"`
	// Checks counts how often the holder was checked while others waited.
	Checks int `json:"checks,omitempty"`
	// notified is set once the holder knows of its turn.
	notified bool
}

// turnQueue is one run of SerializeSiblings.
type turnQueue struct {
	state SerializeSiblingsInput
}

// SerializeSiblings grants the turns of one parent in the order of the requests. A run
// that ended loses its turn. The workflow writes nothing in Azure.
func SerializeSiblings(ctx workflow.Context, input SerializeSiblingsInput) error {
	q := &turnQueue{state: input}
	if err := registerUpdate(ctx, TakeTurnUpdate, "Request turns; returns their positions in the queue.", q.takeAll, nil); err != nil {
		return err
	}
	workflow.Go(ctx, q.receive)
	if holder := input.Holder; holder != nil {
		// The run before may have ended before it sent its signal.
		q.notify(ctx, holder)
	}
	for ctx.Err() == nil {
		suggested, empty := shouldContinueAsNew(ctx), false
		if q.state.Holder == nil {
			if err := awaitOrTimer(ctx, emptyTimeout, "no turn requested", q.inUse); err != nil {
				return err
			}
			empty = !q.inUse()
		}
		if empty || suggested {
			if done, err := q.end(ctx, suggested); done {
				return err
			}
			continue
		}
		if err := q.watchHolder(ctx); err != nil {
			return err
		}
	}
	return ctx.Err()
}

func (q *turnQueue) inUse() bool { return q.state.Holder != nil }

// end ends the run, or continues as new. It reports false when a turn was requested
// after all.
func (q *turnQueue) end(ctx workflow.Context, continues bool) (bool, error) {
	if err := awaitHandlers(ctx); err != nil {
		return true, err
	}
	// The coroutine receive may have taken a signal of the last task without having run yet.
	if err := runOtherCoroutines(ctx); err != nil {
		return true, err
	}
	if continues {
		return true, continueAsNew(ctx, SerializeSiblingsWorkflow, q.state)
	}
	return !q.inUse(), nil
}

// watchHolder waits, and then checks a holder that has had the turn for all that time, often
// while others wait: it loses its turn if its run ended without giving it up, or does not use
// it. Many short turns share one timer.
func (q *turnQueue) watchHolder(ctx workflow.Context) error {
	holder, contested := q.state.Holder, q.contested()
	timeout := idleHolderCheck
	switch {
	case contested && holder.Checks == 0:
		timeout = firstHolderCheck
	case contested:
		timeout = holderCheck
	}
	known := holder.notified
	summary := fmt.Sprintf("%s has the turn, %d waiting", holder.Turn.ID.Short(), len(q.state.Queue))
	ended := func() bool { return q.state.Holder == nil || q.contested() != contested || shouldContinueAsNew(ctx) }
	if err := awaitOrTimer(ctx, timeout, summarize(summary), ended); err != nil || ended() || q.state.Holder != holder {
		return err
	}
	if contested {
		holder.Checks++
	}
	if known && !holderRuns(ctx, holder) && q.state.Holder == holder {
		q.grantNext(ctx)
	}
	return nil
}

func (q *turnQueue) contested() bool { return len(q.state.Queue) > 0 }

// holderRuns reports whether the run of the holder still runs.
func holderRuns(ctx workflow.Context, holder *HeldTurn) bool {
	var a *activities.Activities
	result, err := execute(requestOptions(ctx, "check the turn of "+holder.Turn.ID.Short()), a.CheckTurn, activities.CheckTurnInput{Turn: holder.Turn})
	return err != nil || result.Held
}

// takeAll handles requests in their order.
func (q *turnQueue) takeAll(_ workflow.Context, turns []activities.Turn) ([]activities.Position, error) {
	positions := make([]activities.Position, len(turns))
	for i, turn := range turns {
		positions[i] = q.take(turn)
	}
	return positions, nil
}

// take handles a request without waiting: it grants the turn, or returns the holder and
// the position in the queue.
func (q *turnQueue) take(turn activities.Turn) activities.Position {
	if q.state.Holder == nil {
		q.state.Holder = &HeldTurn{Turn: turn}
	}
	if q.state.Holder.Turn.WorkflowID == turn.WorkflowID {
		q.state.Holder.Turn, q.state.Holder.notified = turn, true
		return activities.Position{Granted: true}
	}
	position := q.position(turn)
	if position < 0 {
		position = len(q.state.Queue)
		q.state.Queue = append(q.state.Queue, turn)
	}
	q.state.Queue[position] = turn
	return activities.Position{Holder: q.state.Holder.Turn.ID, Ahead: position + 1}
}

// position returns the position of a workflow in the queue, -1 when it is not queued.
func (q *turnQueue) position(turn activities.Turn) int {
	return slices.IndexFunc(q.state.Queue, func(t activities.Turn) bool { return t.WorkflowID == turn.WorkflowID })
}

// receive handles the signals that give up a turn.
func (q *turnQueue) receive(ctx workflow.Context) {
	channel := workflow.GetSignalChannel(ctx, EndTurnSignal)
	for {
		var turn activities.Turn
		if more := channel.Receive(ctx, &turn); !more {
			return
		}
		q.release(ctx, turn)
	}
}

// runOtherCoroutines blocks until every other coroutine of the run has run.
func runOtherCoroutines(ctx workflow.Context) error {
	ran := false
	workflow.Go(ctx, func(workflow.Context) { ran = true })
	return workflow.Await(ctx, func() bool { return ran })
}

// release ends a turn, or removes it from the queue. A turn that its run no longer has
// is ignored.
func (q *turnQueue) release(ctx workflow.Context, turn activities.Turn) {
	if position := q.position(turn); position >= 0 {
		q.state.Queue = slices.Delete(q.state.Queue, position, position+1)
	}
	if q.state.Holder != nil && q.state.Holder.Turn.WorkflowID == turn.WorkflowID {
		q.grantNext(ctx)
	}
}

// grantNext grants the turn to the head of the queue and notifies it.
func (q *turnQueue) grantNext(ctx workflow.Context) {
	q.state.Holder = nil
	if len(q.state.Queue) == 0 {
		return
	}
	holder := &HeldTurn{Turn: q.state.Queue[0]}
	q.state.Holder, q.state.Queue = holder, slices.Delete(slices.Clone(q.state.Queue), 0, 1)
	q.notify(ctx, holder)
}

// notify signals the new holder. A holder is skipped after its run has ended.
func (q *turnQueue) notify(ctx workflow.Context, holder *HeldTurn) {
	signaled := workflow.SignalExternalWorkflow(ctx, holder.Turn.WorkflowID, "", WakeSignal, WakeInput{
		ID: holder.Turn.ID, State: "next: it has the turn in " + holder.Turn.Parent.Short(), At: workflow.Now(ctx),
	})
	workflow.Go(ctx, func(ctx workflow.Context) {
		err := signaled.Get(ctx, nil)
		holder.notified = err == nil
		if err != nil && q.state.Holder == holder {
			q.grantNext(ctx)
		}
	})
}
