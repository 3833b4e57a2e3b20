package workflows

import (
	"fmt"
	"time"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/internal/audit"
	"github.com/armature-io/armature/internal/text"
	"go.temporal.io/sdk/workflow"
)

// recordInterval is the wait before freezes that could not be recorded are tried again.
const recordInterval = 30 * time.Second

// noteFreeze keeps a freeze for the audit trail. Its key is the same wherever it came from:
// the first one comes with the start of the run.
func (f *freezer) noteFreeze(ctx workflow.Context, freeze Freeze) {
	detail := selectorText(freeze.Selector)
	if freeze.Start != "" {
		detail += ", by the start " + freeze.Start
	}
	f.add(ctx, activities.UserRequest{
		Event: audit.EventFreeze, By: freeze.By, Reason: freeze.Reason, Sealed: freeze.Sealed, Selector: freeze.Selector, Text: detail,
		UpdateID: FreezeMessageID(freeze),
	})
}

// FreezeMessageID returns the ID of the message that set a freeze: an update, or the start
// of the workflow.
func FreezeMessageID(freeze Freeze) string {
	return freeze.Selector + "@" + freeze.Since.UTC().Format(time.RFC3339Nano)
}

// noteFirst keeps the freezes with which a run started that continues no other.
func (f *freezer) noteFirst(ctx workflow.Context) {
	if workflow.GetInfo(ctx).ContinuedExecutionRunID != "" {
		return
	}
	for _, freeze := range f.Frozen {
		f.noteFreeze(ctx, freeze)
	}
}

// record passes the requests to a worker.
func (f *freezer) record(ctx workflow.Context) {
	if len(f.Requests) > 0 {
		f.send(checkOptions(ctx, "record who froze what"), nil)
	}
}

// nextTimer returns the duration of the next timer and its summary.
func (f *freezer) nextTimer() (time.Duration, string) {
	if len(f.Requests) > 0 {
		return recordInterval, "waiting for the audit trail"
	}
	first := f.Frozen[0]
	return longWait, fmt.Sprintf("frozen: %s since %s", selectorText(first.Selector), text.Time(first.Since))
}
