package workflows_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/workflows"
	"github.com/google/go-cmp/cmp"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"
)

// freezes is a run of HoldFreeze.
type freezes struct {
	*testsuite.TestWorkflowEnvironment
	t *testing.T
	// refusals is the number of times that the audit trail is not there, recorded what it got.
	refusals int
	recorded []activities.UserRequest
}

func newFreezes(t *testing.T) *freezes {
	t.Helper()
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(log.NewStructuredLogger(slog.New(slog.DiscardHandler)))
	f := &freezes{TestWorkflowEnvironment: suite.NewTestWorkflowEnvironment(), t: t}
	f.SetStartWorkflowOptions(client.StartWorkflowOptions{ID: workflows.FreezeWorkflowID})
	workflows.Register(f)
	f.RegisterActivityWithOptions(func(_ context.Context, in activities.RecordRequestsInput) (activities.RecordRequestsResult, error) {
		if f.refusals--; f.refusals >= 0 {
			return activities.RecordRequestsResult{}, errors.New("the audit trail is not there")
		}
		f.recorded = append(f.recorded, in.Requests...)
		return activities.RecordRequestsResult{Written: len(in.Requests)}, nil
	}, activity.RegisterOptions{Name: "RecordRequests"})
	return f
}

func (f *freezes) at(delay time.Duration, update, selector string) *updateResult {
	got := &updateResult{}
	f.RegisterDelayedCallback(func() {
		f.UpdateWorkflow(update, "", got.callbacks(), workflows.Freeze{Selector: selector, By: "ada@host"})
	}, delay)
	return got
}

// TestHoldFreeze checks that the workflow runs for days while a freeze exists, and ends
// with the last one.
func TestHoldFreeze(t *testing.T) {
	f := newFreezes(t)
	first := f.at(0, workflows.FreezeUpdate, "stack=prod")
	repeated := f.at(time.Hour, workflows.FreezeUpdate, "stack=prod")
	all := f.at(2*time.Hour, workflows.FreezeUpdate, "")
	bad := f.at(3*time.Hour, workflows.FreezeUpdate, "prod")
	other := f.at(4*time.Hour, workflows.UnfreezeUpdate, "stack=dev")
	part := f.at(50*time.Hour, workflows.UnfreezeUpdate, "stack=prod")
	last := f.at(51*time.Hour, workflows.UnfreezeUpdate, "")
	started := f.Now()
	f.ExecuteWorkflow(workflows.HoldFreezeWorkflow, workflows.HoldFreezeInput{})
	if err := f.GetWorkflowError(); err != nil || !f.IsWorkflowCompleted() {
		t.Fatalf("the run ended with %v", err)
	}
	if took := f.Now().Sub(started); took < 51*time.Hour {
		t.Errorf("the run ended after %s, while everything was frozen", took)
	}
	for name, want := range map[string]struct {
		got     *updateResult
		changed bool
		frozen  int
	}{
		"first": {first, true, 1}, "repeated": {repeated, false, 1}, "everything": {all, true, 2},
		"other selector": {other, false, 2}, "lifted": {part, true, 1}, "the last": {last, true, 0},
	} {
		result, _ := want.got.result.(workflows.FreezeResult)
		if !want.got.complete || result.Changed != want.changed || len(result.Frozen) != want.frozen {
			t.Errorf("%s: result %+v (%v, %v), want changed %t and %d frozen", name, result, want.got.rejected, want.got.err, want.changed, want.frozen)
		}
	}
	if bad.rejected == nil {
		t.Error("an invalid selector was accepted, although it matches nothing")
	}
}

