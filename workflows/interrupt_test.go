package workflows_test

import (
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/activities/contents"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
)

// statusNow returns the status from an activity, once the workflow has handled what came
// before.
func (r *run) statusNow() workflows.Status {
	status := r.statusAt(0)
	r.handled()
	return *status
}

// handled waits, in an activity, until the workflow has handled what came before.
func (r *run) handled() {
	done := make(chan struct{})
	r.RegisterDelayedCallback(func() { close(done) }, 0)
	select {
	case <-done:
	case <-time.After(10 * time.Second):
		r.t.Error("the workflow did not handle what came before")
	}
}

// untilDeleted returns a resource that exists until a DELETE was sent.
func (r *run) untilDeleted() activities.GetResourceResult {
	if r.count("DeleteResource") > 0 {
		return absent()
	}
	return present()
}

// interrupted sends an update from an activity that would not return, and reports whether
// its pass ended without it.
func (r *run) interrupted(update string, input any) bool {
	if got := r.duringActivity(update, input); got.rejected != nil || got.err != nil {
		r.t.Errorf("%s: %v, %v", update, got.rejected, got.err)
	}
	return r.statusNow().Pass > 0
}

// TestMessagesInterruptReads checks that a pause, a deletion and a new spec do not wait for
// a step that only reads, whatever keeps it, and that what they ask for happens.
//
//guard:a-pass-ends-in-words
func TestMessagesInterruptReads(t *testing.T) {
	changed := desired()
	changed.Body = []byte(`{"location":"westus3"}`)
	messages := map[string]struct {
		update    string
		input     any
		interrupt bool
		// page is on the page after the interruption.
		page  string
		holds func(*run, *workflows.Status) bool
	}{
		"pause": {workflows.PauseUpdate, workflows.PauseInput{By: "ada@host"}, true, "stopped after PutResource by a pause; resume starts the next pass", func(r *run, s *workflows.Status) bool {
			return s.Phase == workflows.PhasePaused && r.count("CheckOwner") == 1
		}},
		"delete": {workflows.DeleteUpdate, workflows.DeleteInput{By: "ada@host"}, true, "deletion in progress", func(r *run, _ *workflows.Status) bool {
			return r.count("DeleteResource") == 1
		}},
		"apply": {workflows.ApplyUpdate, workflows.ApplyInput{Desired: changed, By: "ada@host"}, true, "stopped after PutResource: a new spec was applied", func(_ *run, s *workflows.Status) bool {
			return s.Condition.Ready && s.Condition.ObservedGeneration == 2
		}},
		"apply without a change": {workflows.ApplyUpdate, workflows.ApplyInput{Desired: desired(), By: "ada@host"}, false, "", func(r *run, s *workflows.Status) bool {
			return s.Condition.Ready && r.count("CheckOwner") == 1
		}},
		"reconcile": {workflows.ReconcileUpdate, workflows.ReconcileInput{By: "ada@host"}, false, "", func(r *run, s *workflows.Status) bool {
			return s.Condition.Ready && r.count("CheckOwner") == 2
		}},
	}
	steps := map[string]func(r *run, hangs func()){
		"GetResource": func(r *run, hangs func()) {
			r.input = existing()
			r.script.get = func(activities.GetResourceInput) activities.GetResourceResult {
				if r.count("GetResource") == 1 {
					hangs()
				}
				return r.untilDeleted()
			}
		},
		"TakeTurn": func(r *run, hangs func()) {
			r.script.serialised, r.script.look = desired().Owner, errDeferred
			r.script.get = func(activities.GetResourceInput) activities.GetResourceResult { return r.untilDeleted() }
			r.script.pre = func(activities.PreCheckInput) resource.Verdict {
				if r.count("TakeTurn") == 0 {
					return create(activities.PreCheckInput{})
				}
				return resource.Verdict{Action: resource.ActionSkip}
			}
			r.script.turn = func(activities.TakeTurnInput) resource.Verdict {
				if r.count("TakeTurn") == 1 {
					hangs()
				}
				return resource.Proceed("")
			}
		},
	}
	for step, arrange := range steps {
		for name, m := range messages {
			t.Run(step+" "+name, func(t *testing.T) {
				r := newRun(t)
				arrange(r, func() {
					if got := r.interrupted(m.update, m.input); got != m.interrupt {
						t.Errorf("%s during %s interrupted it: %t, want %t", name, step, got, m.interrupt)
					}
					page := r.details(0)
					if r.handled(); step == "TakeTurn" && !strings.Contains(*page, m.page) {
						t.Errorf("%s during %s: the page is\n%s", name, step, *page)
					}
				})
				r.apply(desired())
				after := r.statusAt(30 * time.Second)
				r.start(time.Minute)
				if !m.holds(r, after) {
					t.Errorf("%s during %s: %s %+v after %v", name, step, after.Phase, after.Condition, r.script.calls)
				}
				if step == "TakeTurn" && m.interrupt && name != "pause" && r.count("EndTurn") == 0 {
					t.Errorf("the turn that may have been granted is not given up: %v", r.script.calls)
				}
			})
		}
	}
}

