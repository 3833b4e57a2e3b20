package workflows_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/payload"
	"github.com/armature-io/armature/workflows"
	"github.com/google/go-cmp/cmp"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"github.com/stretchr/testify/mock"
)

// family is one run of SerializeSiblings in the test environment. Members are
// called by one letter.
type family struct {
	*testsuite.TestWorkflowEnvironment
	t *testing.T
	// told are who was told that it is his turn, with the second of it.
	told []string
	// dead are the members whose runs ended; looked is how often a holder was
	// looked at, at which second the last time.
	dead   map[string]bool
	looked int
	// lookedRun is the run that was looked at last.
	lookedRun string
	lookedAt  []time.Duration
	onLook    func()
	places    map[string]*answer
}

func newFamily(t *testing.T) *family {
	t.Helper()
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(log.NewStructuredLogger(slog.New(slog.DiscardHandler)))
	f := &family{TestWorkflowEnvironment: suite.NewTestWorkflowEnvironment(), t: t, dead: map[string]bool{}, places: map[string]*answer{}}
	f.SetStartTime(startTime)
	workflows.Register(f)
	f.RegisterActivityWithOptions(func(_ context.Context, in activities.CheckTurnInput) (activities.CheckTurnResult, error) {
		f.looked++
		f.lookedRun = in.Turn.RunID
		f.lookedAt = append(f.lookedAt, f.since())
		if f.onLook != nil {
			f.onLook()
		}
		return activities.CheckTurnResult{Held: !f.dead[in.Turn.ID.Name()]}, nil
	}, activity.RegisterOptions{Name: "CheckTurn"})
	f.OnSignalExternalWorkflow(mock.Anything, mock.Anything, mock.Anything, workflows.WakeSignal, mock.Anything).Return(
		func(_, workflowID, _, _ string, arg any) error {
			in := arg.(workflows.WakeInput)
			if f.dead[in.ID.Name()] {
				return errors.New("unknown external workflow execution")
			}
			if in.ID.WorkflowID() != workflowID || in.At.IsZero() {
				t.Errorf("told %+v to %s", in, workflowID)
			}
			f.told = append(f.told, fmt.Sprintf("%s %d", in.ID.Name(), int(f.since().Seconds())))
			return nil
		})
	return f
}

func (f *family) since() time.Duration { return f.Now().Sub(startTime) }

// turnOf is the turn of a member in one of its runs.
func turnOf(name, runID string) activities.Turn {
	id := mustID(vnetText + "/subnets/" + name)
	return activities.Turn{Parent: mustID(vnetText), ID: id, WorkflowID: id.WorkflowID(), RunID: runID}
}

// take asks for the turn of each member at a time.
func (f *family) take(at time.Duration, names ...string) {
	for _, name := range names {
		f.RegisterDelayedCallback(func() {
			got := &answer{}
			f.places[name] = got
			f.UpdateWorkflow(workflows.TakeTurnUpdate, "", got.callbacks(), turnOf(name, "run 1"))
		}, at)
	}
}

// give gives the turn back.
func (f *family) give(at time.Duration, name string) {
	f.RegisterDelayedCallback(func() { f.SignalWorkflow(workflows.EndTurnSignal, turnOf(name, "run 1")) }, at)
}

// place is how an answer reads: "granted", or who has the turn and how many come
// before.
func (f *family) place(name string) string {
	got, ok := f.places[name].result.(activities.Position)
	switch {
	case !ok:
		return fmt.Sprintf("none: %v %v", f.places[name].rejected, f.places[name].err)
	case got.Granted:
		return "granted"
	}
	return fmt.Sprintf("%s, %d", got.Holder.Name(), got.Ahead)
}

func (f *family) run(end time.Duration, input workflows.SerializeSiblingsInput) {
	f.t.Helper()
	if end > 0 {
		f.RegisterDelayedCallback(f.CancelWorkflow, end)
	}
	f.ExecuteWorkflow(workflows.SerializeSiblingsWorkflow, input)
	if !f.IsWorkflowCompleted() {
		f.t.Fatal("the workflow did not end")
	}
}

func (f *family) wantTold(want ...string) {
	f.t.Helper()
	if diff := cmp.Diff(want, f.told); diff != "" {
		f.t.Errorf("told (-want +got):\n%s", diff)
	}
}

const second = time.Second

func TestSiblingsInOrder(t *testing.T) {
	f := newFamily(t)
	f.take(0, "a")
	f.take(100*time.Millisecond, "b")
	f.take(200*time.Millisecond, "c")
	f.take(300*time.Millisecond, "d")
	f.give(1*second, "a")
	f.take(1100*time.Millisecond, "b")
	f.give(3*second, "b")
	f.take(3100*time.Millisecond, "c")
	f.give(5*second, "c")
	f.take(5100*time.Millisecond, "d")
	f.give(7*second, "d")
	f.run(0, workflows.SerializeSiblingsInput{})
	f.wantTold("b 1", "c 3", "d 5")
	if err := f.GetWorkflowError(); err != nil || f.since() < 17*second || f.since() > 18*second {
		t.Errorf("ended with %v after %s, want it to end 10 s after nobody wanted a turn", err, f.since())
	}
}