// TestHoldFreezeContinuesAsNew checks that freezes survive continue-as-new: a run that
// starts with freezes neither waits for a first one nor ends.
func TestHoldFreezeContinuesAsNew(t *testing.T) {
	f := newFreezes(t)
	f.at(0, workflows.FreezeUpdate, "stack=prod")
	f.RegisterDelayedCallback(func() { f.SetContinueAsNewSuggested(true) }, time.Hour)
	began := f.Now()
	f.ExecuteWorkflow(workflows.HoldFreezeWorkflow, workflows.HoldFreezeInput{})
	var next *workflow.ContinueAsNewError
	if err := f.GetWorkflowError(); !errors.As(err, &next) || f.Now().Sub(began) > time.Hour {
		t.Fatalf("ended after %s with %v, want continue-as-new once it is suggested", f.Now().Sub(began), err)
	}
	var input workflows.HoldFreezeInput
	if err := converter.GetDefaultDataConverter().FromPayloads(next.Input, &input); err != nil {
		t.Fatal(err)
	}
	if len(input.Frozen) != 1 || input.Frozen[0].Selector != "stack=prod" || input.Frozen[0].Since.IsZero() {
		t.Fatalf("the next run starts with %+v", input)
	}
	second := newFreezes(t)
	unfreeze := second.at(30*time.Hour, workflows.UnfreezeUpdate, "stack=prod")
	started := second.Now()
	second.ExecuteWorkflow(workflows.HoldFreezeWorkflow, input)
	if took := second.Now().Sub(started); second.GetWorkflowError() != nil || took < 30*time.Hour {
		t.Errorf("the next run ended after %s with %v", took, second.GetWorkflowError())
	}
	if result, _ := unfreeze.result.(workflows.FreezeResult); !result.Changed {
		t.Errorf("unfreeze returned %+v", result)
	}
}

// TestHoldFreezeEndsWithoutFreeze checks that a run ends when its first freeze was
// refused.
func TestHoldFreezeEndsWithoutFreeze(t *testing.T) {
	f := newFreezes(t)
	f.ExecuteWorkflow(workflows.HoldFreezeWorkflow, workflows.HoldFreezeInput{})
	if err := f.GetWorkflowError(); err != nil || !f.IsWorkflowCompleted() {
		t.Errorf("the run ended with %v", err)
	}
}

// TestHoldFreezeOfStarts checks that the start of workers freezes everything once, also
// where a user froze it before, and that a user releases resources one set after another.
//
//guard:start-frozen
func TestHoldFreezeOfStarts(t *testing.T) {
	f := newFreezes(t)
	send := func(delay time.Duration, update string, in workflows.Freeze) *updateResult {
		got := &updateResult{}
		f.RegisterDelayedCallback(func() { f.UpdateWorkflow(update, "", got.callbacks(), in) }, delay)
		return got
	}
	start := workflows.Freeze{Start: "2026-11-22", By: "worker@host"}
	steps := []struct {
		reason  string
		got     *updateResult
		changed bool
		except  []string
	}{
		{"the first worker freezes", send(0, workflows.FreezeUpdate, start), true, nil},
		{"the second one finds the freeze", send(2*time.Hour, workflows.FreezeUpdate, start), false, nil},
		{"an unfreeze of an older CLI releases nothing", send(3*time.Hour, workflows.UnfreezeUpdate, workflows.Freeze{Selector: "stack=a"}), false, nil},
		{"a user releases one stack", send(4*time.Hour, workflows.UnfreezeUpdate, workflows.Freeze{Selector: "stack=a", Release: true}), true, []string{"stack=a"}},
		{"once", send(5*time.Hour, workflows.UnfreezeUpdate, workflows.Freeze{Selector: "stack=a", Release: true}), false, []string{"stack=a"}},
		{"a restart changes nothing", send(6*time.Hour, workflows.FreezeUpdate, start), false, []string{"stack=a"}},
		{"another restore freezes what was released", send(7*time.Hour, workflows.FreezeUpdate, workflows.Freeze{Start: "2026-11-23"}), true, nil},
		{"a user releases it again", send(8*time.Hour, workflows.UnfreezeUpdate, workflows.Freeze{Selector: "stack=a", Release: true}), true, []string{"stack=a"}},
		{"a freeze of everything takes that back", send(9*time.Hour, workflows.FreezeUpdate, workflows.Freeze{By: "ada@host"}), true, nil},
	}
	last := send(10*time.Hour, workflows.UnfreezeUpdate, workflows.Freeze{})
	f.ExecuteWorkflow(workflows.HoldFreezeWorkflow, workflows.HoldFreezeInput{})
	if !f.IsWorkflowCompleted() || f.GetWorkflowError() != nil {
		t.Fatalf("the workflow ended with %v", f.GetWorkflowError())
	}
	for _, step := range steps {
		result, _ := step.got.result.(workflows.FreezeResult)
		if step.got.err != nil || result.Changed != step.changed || len(result.Frozen) != 1 || !slices.Equal(result.Frozen[0].Except, step.except) {
			t.Errorf("%s: %+v, %v", step.reason, result, step.got.err)
		}
	}
	if result, _ := last.result.(workflows.FreezeResult); !result.Changed || len(result.Frozen) != 0 {
		t.Errorf("the last unfreeze returned %+v", result)
	}
	if first := f.recorded[0].Text; first != "everything, by the start 2026-11-22" {
		t.Errorf("the audit trail begins with %q", first)
	}
}

