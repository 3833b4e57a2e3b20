package workflows

import (
	"fmt"
	"slices"
	"time"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/internal/text"
	"github.com/armature-io/armature/resource"
	"go.temporal.io/sdk/workflow"
)

// SerializeSiblingsWorkflow keeps the turns of one parent in ARM that takes one
// change at a time. It lives while anybody wants a turn.
const SerializeSiblingsWorkflow = "SerializeSiblings"

// Names of its messages; they live in histories.
const (
	TakeTurnUpdate = "take"
	EndTurnSignal  = "end"
)

// SiblingsWorkflowID names the workflow that keeps the turns of a parent.
func SiblingsWorkflowID(parent resource.ID) string { return "siblings:" + parent.WorkflowID() }

// Times of a turn.
const (
	// comeWithin is how long a turn is kept for who was told that it is his.
	comeWithin = 30 * time.Second
	// firstLook is when the holder is looked at for the first time while others
	// wait; the time doubles up to comeWithin.
	firstLook = 2 * time.Second
	// lingers is how long nobody may want a turn before the run ends.
	lingers = 10 * time.Second
)

// SerializeSiblingsInput starts a run. Who takes the first turn leaves it empty;
// continue-as-new carries it.
type SerializeSiblingsInput struct {
	Holder *HeldTurn         `json:"holder,omitempty"`
	Queue  []activities.Turn `json:"queue,omitempty"`
}

// HeldTurn is the turn that is on.
type HeldTurn struct {
	Turn activities.Turn `json:"turn"`
	// Came is set once the holder took it.
	Came bool `json:"came"`
	// Looks counts how often the holder was looked at.
	Looks int `json:"looks,omitempty"`
}

// siblings is one run of SerializeSiblings.
type siblings struct {
	state    SerializeSiblingsInput
	messages int64
}

// SerializeSiblings hands out the turns of one parent in the order of asking. A
// turn of a run that ended is taken away; it writes nothing in Azure.
func SerializeSiblings(ctx workflow.Context, input SerializeSiblingsInput) error {
	s := &siblings{state: input}
	options := workflow.UpdateHandlerOptions{Description: "Take the turn, or a place in the queue."}
	if err := workflow.SetUpdateHandlerWithOptions(ctx, TakeTurnUpdate, s.take, options); err != nil {
		return fmt.Errorf("set update handler %s: %w", TakeTurnUpdate, err)
	}
	workflow.Go(ctx, s.receive)
	if holder := s.state.Holder; holder != nil && !holder.Came {
		// The run before may have ended before its signal left.
		s.tell(ctx, holder)
	}
	for ctx.Err() == nil {
		info := workflow.GetInfo(ctx)
		again := info.GetContinueAsNewSuggested() || info.GetTargetWorkerDeploymentVersionChanged()
		over := false
		if s.state.Holder == nil {
			if err := sleep(ctx, lingers, "nobody wants a turn", s.wanted); err != nil {
				return err
			}
			over = !s.wanted()
		}
		if over || again {
			if done, err := s.end(ctx, again); done {
				return err
			}
			continue
		}
		if err := s.watch(ctx); err != nil {
			return err
		}
	}
	return ctx.Err()
}

func (s *siblings) wanted() bool { return s.state.Holder != nil }

// end ends the run, or starts the next one. It is not done when somebody wants a
// turn after all.
func (s *siblings) end(ctx workflow.Context, again bool) (bool, error) {
	if err := workflow.Await(ctx, func() bool { return workflow.AllHandlersFinished(ctx) }); err != nil {
		return true, err
	}
	if err := s.drain(ctx); err != nil {
		return true, err
	}
	if again {
		return true, workflow.NewContinueAsNewErrorWithOptions(ctx, workflow.ContinueAsNewErrorOptions{
			InitialVersioningBehavior: workflow.ContinueAsNewVersioningBehaviorAutoUpgrade,
		}, SerializeSiblingsWorkflow, s.state)
	}
	return !s.wanted(), nil
}

// watch waits for a message. Meanwhile it looks after the holder, often while
// others wait: one who does not come, or who ended without giving the turn back,
// loses it.
func (s *siblings) watch(ctx workflow.Context) error {
	holder := s.state.Holder
	most := longestTimer
	switch {
	case !holder.Came:
		most = comeWithin
	case len(s.state.Queue) > 0:
		most = min(firstLook<<min(holder.Looks, 8), comeWithin)
	}
	seen := s.messages
	summary := fmt.Sprintf("%s has the turn, %d wait", holder.Turn.ID.Short(), len(s.state.Queue))
	if err := sleep(ctx, most, text.Cut(summary, maxSummaryRunes), func() bool { return s.messages != seen }); err != nil || s.messages != seen {
		return err
	}
	if len(s.state.Queue) > 0 {
		holder.Looks++
	}
	if holder.Came && s.holds(ctx, holder) {
		return nil
	}
	if s.state.Holder == holder {
		s.next(ctx)
	}
	return nil
}

