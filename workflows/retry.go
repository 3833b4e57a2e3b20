package workflows

import (
	"fmt"
	"time"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/internal/text"
	"github.com/armature-io/armature/resource"
)

// Retry is what is known of the passes since the resource was last Ready or a user last
// requested one, and the next pass.
type Retry struct {
	// Attempts counts those passes, FailedPuts the PUTs that ARM accepted in them.
	Attempts   int `json:"attempts,omitempty"`
	FailedPuts int `json:"failedPuts,omitempty"`
	// Repeated is the reason with which the last pass ended early, and the number of passes
	// in a row that ended with it.
	Repeated activities.Repeated `json:"repeated,omitzero"`
	// NotReadySince and Overdue have the meaning of those in Status.
	NotReadySince time.Time `json:"notReadySince,omitzero"`
	Overdue       bool      `json:"overdue,omitempty"`
	// NextTry is an absolute time, so that the next run resumes the wait. Reason is the
	// summary of its timer.
	NextTry time.Time `json:"nextTry,omitzero"`
	Reason  string    `json:"reason,omitempty"`
	// Within is the longest time to the next try of a resource that is not Ready.
	Within time.Duration `json:"within,omitempty"`
}

// reset forgets the failures, for a resource that is Ready and for a request of a user. The
// next pass stays where it is.
func (r *Retry) reset() { *r = Retry{NextTry: r.NextTry, Reason: r.Reason, Within: r.Within} }

// resetClock lets the time until the resource is overdue begin anew.
func (r *Retry) resetClock() { r.NotReadySince, r.Overdue = time.Time{}, false }

// notReadyFor returns how long the resource has not been Ready; 0 while it is Ready.
func (r Retry) notReadyFor(now time.Time) time.Duration {
	if r.NotReadySince.IsZero() {
		return 0
	}
	return now.Sub(r.NotReadySince)
}

// fail records a pass that ended early.
func (r *Retry) fail(now time.Time, verdict resource.Verdict, overdue bool) {
	if r.NotReadySince.IsZero() {
		r.NotReadySince = now
	}
	r.Overdue = overdue
	if r.Repeated.Reason != verdict.Reason || r.Repeated.RefusalDigest != verdict.RefusalDigest {
		r.Repeated = activities.Repeated{Reason: verdict.Reason, RefusalDigest: verdict.RefusalDigest}
	}
	r.Repeated.Times++
}

// schedule sets the next try and the summary of its timer. A wait of zero means that
// only a message starts a pass, or a change of a resource in waitingFor.
func (r *Retry) schedule(now time.Time, wait time.Duration, why string, waitingFor []resource.ID) {
	r.NextTry, r.Reason = time.Time{}, why+"; waiting for apply, reconcile or resume"
	if len(waitingFor) > 0 {
		r.Reason += ", or for a change of " + waitingFor[0].Short()
	}
	switch {
	case wait == 0:
		return
	case r.Attempts == 0:
		r.Reason = why + ": next try in " + text.Duration(wait)
	default:
		r.Reason = fmt.Sprintf("%s; try %d", why, r.Attempts+1)
	}
	r.NextTry = now.Add(wait)
}