// TestFreezesAreRecorded checks that the audit trail gets each freeze and its end once, also
// if it is away for a while, and that the freeze counts meanwhile.
func TestFreezesAreRecorded(t *testing.T) {
	f := newFreezes(t)
	f.refusals = 3
	f.at(0, workflows.FreezeUpdate, "stack=prod")
	f.at(time.Minute, workflows.FreezeUpdate, "stack=prod") // changes nothing
	f.at(time.Hour, workflows.FreezeUpdate, "")
	f.at(2*time.Hour, workflows.UnfreezeUpdate, "")
	f.RegisterDelayedCallback(func() { f.refusals = 3 }, 3*time.Hour)
	f.at(3*time.Hour, workflows.UnfreezeUpdate, "stack=prod")
	began := f.Now()
	f.ExecuteWorkflow(workflows.HoldFreezeWorkflow, workflows.HoldFreezeInput{})
	if err := f.GetWorkflowError(); err != nil || !f.IsWorkflowCompleted() {
		t.Fatalf("the run ended with %v", err)
	}
	if took := f.Now().Sub(began); took < 3*time.Hour || took > 3*time.Hour+5*time.Minute {
		t.Errorf("the run ended after %s, want soon after the audit trail was there again", took)
	}
	var got []string
	keys := map[string]bool{}
	for _, r := range f.recorded { // each at least once
		if key := string(r.Event) + r.UpdateID; keys[key] {
			continue
		}
		got = append(got, string(r.Event)+" "+r.Text+" by "+r.By)
		keys[string(r.Event)+r.UpdateID] = true
	}
	want := []string{"freeze stack=prod by ada@host", "freeze everything by ada@host", "unfreeze everything by ada@host", "unfreeze stack=prod by ada@host"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the audit trail got (-want +got):\n%s", diff)
	}
	if len(keys) != len(want) {
		t.Errorf("%d keys of %d requests: each needs its own", len(keys), len(want))
	}
}

// TestHoldFreezeSealed checks that an encrypted author stays as it is: in the memo, in the
// next run and on the way to the audit trail. A worker without the key may run the workflow.
func TestHoldFreezeSealed(t *testing.T) {
	f := newFreezes(t)
	f.refusals = 1000
	got := &updateResult{}
	f.RegisterDelayedCallback(func() {
		f.UpdateWorkflow(workflows.FreezeUpdate, "", got.callbacks(), workflows.Freeze{Selector: "stack=prod", Sealed: []byte("ciphertext")})
	}, 0)
	f.RegisterDelayedCallback(func() { f.SetContinueAsNewSuggested(true) }, time.Hour)
	f.ExecuteWorkflow(workflows.HoldFreezeWorkflow, workflows.HoldFreezeInput{})
	input := nextRun[workflows.HoldFreezeInput](t, f)
	if len(input.Frozen) != 1 || string(input.Frozen[0].Sealed) != "ciphertext" || len(input.Requests) == 0 || string(input.Requests[0].Sealed) != "ciphertext" {
		t.Errorf("the next run starts with %+v", input)
	}
}