func TestSiblingsAnswers(t *testing.T) {
	f := newFamily(t)
	f.take(0, "a")
	f.take(1*time.Millisecond, "b")
	f.take(2*time.Millisecond, "c")
	got := map[string]string{}
	look := func(at time.Duration, names ...string) {
		f.RegisterDelayedCallback(func() {
			for _, name := range names {
				got[fmt.Sprintf("%s at %s", name, at)] = f.place(name)
			}
		}, at)
	}
	look(100*time.Millisecond, "a", "b", "c")
	f.take(200*time.Millisecond, "a", "c") // once more: a keeps the turn, c its place
	look(300*time.Millisecond, "a", "c")
	f.give(400*time.Millisecond, "b") // b leaves the queue
	f.take(500*time.Millisecond, "c")
	look(600*time.Millisecond, "c")
	f.give(700*time.Millisecond, "z") // somebody who has nothing
	f.give(800*time.Millisecond, "a")
	f.give(801*time.Millisecond, "a") // once more
	f.run(1*second, workflows.SerializeSiblingsInput{})
	f.wantTold("c 0")
	want := map[string]string{
		"a at 100ms": "granted", "b at 100ms": "a, 1", "c at 100ms": "a, 2",
		"a at 300ms": "granted", "c at 300ms": "a, 2", "c at 600ms": "a, 1",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("places (-want +got):\n%s", diff)
	}
}

// TestSiblingsLoseTheTurn holds that no turn is kept by who does not use it.
func TestSiblingsLoseTheTurn(t *testing.T) {
	cases := map[string]struct {
		reason  string
		arrange func(*family)
		want    []string
	}{
		"never comes": {
			reason:  "who was told and does not come loses it after 30 s",
			arrange: func(f *family) { f.take(0, "a", "b", "c"); f.give(second, "a") },
			want:    []string{"b 1", "c 31"},
		},
		"comes late": {
			reason: "who came in time keeps it",
			arrange: func(f *family) {
				f.take(0, "a", "b", "c")
				f.give(second, "a")
				f.take(30*second, "b")
			},
			want: []string{"b 1"},
		},
		"terminated": {
			reason:  "a run that ended gives nothing back; it is looked at while others wait",
			arrange: func(f *family) { f.take(0, "a", "b"); f.dead["a"] = true },
			want:    []string{"b 2"},
		},
		"terminated later": {
			reason: "also after it was alive for long",
			arrange: func(f *family) {
				f.take(0, "a", "b")
				f.RegisterDelayedCallback(func() { f.dead["a"] = true }, 40*second)
			},
			want: []string{"b 60"},
		},
		"next is gone": {
			reason: "who is not there any more is passed over",
			arrange: func(f *family) {
				f.take(0, "a", "b", "c", "d")
				f.dead["b"], f.dead["c"] = true, true
				f.give(second, "a")
			},
			want: []string{"d 1"},
		},
		"all gone": {
			reason: "also when nobody is left",
			arrange: func(f *family) {
				f.take(0, "a", "b")
				f.dead["b"] = true
				f.give(second, "a")
			},
			want: nil,
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			f := newFamily(t)
			c.arrange(f)
			f.run(60*second+500*time.Millisecond, workflows.SerializeSiblingsInput{})
			if diff := cmp.Diff(c.want, f.told); diff != "" {
				t.Errorf("%s: told (-want +got):\n%s", c.reason, diff)
			}
		})
	}
}

// TestSiblingsEndWithoutTheDead holds that a run which nobody needs ends, also
// when the holder was terminated while nobody waited.
func TestSiblingsEndWithoutTheDead(t *testing.T) {
	f := newFamily(t)
	f.take(0, "a")
	f.dead["a"] = true
	f.run(0, workflows.SerializeSiblingsInput{})
	if err := f.GetWorkflowError(); err != nil || f.since() > 2*time.Hour || f.looked != 1 {
		t.Errorf("ended with %v after %s and %d looks, want one look within 2 h", err, f.since(), f.looked)
	}
}

// TestSiblingsAColdStartKeepsTheTurn holds that a new run of the holder goes on
// with its turn, and is the one that is looked at.
func TestSiblingsAColdStartKeepsTheTurn(t *testing.T) {
	f := newFamily(t)
	f.take(0, "a", "b")
	again := &answer{}
	f.RegisterDelayedCallback(func() {
		f.UpdateWorkflow(workflows.TakeTurnUpdate, "", again.callbacks(), turnOf("a", "run 2"))
	}, second)
	f.run(10*second, workflows.SerializeSiblingsInput{})
	if got, _ := again.result.(activities.Position); !got.Granted || len(f.told) != 0 || f.lookedRun != "run 2" {
		t.Errorf("the new run got %+v, told %v, looked at %s; want the turn", got, f.told, f.lookedRun)
	}
}