// TestMessagesInterruptReadsOfADeletion checks that a deletion that hangs can be taken
// back, forgotten and widened, and that a pause, which it ignores, does not disturb it.
func TestMessagesInterruptReadsOfADeletion(t *testing.T) {
	cases := map[string]struct {
		update    string
		input     any
		interrupt bool
	}{
		"abort":        {workflows.AbortUpdate, workflows.AbortInput{By: "ada@host"}, true},
		"apply":        {workflows.ApplyUpdate, workflows.ApplyInput{Desired: desired(), By: "ada@host"}, true},
		"with cascade": {workflows.DeleteUpdate, workflows.DeleteInput{By: "ada@host", Cascade: true}, true},
		"again":        {workflows.DeleteUpdate, workflows.DeleteInput{By: "ada@host"}, false},
		"pause":        {workflows.PauseUpdate, workflows.PauseInput{By: "ada@host"}, false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			r := newRun(t)
			passes := int64(0)
			r.script.contents = func(in contents.Request) resource.Verdict {
				if r.count("CheckContents") == 1 {
					passes = r.statusNow().Pass
					r.duringActivity(c.update, c.input)
					if got := r.statusNow().Pass > passes; got != c.interrupt {
						t.Errorf("interrupted %t, want %t", got, c.interrupt)
					}
				} else if name == "with cascade" && !in.Cascade {
					t.Error("the next pass lacks what was asked for")
				}
				return resource.Proceed("")
			}
			r.script.get = func(activities.GetResourceInput) activities.GetResourceResult { return r.untilDeleted() }
			r.apply(desired())
			r.at(10*time.Second, workflows.DeleteUpdate, workflows.DeleteInput{By: "ben@host"})
			r.start(2 * time.Minute)
			if deleted, kept := r.count("DeleteResource"), name == "abort" || name == "apply"; deleted != 0 == kept {
				t.Errorf("%d DELETEs: %v", deleted, r.script.calls)
			}
		})
	}
}

// TestInterruptedReadAfterPut checks that a pause during an ordinary read after a PUT leaves the
// PUT to be verified, and sends no second one.
func TestInterruptedReadAfterPut(t *testing.T) {
	r := newRun(t)
	r.script.look = errDeferred
	r.script.pre = func(in activities.PreCheckInput) resource.Verdict {
		if in.AcceptedAt.IsZero() {
			return resource.Verdict{Action: resource.ActionProceed, Differences: []resource.Difference{{Path: "properties.size"}}}
		}
		return resource.Verdict{Action: resource.ActionSkip}
	}
	r.script.verify = func(in activities.PreCheckInput) bool { return !in.AcceptedAt.IsZero() }
	r.script.get = func(activities.GetResourceInput) activities.GetResourceResult {
		if r.count("GetResource") == 2 && !r.interrupted(workflows.PauseUpdate, workflows.PauseInput{By: "ada@host"}) {
			t.Error("the read after the PUT was not interrupted")
		}
		return present()
	}
	verified := false
	r.script.post = func(in activities.PostCheckInput) activities.PostCheckResult {
		verified = verified || in.Put && len(in.Differences) == 1
		return activities.PostCheckResult{Verdict: resource.Verdict{Action: resource.ActionSuccess}, Memory: []byte(`{}`)}
	}
	r.apply(desired())
	r.at(time.Minute, workflows.ResumeUpdate, workflows.PauseInput{By: "ada@host"})
	r.start(2 * time.Minute)
	if r.count("PutResource") != 1 || !verified {
		t.Errorf("%d PUTs, verified %t: %v", r.count("PutResource"), verified, r.script.calls)
	}
}
