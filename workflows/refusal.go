package workflows

import (
	"time"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/resource"
	"go.temporal.io/sdk/workflow"
)

// noteRefusal records a verdict with severity Error that ARM gave for a PUT, or the
// post-check for what exists. The verdict of a check before the PUT needs no record: the
// check is made again.
func (s *State) noteRefusal(p *pass, verdict resource.Verdict) {
	if p.generation != s.Generation || !p.checked && p.content == "" {
		return
	}
	refusal := &activities.Refusal{Verdict: verdict}
	if !p.checked {
		refusal.Sent = p.content
	}
	refusal.Verdict.Differences, refusal.Verdict.WaitingFor = nil, nil
	s.Refusal = refusal
}

// reread returns the wait until a resource whose PUTs are stopped is read again: at most
// the interval, spread over its last quarter; zero means never.
func (s *State) reread() time.Duration {
	return time.Duration(float64(s.Desired.Interval) * (1 - maxJitter*s.fraction()))
}

// rereadFailedChange is the name of the change since which a run that starts in the phase
// Failed reads the resource again. The runs of older workers wait for a message.
const rereadFailedChange = "reread-failed"

// resumeFailed plans the next reading for a state of an older worker, which planned none.
// It stops the PUT that may have been refused then: adopt: never was the only verdict of
// Armature's own that no refusal preceded.
func (r *reconciler) resumeFailed(ctx workflow.Context) {
	s := r.state
	if s.Desired == nil || s.Phase != PhaseFailed || !s.NextTry.IsZero() || s.Delete != nil || s.reread() == 0 {
		return
	}
	if workflow.GetVersion(ctx, rereadFailedChange, workflow.DefaultVersion, 1) == workflow.DefaultVersion {
		return
	}
	s.NextTry = workflow.Now(ctx).Add(s.reread())
	if c := s.Condition; s.Refusal == nil && c.Reason != resource.ReasonAlreadyExists {
		verdict := resource.Fail(c.Reason, resource.RetryNone, c.Message)
		verdict.Actor = c.Actor
		s.Refusal = &activities.Refusal{Verdict: verdict, Sent: activities.UnknownContent}
	}
}
