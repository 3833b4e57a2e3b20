package workflows_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/internal/payload"
	"github.com/armature-io/armature/workflows"
	"github.com/google/go-cmp/cmp"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"github.com/stretchr/testify/mock"
)

// family is a run of SerializeSiblings in the test environment. Its members have names of
// one letter.
type family struct {
	*testsuite.TestWorkflowEnvironment
	t *testing.T
	// granted are the members that received the turn, with the second of the signal.
	granted []string
	// ended are the members with a run that has ended, asleep those that do not use their turn.
	ended, asleep map[string]bool
	// checkedAt are the times of the checks of a holder, checkedRun is the last run that
	// was checked.
	mu         sync.Mutex // a check that a cancellation meets runs on beside the end
	checkedAt  []time.Duration
	checkedRun string
	onCheck    func()
	positions  map[string]*updateResult
}

func newFamily(t *testing.T) *family {
	t.Helper()
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(log.NewStructuredLogger(slog.New(slog.DiscardHandler)))
	f := &family{TestWorkflowEnvironment: suite.NewTestWorkflowEnvironment(), t: t, ended: map[string]bool{}, asleep: map[string]bool{}, positions: map[string]*updateResult{}}
	f.SetStartTime(startTime)
	workflows.Register(f)
	f.RegisterActivityWithOptions(func(_ context.Context, in activities.CheckTurnInput) (activities.CheckTurnResult, error) {
		f.mu.Lock()
		f.checkedRun = in.Turn.RunID
		f.checkedAt = append(f.checkedAt, f.since())
		f.mu.Unlock()
		if f.onCheck != nil {
			f.onCheck()
		}
		return activities.CheckTurnResult{Held: !f.ended[in.Turn.ID.Name()] && !f.asleep[in.Turn.ID.Name()]}, nil
	}, activity.RegisterOptions{Name: "CheckTurn"})
	f.OnSignalExternalWorkflow(mock.Anything, mock.Anything, mock.Anything, workflows.WakeSignal, mock.Anything).Return(
		func(_, workflowID, _, _ string, arg any) error {
			in := arg.(workflows.WakeInput)
			if f.ended[in.ID.Name()] {
				return errors.New("unknown external workflow execution")
			}
			if in.ID.WorkflowID() != workflowID || in.At.IsZero() {
				t.Errorf("signal %+v to %s", in, workflowID)
			}
			f.granted = append(f.granted, fmt.Sprintf("%s %d", in.ID.Name(), int(f.since().Seconds())))
			return nil
		})
	return f
}

// checks returns the times of the checks, and the last run that was checked.
func (f *family) checks() ([]time.Duration, string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.checkedAt), f.checkedRun
}

func (f *family) since() time.Duration { return f.Now().Sub(startTime) }

// turnOf returns the turn of a member in one of its runs.
func turnOf(name, runID string) activities.Turn {
	id := mustID(vnetText + "/subnets/" + name)
	return activities.Turn{Parent: mustID(vnetText), ID: id, WorkflowID: id.WorkflowID(), RunID: runID}
}

// take requests the turn for each member at a time of the run.
func (f *family) take(at time.Duration, names ...string) {
	for _, name := range names {
		f.RegisterDelayedCallback(func() {
			got := &updateResult{}
			f.positions[name] = got
			f.UpdateWorkflow(workflows.TakeTurnUpdate, "", got.callbacks(), []activities.Turn{turnOf(name, "run 1")})
		}, at)
	}
}

// end ends the turn of a member.
func (f *family) end(at time.Duration, name string) {
	f.RegisterDelayedCallback(func() { f.SignalWorkflow(workflows.EndTurnSignal, turnOf(name, "run 1")) }, at)
}

