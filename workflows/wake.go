package workflows

import (
	"slices"
	"time"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/internal/tracing"
	"go.temporal.io/sdk/workflow"
)

// Bounds of the changes that a run keeps; the oldest are dropped. Workers keep readings
// for half a minute.
const (
	maxChanges   = 64
	maxChangeAge = 10 * time.Minute
)

// receiveSignals handles the signals that arrived. The loop calls it between steps and while it
// waits.
func (r *reconciler) receiveSignals(ctx workflow.Context) {
	r.receiveWakes(ctx)
	r.receiveReports(ctx)
}

// receiveWakes handles the wakes: another resource changed, so a blocked resource tries again and
// does not use readings from before the change.
func (r *reconciler) receiveWakes(ctx workflow.Context) {
	for {
		var in WakeInput
		if !r.wakes.ReceiveAsync(&in) {
			return
		}
		r.wake(ctx, in)
	}
}

func (r *reconciler) wake(ctx workflow.Context, in WakeInput) {
	if in.ID.Equal(r.state.Desired.ID) {
		r.noteGrant(ctx, in)
		return
	}
	change := activities.Change(in)
	change.Trace = ""
	if !r.state.noteChange(change) {
		return
	}
	r.state.Wait.BlockedBy = slices.DeleteFunc(slices.Clone(r.state.Wait.BlockedBy), in.ID.Equal)
	switch s := r.state; {
	case s.Phase == PhaseReady && s.Deletion == nil && !r.inPass:
	case r.inPass && in.State == stateReady && s.Deletion == nil && len(s.Desired.References) == 0:
		r.becameReady = &in
	default:
		r.requestWoken(ctx, in)
	}
}

// requestUnlessReady requests a pass for a wake that came during the last one, if that ended with a
// resource that is not Ready. The pass may have found the other resource Ready before the wake came.
func (r *reconciler) requestUnlessReady(ctx workflow.Context) {
	if in := r.becameReady; in != nil && !r.state.Condition.Ready {
		r.requestWoken(ctx, *in)
	}
	r.becameReady = nil
}

// requestWoken requests a pass because another resource changed.
func (r *reconciler) requestWoken(ctx workflow.Context, in WakeInput) {
	r.state.noteRequest(WakeSignal, tracing.Parent{Traceparent: in.Trace})
	r.requestPass(ctx, WakeSignal, in.ID.Short()+" is "+in.State)
}

// noteChange records that another resource changed. It returns false for a change that
// is known already.
func (s *State) noteChange(next activities.Change) bool {
	for i, known := range s.Changes {
		if known.ID.Equal(next.ID) {
			if !next.At.After(known.At) {
				return false
			}
			s.Changes = append(s.Changes[:i:i], s.Changes[i+1:]...)
			break
		}
	}
	s.Changes = append(s.Changes, next)
	if extra := len(s.Changes) - maxChanges; extra > 0 {
		s.Changes = append([]activities.Change(nil), s.Changes[extra:]...)
	}
	return true
}

// dropOldChanges drops the changes that are older than any reading that a worker keeps.
// Their times and now are the server's.
func (s *State) dropOldChanges(now time.Time) {
	s.Changes = slices.DeleteFunc(slices.Clone(s.Changes), func(c activities.Change) bool { return now.Sub(c.At) > maxChangeAge })
}