// holds asks whether the holder's run still runs.
func (s *siblings) holds(ctx workflow.Context, holder *HeldTurn) bool {
	var a *activities.Activities
	var result activities.CheckTurnResult
	options := requestOptions(ctx, "is "+holder.Turn.ID.Short()+" still at it?")
	err := workflow.ExecuteActivity(options, a.CheckTurn, activities.CheckTurnInput{Turn: holder.Turn}).Get(ctx, &result)
	return err != nil || result.Held
}

// take answers at once: whose turn it is, and who comes before.
func (s *siblings) take(ctx workflow.Context, turn activities.Turn) (activities.Place, error) {
	s.messages++
	if s.state.Holder == nil {
		s.state.Holder = &HeldTurn{Turn: turn}
	}
	if s.state.Holder.Turn.WorkflowID == turn.WorkflowID {
		s.state.Holder.Turn, s.state.Holder.Came = turn, true
		return activities.Place{Granted: true}, nil
	}
	at := s.place(turn)
	if at < 0 {
		at = len(s.state.Queue)
		s.state.Queue = append(s.state.Queue, turn)
	}
	s.state.Queue[at] = turn
	return activities.Place{Holder: s.state.Holder.Turn.ID, Ahead: at + 1}, nil
}

// place is where somebody stands in the queue, -1 for nowhere.
func (s *siblings) place(turn activities.Turn) int {
	return slices.IndexFunc(s.state.Queue, func(t activities.Turn) bool { return t.WorkflowID == turn.WorkflowID })
}

// receive takes turns back.
func (s *siblings) receive(ctx workflow.Context) {
	channel := workflow.GetSignalChannel(ctx, EndTurnSignal)
	for {
		var turn activities.Turn
		if more := channel.Receive(ctx, &turn); !more {
			return
		}
		s.ended(ctx, turn)
	}
}

// drain takes the signals that arrived with the last task. One of them may be in
// the hands of receive, which has not run yet: it must first.
func (s *siblings) drain(ctx workflow.Context) error {
	if err := letOthersRun(ctx); err != nil {
		return err
	}
	channel := workflow.GetSignalChannel(ctx, EndTurnSignal)
	for {
		var turn activities.Turn
		if !channel.ReceiveAsync(&turn) {
			return nil
		}
		s.ended(ctx, turn)
	}
}

// letOthersRun waits until every other coroutine of the run had its turn.
func letOthersRun(ctx workflow.Context) error {
	ran := false
	workflow.Go(ctx, func(workflow.Context) { ran = true })
	return workflow.Await(ctx, func() bool { return ran })
}

// ended takes a turn, or a place in the queue, back. One that a run gives back
// which does not have it any more changes nothing.
func (s *siblings) ended(ctx workflow.Context, turn activities.Turn) {
	s.messages++
	if at := s.place(turn); at >= 0 {
		s.state.Queue = slices.Delete(s.state.Queue, at, at+1)
	}
	if s.state.Holder != nil && s.state.Holder.Turn.WorkflowID == turn.WorkflowID {
		s.next(ctx)
	}
}

// next gives the turn to the next one and tells him. Who is not there any more
// is passed over.
func (s *siblings) next(ctx workflow.Context) {
	s.state.Holder = nil
	if len(s.state.Queue) == 0 {
		return
	}
	holder := &HeldTurn{Turn: s.state.Queue[0]}
	s.state.Holder, s.state.Queue = holder, slices.Delete(slices.Clone(s.state.Queue), 0, 1)
	s.tell(ctx, holder)
}

// tell tells somebody that it is his turn.
func (s *siblings) tell(ctx workflow.Context, holder *HeldTurn) {
	told := workflow.SignalExternalWorkflow(ctx, holder.Turn.WorkflowID, "", WakeSignal, WakeInput{
		ID: holder.Turn.ID, State: "next: it has the turn in " + holder.Turn.Parent.Short(), At: workflow.Now(ctx),
	})
	workflow.Go(ctx, func(ctx workflow.Context) {
		if err := told.Get(ctx, nil); err != nil && s.state.Holder == holder {
			s.messages++
			s.next(ctx)
		}
	})
}