// position returns "granted", or the holder and the number of members ahead.
func (f *family) position(name string) string {
	list, _ := f.positions[name].result.([]activities.Position)
	if len(list) != 1 {
		return fmt.Sprintf("none: %v %v", f.positions[name].rejected, f.positions[name].err)
	}
	got := list[0]
	if got.Granted {
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

func (f *family) wantGranted(want ...string) {
	f.t.Helper()
	if diff := cmp.Diff(want, f.granted); diff != "" {
		f.t.Errorf("granted turns (-want +got):\n%s", diff)
	}
}

const second = time.Second

func TestSiblingsInOrder(t *testing.T) {
	f := newFamily(t)
	f.take(0, "a")
	f.take(100*time.Millisecond, "b")
	f.take(200*time.Millisecond, "c")
	f.take(300*time.Millisecond, "d")
	f.end(1*second, "a")
	f.take(1100*time.Millisecond, "b")
	f.end(3*second, "b")
	f.take(3100*time.Millisecond, "c")
	f.end(5*second, "c")
	f.take(5100*time.Millisecond, "d")
	f.end(7*second, "d")
	f.run(0, workflows.SerializeSiblingsInput{})
	f.wantGranted("b 1", "c 3", "d 5")
	if err := f.GetWorkflowError(); err != nil || f.since() < 17*second || f.since() > 18*second {
		t.Errorf("ended with %v after %s, want it to end 10 s after the last turn", err, f.since())
	}
}

func TestSiblingsPositions(t *testing.T) {
	f := newFamily(t)
	f.take(0, "a")
	f.take(1*time.Millisecond, "b")
	f.take(2*time.Millisecond, "c")
	got := map[string]string{}
	record := func(at time.Duration, names ...string) {
		f.RegisterDelayedCallback(func() {
			for _, name := range names {
				got[fmt.Sprintf("%s at %s", name, at)] = f.position(name)
			}
		}, at)
	}
	record(100*time.Millisecond, "a", "b", "c")
	f.take(200*time.Millisecond, "a", "c") // repeated: a keeps the turn, c its position
	record(300*time.Millisecond, "a", "c")
	f.end(400*time.Millisecond, "b") // b leaves the queue
	f.take(500*time.Millisecond, "c")
	record(600*time.Millisecond, "c")
	f.end(700*time.Millisecond, "z") // z has no turn
	f.end(800*time.Millisecond, "a")
	f.end(801*time.Millisecond, "a") // repeated
	f.run(1*second, workflows.SerializeSiblingsInput{})
	f.wantGranted("c 0")
	want := map[string]string{
		"a at 100ms": "granted", "b at 100ms": "a, 1", "c at 100ms": "a, 2",
		"a at 300ms": "granted", "c at 300ms": "a, 2", "c at 600ms": "a, 1",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("positions (-want +got):\n%s", diff)
	}
}

// TestSiblingsLoseTurn checks that a member that does not use its turn loses it.
func TestSiblingsLoseTurn(t *testing.T) {
	cases := map[string]struct {
		reason  string
		arrange func(*family)
		want    []string
	}{
		"not used": {
			reason:  "a member that does not use its turn loses it within 30 s",
			arrange: func(f *family) { f.take(0, "a", "b", "c"); f.end(second, "a"); f.asleep["b"] = true },
			want:    []string{"b 1", "c 30"},
		},
		"used": {
			reason:  "a member that uses its turn keeps it",
			arrange: func(f *family) { f.take(0, "a", "b", "c"); f.end(second, "a") },
			want:    []string{"b 1"},
		},
		"terminated": {
			reason:  "a run that has ended sends no end, so it is checked while others wait",
			arrange: func(f *family) { f.take(0, "a", "b"); f.ended["a"] = true },
			want:    []string{"b 15"},
		},
		"terminated later": {
			reason: "the check repeats while the holder runs",
			arrange: func(f *family) {
				f.take(0, "a", "b")
				f.RegisterDelayedCallback(func() { f.ended["a"] = true }, 40*second)
			},
			want: []string{"b 45"},
		},
		"next ended": {
			reason: "runs that have ended are skipped",
			arrange: func(f *family) {
				f.take(0, "a", "b", "c", "d")
				f.ended["b"], f.ended["c"] = true, true
				f.end(second, "a")
			},
			want: []string{"d 1"},
		},
		"all ended": {
			reason: "the whole queue may have ended",
			arrange: func(f *family) {
				f.take(0, "a", "b")
				f.ended["b"] = true
				f.end(second, "a")
			},
			want: nil,
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			f := newFamily(t)
			c.arrange(f)
			f.run(60*second+500*time.Millisecond, workflows.SerializeSiblingsInput{})
			if diff := cmp.Diff(c.want, f.granted); diff != "" {
				t.Errorf("%s: granted turns (-want +got):\n%s", c.reason, diff)
			}
		})
	}
}

// TestSiblingsEndWhenIdle checks that an unused run ends, even if the holder was
// terminated while no other member waited.
func TestSiblingsEndWhenIdle(t *testing.T) {
	f := newFamily(t)
	f.take(0, "a")
	f.ended["a"] = true
	f.run(0, workflows.SerializeSiblingsInput{})
	checked, _ := f.checks()
	if err := f.GetWorkflowError(); err != nil || f.since() > 2*time.Hour || len(checked) != 1 {
		t.Errorf("ended with %v after %s and %d checks, want one check within 2 h", err, f.since(), len(checked))
	}
}

// TestSiblingsNewRunKeepsTurn checks that a new run of the holder keeps the turn, and
// that the queue then checks this run.
func TestSiblingsNewRunKeepsTurn(t *testing.T) {
	f := newFamily(t)
	f.take(0, "a", "b")
	repeated := &updateResult{}
	f.RegisterDelayedCallback(func() {
		f.UpdateWorkflow(workflows.TakeTurnUpdate, "", repeated.callbacks(), []activities.Turn{turnOf("a", "run 2")})
	}, second)
	f.run(20*second, workflows.SerializeSiblingsInput{})
	_, run := f.checks()
	if got, _ := repeated.result.([]activities.Position); len(got) != 1 || !got[0].Granted || len(f.granted) != 0 || run != "run 2" {
		t.Errorf("the new run got %+v, granted %v, checked %s; want the turn", got, f.granted, run)
	}
}

// TestSiblingsMaxChecks checks the number of checks during a long operation, because each
// adds to the history.
func TestSiblingsMaxChecks(t *testing.T) {
	f := newFamily(t)
	f.take(0, "a", "b")
	f.run(10*time.Minute, workflows.SerializeSiblingsInput{})
	if checked, _ := f.checks(); len(checked) < 15 || len(checked) > 25 || checked[0] > 16*second {
		t.Errorf("%d checks in 10 min, the first after %s; want about 20, the first after 15 s", len(checked), checked[0])
	}
	f = newFamily(t)
	f.take(0, "a")
	f.run(10*time.Hour, workflows.SerializeSiblingsInput{})
	if checked, _ := f.checks(); len(checked) > 7 {
		t.Errorf("%d checks in 10 h while no member waits", len(checked))
	}
}

// TestSiblingsTakeAtTheEnd checks that a take at the end of an idle run either completes
// or is not accepted: a member with a result has the turn.
func TestSiblingsTakeAtTheEnd(t *testing.T) {
	for _, delay := range []time.Duration{9*second + 999*time.Millisecond, 10 * second, 10*second + time.Millisecond} {
		t.Run(delay.String(), func(t *testing.T) {
			f := newFamily(t)
			f.take(delay, "a")
			f.run(20*second, workflows.SerializeSiblingsInput{})
			ended := f.since() < 20*second
			if got := f.positions["a"]; got != nil && got.complete == ended {
				t.Errorf("completed %t, ended at %s: a run that has ended granted a turn", got.complete, f.since())
			}
		})
	}
}

// next returns the input of the next run.
func (f *family) next() workflows.SerializeSiblingsInput {
	f.t.Helper()
	next, ok := errors.AsType[*workflow.ContinueAsNewError](f.GetWorkflowError())
	if !ok {
		f.t.Fatalf("ended with %v, want continue-as-new", f.GetWorkflowError())
	}
	var input workflows.SerializeSiblingsInput
	if err := converter.GetDefaultDataConverter().FromPayloads(next.Input, &input); err != nil {
		f.t.Fatal(err)
	}
	return input
}

func TestSiblingsContinueAsNew(t *testing.T) {
	first := newFamily(t)
	first.take(0, "a", "b", "c")
	first.end(second, "a")
	first.RegisterDelayedCallback(func() { first.SetContinueAsNewSuggested(true) }, 1500*time.Millisecond)
	first.run(0, workflows.SerializeSiblingsInput{})
	input := first.next()
	if input.Holder == nil || input.Holder.Turn.ID.Name() != "b" || len(input.Queue) != 1 {
		t.Fatalf("the next run starts with %+v, want b as holder and c in the queue", input)
	}
	second := newFamily(t)
	second.take(100*time.Millisecond, "b")
	second.end(3*time.Second, "b")
	second.run(10*time.Second, input)
	// The end of the first run may have lost its signal.
	second.wantGranted("b 0", "c 3")
	if second.position("b") != "granted" {
		t.Errorf("b got %s", second.position("b"))
	}
}

// TestSiblingsShortTurns checks that short turns share a timer, and that no holder is checked for
// the time of the one before.
func TestSiblingsShortTurns(t *testing.T) {
	f := newFamily(t)
	timers := 0
	f.SetOnTimerScheduledListener(func(string, time.Duration) { timers++ })
	var all []string
	for n := range 20 {
		name := string(rune('a' + n))
		all = append(all, name)
		f.end(time.Duration(n+1)*second, name)
	}
	f.take(0, all...)
	f.run(0, workflows.SerializeSiblingsInput{})
	if checked, _ := f.checks(); len(f.granted) != 19 || timers > 5 || len(checked) > 0 {
		t.Errorf("%d grants, %d timers, checks at %v; want 19 with few timers and no check", len(f.granted), timers, checked)
	}
}

// TestSiblingsKeepEndOfSameTask checks that EndTurn in the workflow task of the result of a
// check is not lost when the run continues as new. Otherwise a running holder would keep a
// turn that it has ended.
func TestSiblingsKeepEndOfSameTask(t *testing.T) {
	f := newFamily(t)
	f.take(0, "a", "b", "c")
	f.onCheck = func() {
		f.SetContinueAsNewSuggested(true)
		f.SignalWorkflowSkippingWorkflowTask(workflows.EndTurnSignal, turnOf("a", "run 1"))
		f.SignalWorkflowSkippingWorkflowTask(workflows.EndTurnSignal, turnOf("b", "run 1"))
	}
	f.run(0, workflows.SerializeSiblingsInput{})
	if input := f.next(); input.Holder == nil || input.Holder.Turn.ID.Name() != "c" {
		t.Errorf("the next run starts with %+v, want c as holder: the end of a turn is lost", input.Holder)
	}
}

// TestSiblingsQueueFitsAPayload checks that the queue of a parent with thousands of
// children fits into the input of the next run: the server refuses more than 2 MB.
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
		t.Errorf("a queue of 5,000 has %d bytes", size)
	}
}
