package workflows_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
	"go.temporal.io/sdk/activity"

	"github.com/stretchr/testify/mock"
)

// locals records the names of the local activities.
func (r *run) locals() func() []string {
	var mu sync.Mutex
	var names []string
	r.SetOnLocalActivityStartedListener(func(info *activity.Info, _ context.Context, _ []any) {
		mu.Lock()
		defer mu.Unlock()
		names = append(names, info.ActivityType.Name)
	})
	return func() []string {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(names)
	}
}

// reportsOrder makes the owner check report an order of commands.
func (r *run) reportsOrder(order int) {
	r.script.owner = func(activities.CheckOwnerInput) activities.CheckOwnerResult {
		return activities.CheckOwnerResult{Verdict: resource.Proceed(""), Order: order}
	}
}

// A run uses an order of commands that both its starter and its worker know: the starter's,
// because the release before can then continue the runs that it began, the worker's, because
// a command that it did not make is missing in the history.
func TestOrderOfCommands(t *testing.T) {
	cases := map[string]struct {
		reason          string
		starter, worker int
		local, summary  bool
	}{
		"both new":    {reason: "nothing is known of the resource", starter: 1, worker: 1, local: true, summary: true},
		"newer both":  {reason: "later orders contain this one", starter: 2, worker: 2, local: true, summary: true},
		"old starter": {reason: "the run began before an upgrade", worker: 1},
		"old worker":  {reason: "a CLI is often upgraded first", starter: 1},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := newRun(t)
			r.input = workflows.ReconcileResourceInput{Order: tc.starter}
			r.reportsOrder(tc.worker)
			written, locals := r.summaries(), r.locals()
			r.apply(desired())
			r.start(90 * time.Minute)
			read := slices.Contains(locals(), "GetResource")
			if read != tc.local || (len(*written) > 0) != tc.summary || r.count("GetResource") != 2 {
				t.Errorf("%s: the first of %d reads is local: %t, %d summaries; want %t, %t", tc.reason, r.count("GetResource"), read, len(*written), tc.local, tc.summary)
			}
		})
	}
}

// Only the first read of a resource is part of the workflow task: a pass in sync keeps its
// commands.
func TestLaterReadsAreActivities(t *testing.T) {
	r := newRun(t)
	r.input = workflows.ReconcileResourceInput{Order: activities.CommandOrder}
	r.reportsOrder(activities.CommandOrder)
	locals := r.locals()
	r.apply(desired())
	r.start(10 * time.Hour)
	n := 0
	for _, name := range locals() {
		if name == "GetResource" {
			n++
		}
	}
	if n != 1 || r.count("GetResource") < 8 {
		t.Errorf("%d of %d reads are local, want the first one", n, r.count("GetResource"))
	}
}

// A first read that fails within the workflow task is made by an activity, which Temporal
// retries.
func TestFirstReadFails(t *testing.T) {
	r := newRun(t)
	r.input = workflows.ReconcileResourceInput{Order: activities.CommandOrder}
	r.reportsOrder(activities.CommandOrder)
	r.OnActivity("GetResource", mock.Anything, mock.Anything).Return(activities.GetResourceResult{}, errors.New("connection reset")).Once()
	r.OnActivity("GetResource", mock.Anything, mock.Anything).Return(present(), nil)
	status := r.statusAt(time.Minute)
	r.apply(desired())
	r.start(2 * time.Minute)
	if !status.Condition.Ready || status.Pass != 1 {
		t.Errorf("after a failed first read: %+v, want Ready in the first pass", status.Condition)
	}
}

// TestNothingWaits checks which creations cost an activity to notify others.
func TestNothingWaits(t *testing.T) {
	cases := map[string]struct {
		reason      string
		order       int
		once        bool
		unawaited   bool
		fails       error
		later, wake int
	}{
		"nothing waits":   {reason: "the worker notifies those that begin to wait meanwhile", order: 1, unawaited: true, later: 1},
		"something waits": {reason: "an activity survives the worker", order: 1, wake: 1},
		"old order":       {reason: "its worker was not asked", unawaited: false, wake: 1},
		"once":            {reason: "the run ends", order: 1, once: true, wake: 1},
		"fails":           {reason: "the activity is the fallback", order: 1, unawaited: true, fails: errors.New("away"), later: 1, wake: 1},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := newRun(t)
			r.input = workflows.ReconcileResourceInput{Order: tc.order}
			r.reportsOrder(tc.order)
			r.script.wakeLater = tc.fails
			r.script.get = func(activities.GetResourceInput) activities.GetResourceResult { return absent() }
			r.script.pre = create
			r.script.put = func(activities.PutResourceInput) (activities.PutResourceResult, error) {
				return activities.PutResourceResult{Verdict: resource.Proceed("accepted"), Sent: true, Token: "token"}, nil
			}
			asked := false
			r.script.poll = func(in activities.PollOperationInput) (activities.PollOperationResult, error) {
				asked = in.Waiters
				got := present()
				return activities.PollOperationResult{Verdict: resource.Verdict{Action: resource.ActionSuccess}, Got: &got, Unawaited: in.Waiters && tc.unawaited}, nil
			}
			r.at(0, workflows.ApplyUpdate, workflows.ApplyInput{Desired: desired(), By: "ada@host", Once: tc.once})
			r.start(10 * time.Minute)
			if len(r.script.later) != tc.later || len(r.script.wakes) != tc.wake || asked != (tc.order > 0 && !tc.once) {
				t.Errorf("%s: %d later, %d activities, asked: %t; want %d, %d", tc.reason, len(r.script.later), len(r.script.wakes), asked, tc.later, tc.wake)
			}
			for _, in := range r.script.later {
				if !in.ID.Equal(desired().ID) || in.State != "Ready" || in.At.IsZero() {
					t.Errorf("notifies %+v, want this resource, Ready, with the time", in)
				}
			}
		})
	}
}
