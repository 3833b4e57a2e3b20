package writing

import (
	"context"
	"fmt"
	"time"

	"github.com/armature-io/armature/internal/text"
	"github.com/armature-io/armature/resource"
)

// Freeze stops every PUT and DELETE of the resources that its selector matches.
type Freeze struct {
	Selector, By, Reason string
	Since                time.Time
}

// Freezer looks up freezes.
type Freezer interface {
	// Frozen returns the freeze that applies to a resource with such labels.
	Frozen(ctx context.Context, labels map[string]string) (Freeze, bool, error)
	// KnownFreeze is Frozen by the last list, without a request.
	KnownFreeze(labels map[string]string) (Freeze, bool)
}

// CheckFreeze returns the verdict that stops a write of a frozen resource, and every write
// of a read-only worker, nil where nothing does. A worker that cannot look up freezes sends
// nothing.
func (c Checks) CheckFreeze(ctx context.Context, desired resource.Desired) *resource.Verdict {
	if c.ReadOnly {
		return new(resource.Block(resource.ReasonReadOnly, "this worker is read-only (read-only in its configuration): "+
			"reads continue, nothing is written; a worker without it, on the same task queue, writes"))
	}
	freeze, frozen, err := c.Freezer.Frozen(ctx, desired.Labels)
	switch {
	case err != nil:
		return new(Unanswered(fmt.Sprintf("cannot look up freezes of %s in Temporal, so nothing is written", desired.ID.Short()), err))
	case !frozen:
		return nil
	}
	return frozenVerdict(freeze)
}

// frozenVerdict returns the verdict of a write that a freeze stops. A freeze needs no proof,
// so nothing verifies its author.
func frozenVerdict(freeze Freeze) *resource.Verdict {
	what, command := "everything", "armature unfreeze"
	if freeze.Selector != "" {
		what, command = "every resource with "+freeze.Selector, "armature unfreeze -l "+freeze.Selector
	}
	message := fmt.Sprintf("%s is frozen since %s", what, text.Time(freeze.Since))
	if freeze.By != "" {
		message = fmt.Sprintf("%s (unverified) froze %s at %s", freeze.By, what, text.Time(freeze.Since))
	}
	if freeze.Reason != "" {
		message += " (" + freeze.Reason + ")"
	}
	return new(resource.Block(resource.ReasonFrozen, message+": reads continue, nothing is written; to lift it, run "+command))
}
