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

// TemporalReason returns the reason of ErrTemporalSlow or ErrTemporalUnavailable, and whether err
// is one of them.
func TemporalReason(err error) (resource.Reason, bool) {
	switch {
	case errors.Is(err, ErrTemporalSlow):
		return resource.ReasonTemporalSlow, true
	case errors.Is(err, ErrTemporalUnavailable):
		return resource.ReasonTemporalUnavailable, true
	}
	return "", false
}

// Unanswered returns the verdict that stops a write because a question to Temporal has no
// answer. The text says what cannot be asked, and what is not done. Temporal is seldom away for
// long, so the next try comes soon.
func Unanswered(text string, err error) resource.Verdict {
	reason, known := TemporalReason(err)
	if !known {
		reason = resource.ReasonCheckFailed
	}
	return resource.Fail(reason, reason.Class(), fmt.Sprintf("%s: %v", text, err))
}
