package workflows_test

import (
	"errors"
	"testing"
	"time"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
	"go.temporal.io/sdk/temporal"
)

func TestOnce(t *testing.T) {
	t.Run("ready", func(t *testing.T) {
		r := newRun(t)
		r.at(0, workflows.ApplyUpdate, workflows.ApplyInput{Desired: desired(), Once: true})
		r.start(0)
		var status workflows.Status
		if err := r.GetWorkflowResult(&status); err != nil || !status.Condition.Ready {
			t.Errorf("result %+v, %v; want a Ready status", status.Condition, err)
		}
	})
	t.Run("fatal", func(t *testing.T) {
		r := newRun(t)
		blocked(r.script, resource.RetryNone, 0)
		r.script.owner = func(activities.CheckOwnerInput) activities.CheckOwnerResult {
			return activities.CheckOwnerResult{Verdict: resource.Fail("LocationRequired", resource.RetryNone, "no location")}
		}
		r.at(0, workflows.ApplyUpdate, workflows.ApplyInput{Desired: desired(), Once: true})
		r.start(0)
		var application *temporal.ApplicationError
		if err := r.GetWorkflowError(); !errors.As(err, &application) || application.Type() != workflows.FatalError {
			t.Errorf("ended with %v, want an error of type %s", err, workflows.FatalError)
		}
	})
	t.Run("on a managed resource", func(t *testing.T) {
		r := newRun(t)
		r.apply(desired())
		got := r.at(10*time.Millisecond, workflows.ApplyUpdate, workflows.ApplyInput{Desired: desired(), Once: true})
		r.start(time.Second)
		if refusal(got) != workflows.RefusedOnce {
			t.Errorf("rejected with %v, want %s", got.rejected, workflows.RefusedOnce)
		}
	})
}

// TestOnceEndsWithoutRetry checks that a verdict without a retry ends the run, whatever
// its severity. Otherwise the run would wait forever.
func TestOnceEndsWithoutRetry(t *testing.T) {
	r := newRun(t)
	blocked(r.script, resource.RetryNone, 0)
	r.at(0, workflows.ApplyUpdate, workflows.ApplyInput{Desired: desired(), Once: true})
	r.start(time.Hour)
	var application *temporal.ApplicationError
	if err := r.GetWorkflowError(); !errors.As(err, &application) || application.Type() != workflows.FatalError {
		t.Errorf("ended with %v, want an error of type %s", err, workflows.FatalError)
	}
}

// TestOnceContinuesAfterPause checks that a run does not end with the condition of an
// older generation when a pause interrupts the pass of the new one.
func TestOnceContinuesAfterPause(t *testing.T) {
	r := newRun(t)
	changed := desired()
	changed.Body = []byte(`{"location":"westus3"}`)
	reads := 0
	r.script.get = func(activities.GetResourceInput) activities.GetResourceResult {
		switch reads++; reads {
		case 1: // the first pass ends Ready, but there is a new generation
			r.at(0, workflows.ApplyUpdate, workflows.ApplyInput{Desired: changed, Once: true})
		case 2:
			r.at(0, workflows.PauseUpdate, workflows.PauseInput{By: "ada@host"})
		}
		return present()
	}
	r.at(0, workflows.ApplyUpdate, workflows.ApplyInput{Desired: desired(), Once: true})
	r.at(time.Hour, workflows.ResumeUpdate, workflows.PauseInput{By: "ada@host"})
	r.start(2 * time.Hour)
	var status workflows.Status
	if err := r.GetWorkflowResult(&status); err != nil || status.Condition.ObservedGeneration != 2 {
		t.Errorf("ended with %v and a condition of generation %d, want generation 2 after the resume", err, status.Condition.ObservedGeneration)
	}
}