// TestSiblingsLooksAreBounded holds how often a holder of a long operation is
// looked at: history grows with it.
func TestSiblingsLooksAreBounded(t *testing.T) {
	f := newFamily(t)
	f.take(0, "a", "b")
	f.run(10*time.Minute, workflows.SerializeSiblingsInput{})
	if f.looked < 15 || f.looked > 25 || f.lookedAt[0] > 3*second {
		t.Errorf("%d looks in 10 min, the first after %s; want about 22, the first after 2 s", f.looked, f.lookedAt[0])
	}
	f = newFamily(t)
	f.take(0, "a")
	f.run(10*time.Hour, workflows.SerializeSiblingsInput{})
	if f.looked > 7 {
		t.Errorf("%d looks in 10 h while nobody waits", f.looked)
	}
}

// TestSiblingsTakeAtTheEnd holds that a take which meets the end of an idle run
// is either answered or not accepted: whoever has an answer has the turn.
func TestSiblingsTakeAtTheEnd(t *testing.T) {
	for _, delay := range []time.Duration{9*second + 999*time.Millisecond, 10 * second, 10*second + time.Millisecond} {
		t.Run(delay.String(), func(t *testing.T) {
			f := newFamily(t)
			f.take(delay, "a")
			f.run(20*second, workflows.SerializeSiblingsInput{})
			ended := f.since() < 20*second
			if got := f.places["a"]; got != nil && got.complete == ended {
				t.Errorf("answered %t, ended at %s: a turn was handed out by a run that ended", got.complete, f.since())
			}
		})
	}
}

// next is the input of the next run.
func (f *family) next() workflows.SerializeSiblingsInput {
	f.t.Helper()
	var again *workflow.ContinueAsNewError
	if err := f.GetWorkflowError(); !errors.As(err, &again) {
		f.t.Fatalf("ended with %v, want continue-as-new", err)
	}
	var input workflows.SerializeSiblingsInput
	if err := converter.GetDefaultDataConverter().FromPayloads(again.Input, &input); err != nil {
		f.t.Fatal(err)
	}
	return input
}

func TestSiblingsContinueAsNew(t *testing.T) {
	first := newFamily(t)
	first.take(0, "a", "b", "c")
	first.RegisterDelayedCallback(func() { first.SetContinueAsNewSuggested(true) }, second)
	first.give(1500*time.Millisecond, "a")
	first.run(0, workflows.SerializeSiblingsInput{})
	input := first.next()
	if input.Holder == nil || input.Holder.Turn.ID.Name() != "b" || input.Holder.Claimed || len(input.Queue) != 1 {
		t.Fatalf("the next run starts with %+v, want b on turn and c in the queue", input)
	}
	second := newFamily(t)
	second.take(100*time.Millisecond, "b")
	second.give(3*time.Second, "b")
	second.run(10*time.Second, input)
	// The signal of the first run may have been lost with its end.
	second.wantTold("b 0", "c 3")
	if second.place("b") != "granted" {
		t.Errorf("b got %s", second.place("b"))
	}

	third := newFamily(t)
	came := input
	holder := *input.Holder
	holder.Claimed = true
	came.Holder = &holder
	third.run(time.Second, came)
	third.wantTold()
}

// TestSiblingsKeepAnEndOfTheSameTask holds that an end which arrives in one
// workflow task with the answer of a look is not lost when the run continues as
// new: a living run would hold the turn that it gave back.
func TestSiblingsKeepAnEndOfTheSameTask(t *testing.T) {
	f := newFamily(t)
	f.take(0, "a", "b")
	f.onLook = func() {
		f.SetContinueAsNewSuggested(true)
		f.SignalWorkflowSkippingWorkflowTask(workflows.EndTurnSignal, turnOf("a", "run 1"))
	}
	f.run(0, workflows.SerializeSiblingsInput{})
	if input := f.next(); input.Holder == nil || input.Holder.Turn.ID.Name() != "b" {
		t.Errorf("the next run starts with %+v, want b on turn: the end of a was lost", input.Holder)
	}
}

// TestSiblingsQueueFitsAPayload holds that the queue of a parent with thousands
// of children can be carried to the next run: the server refuses more than 2 MB.
func TestSiblingsQueueFitsAPayload(t *testing.T) {
	input := workflows.SerializeSiblingsInput{}
	for i := range 5000 {
		input.Queue = append(input.Queue, turnOf(fmt.Sprintf("subnet-%0200d", i*7919), fmt.Sprintf("%08x-aaaa-bbbb-cccc-%012x", i*2654435761, i)))
	}
	encoded, err := payload.DataConverter().ToPayloads(input)
	if err != nil {
		t.Fatal(err)
	}
	if size := len(encoded.GetPayloads()[0].GetData()); size > 1<<20 {
		t.Errorf("a queue of 5,000 takes %d bytes", size)
	}
}
