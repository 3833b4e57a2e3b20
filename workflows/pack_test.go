package workflows_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
	"github.com/google/go-cmp/cmp"
	"go.temporal.io/sdk/workflow"
)

// TestASleeperIsPacked holds that a run sleeps with its state packed, answers from
// it, and packs it again after each message that starts no pass.
func TestASleeperIsPacked(t *testing.T) {
	r := newRun(t)
	r.script.post = func(activities.PostCheckInput) activities.PostCheckResult {
		return activities.PostCheckResult{Verdict: resource.Verdict{Action: resource.ActionSuccess}, Memory: []byte(`{"x":1}`)}
	}
	var memories []string
	r.script.pre = func(in activities.PreCheckInput) resource.Verdict {
		memories = append(memories, string(in.Memory)+" "+string(in.Desired.Body))
		return resource.Verdict{Action: resource.ActionSkip}
	}
	r.apply(desired())
	at := time.Second
	var status []*workflows.Status
	var sizes []int
	step := func() {
		at += time.Second
		status = append(status, r.look(at))
		r.RegisterDelayedCallback(func() {
			value, err := r.QueryWorkflow(workflows.PackedQuery)
			size := 0
			if err == nil {
				err = value.Get(&size)
			}
			if err != nil {
				t.Error(err)
			}
			sizes = append(sizes, size)
		}, at)
		at += time.Second
	}
	step()
	same := r.at(at, workflows.ApplyUpdate, workflows.ApplyInput{Desired: desired(), By: "ada@host"})
	step()
	refused := r.at(at, workflows.ReconcileUpdate, workflows.ReconcileInput{Force: true})
	step()
	r.RegisterDelayedCallback(func() {
		r.SignalWorkflow(workflows.WakeSignal, workflows.WakeInput{ID: mustID(group), State: "Ready", At: startTime})
	}, at)
	step()
	paused := r.at(at, workflows.PauseUpdate, workflows.PauseInput{By: "ada@host"})
	step()
	r.at(at, workflows.ResumeUpdate, workflows.PauseInput{By: "ada@host"})
	step()
	r.RegisterDelayedCallback(r.CancelWorkflow, at)
	r.RegisterWorkflowWithOptions(workflows.Watched(), workflow.RegisterOptions{Name: "Watched"})
	r.ExecuteWorkflow("Watched", r.input)
	if got, ok := same.result.(workflows.ApplyResult); !ok || got.Changed || refused.rejected == nil {
		t.Errorf("the same spec answers %+v, a force without reason %v", same.result, refused.rejected)
	}
	if got, ok := paused.result.(workflows.PauseResult); !ok || !got.Changed {
		t.Errorf("the pause answers %+v", paused.result)
	}
	for i, size := range sizes {
		if size == 0 || size > 1<<10 {
			t.Errorf("after step %d the state is packed into %d bytes", i, size)
		}
		if s := status[i]; s.ID.IsZero() || !s.Condition.Ready || s.Paused != (i == 4) {
			t.Errorf("after step %d the status is %+v", i, s)
		}
	}
	want := []string{" " + string(desired().Body), `{"x":1} ` + string(desired().Body)}
	if diff := cmp.Diff(want, memories); diff != "" {
		t.Errorf("memory and body of the passes (-want +got):\n%s", diff)
	}
}

// TestRepacked holds that what is unpacked is what continue-as-new makes of a
// state.
func TestRepacked(t *testing.T) {
	spec := desired()
	spec.Body = []byte(`{"a":"<&>","b":1e400}`)
	bare := desired()
	bare.Body = nil
	cases := map[string]struct {
		reason string
		state  workflows.State
	}{
		"whole": {reason: "everything that a pass leaves behind", state: workflows.State{
			Desired: &spec, Generation: 3, Pass: 7, Wrote: true, Settled: 2, Memory: []byte(`{"body":"h"}`),
			Changes: []activities.Change{{ID: mustID(group), State: "Ready", At: startTime}}, Told: workflows.Told{Ready: true, State: "Succeeded"},
			Condition:  resource.Condition{Ready: true, LastTransitionTime: startTime},
			WaitingFor: []resource.ID{mustID(group)}, NextTry: startTime.Add(time.Hour), Kept: []string{"properties.x"},
			Decisions: []workflows.Decision{{At: startTime, Step: "PutResource", Count: 2}},
		}},
		"no memory":        {reason: "before the first PUT", state: workflows.State{Desired: &spec}},
		"no body":          {reason: "deleted by name", state: workflows.State{Desired: &bare, Memory: []byte(`{}`), Delete: &workflows.DeleteInput{By: "ada"}}},
		"no body, nothing": {reason: "the least", state: workflows.State{Desired: &bare}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			before, err := json.Marshal(tc.state)
			if err != nil {
				t.Fatal(err)
			}
			body := slices.Clone(tc.state.Desired.Body)
			got, err := workflows.Repacked(&tc.state)
			if err != nil {
				t.Fatal(err)
			}
			after, err := json.Marshal(got)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(before), string(after)); diff != "" {
				t.Errorf("%s (-before +after):\n%s", tc.reason, diff)
			}
			if !bytes.Equal(body, tc.state.Desired.Body) {
				t.Errorf("body %s became %s in the state that was packed", body, tc.state.Desired.Body)
			}
			if len(body) > 0 && !bytes.Equal(body, got.Desired.Body) {
				t.Errorf("body %s became %s", body, got.Desired.Body)
			}
		})
	}
}
