package writing

import (
	"errors"
	"fmt"

	"github.com/armature-io/armature/resource"
)

// A request to Temporal that a check of a write needs fails with one of these errors, if
// Temporal gave no answer.
var (
	ErrTemporalSlow        = errors.New("the Temporal server did not answer in time")
	ErrTemporalUnavailable = errors.New("the Temporal server cannot be reached")
)

// Unanswered returns the verdict that stops a write because a question to Temporal has no
// answer. Temporal is seldom away for long, so the next try comes soon.
func Unanswered(question string, err error) resource.Verdict {
	reason := resource.ReasonCheckFailed
	switch {
	case errors.Is(err, ErrTemporalSlow):
		reason = resource.ReasonTemporalSlow
	case errors.Is(err, ErrTemporalUnavailable):
		reason = resource.ReasonTemporalUnavailable
	}
	return resource.Fail(reason, reason.Class(), fmt.Sprintf("%s, so nothing is written: %v", question, err))
}