// TestHoldFreezeBounds checks that neither authors nor freezes make the memo larger than Temporal
// takes.
func TestHoldFreezeBounds(t *testing.T) {
	f := newFreezes(t)
	var full workflows.HoldFreezeInput
	for i := range 50 {
		full.Frozen = append(full.Frozen, workflows.Freeze{Selector: fmt.Sprintf("stack=s%d", i)})
	}
	got := map[string]*updateResult{}
	for name, in := range map[string]workflows.Freeze{
		"long reason": {Selector: "stack=s1", Reason: strings.Repeat("x", 9000)}, "long name": {Selector: "stack=s1", By: strings.Repeat("x", 9000)},
		"long text": {Selector: "stack=s1", Sealed: make([]byte, 9000)}, "51st": {Selector: "stack=s50"}, "known": {Selector: "stack=s1"},
	} {
		got[name] = &updateResult{}
		f.RegisterDelayedCallback(func() { f.UpdateWorkflow(workflows.FreezeUpdate, "", got[name].callbacks(), in) }, 0)
	}
	f.RegisterDelayedCallback(f.CancelWorkflow, time.Hour)
	f.ExecuteWorkflow(workflows.HoldFreezeWorkflow, full)
	for name, result := range got {
		if refused := result.rejected != nil; refused != (name != "known") {
			t.Errorf("%s: refused with %v", name, result.rejected)
		}
	}
}

// TestUnfreezeOfAnotherFreeze checks that an unfreeze which names its freeze by its time lifts no
// later one.
func TestUnfreezeOfAnotherFreeze(t *testing.T) {
	since := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	in := workflows.HoldFreezeInput{Frozen: []workflows.Freeze{{Since: since}, {Selector: "stack=prod", Since: since.Add(time.Hour)}}}
	for name, c := range map[string]struct {
		reason   string
		unfreeze workflows.Freeze
		want     string
	}{
		"same":           {"it was set then", workflows.Freeze{Selector: "stack=prod", Since: since.Add(time.Hour)}, ""},
		"later":          {"it was lifted and set again", workflows.Freeze{Selector: "stack=prod", Since: since}, "stack=prod was frozen again at 2026-01-01 01:00:00Z"},
		"any":            {"the sender names none", workflows.Freeze{Selector: "stack=prod"}, ""},
		"absent":         {"nothing is frozen by these labels", workflows.Freeze{Selector: "stack=dev", Since: since}, ""},
		"released":       {"it is the freeze of everything", workflows.Freeze{Selector: "stack=dev", Since: since, Release: true}, ""},
		"released later": {"everything was frozen again", workflows.Freeze{Selector: "stack=dev", Since: since.Add(-time.Hour), Release: true}, "everything was frozen again at 2026-01-01 00:00:00Z"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFreezes(t)
			got := &updateResult{}
			f.RegisterDelayedCallback(func() { f.UpdateWorkflow(workflows.UnfreezeUpdate, "", got.callbacks(), c.unfreeze) }, time.Minute)
			f.RegisterDelayedCallback(f.CancelWorkflow, time.Hour)
			f.ExecuteWorkflow(workflows.HoldFreezeWorkflow, in)
			if c.want == "" && !got.complete || c.want != "" && (got.rejected == nil || !strings.Contains(got.rejected.Error(), c.want)) {
				t.Errorf("%s: %+v", c.reason, got)
			}
		})
	}
}
