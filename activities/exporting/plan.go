package exporting

import (
	"context"

	"github.com/armature-io/armature/resource"
)

// Planned is what a pass would do to a secret. It has no value.
type Planned struct {
	To string `json:"to"`
	// Change is write, tag, leave, refused, or "" where nothing differs.
	Change string `json:"change,omitempty"`
	// Why is the reason of the change, or of the refusal.
	Why string `json:"why,omitempty"`
}

// The changes of a Planned.
const (
	PlannedWrite   = string(write)
	PlannedTag     = string(tag)
	PlannedLeave   = string(leave)
	PlannedRefused = "refused"
)

// Plan compares one export and writes nothing.
func (e *Exporter) Plan(ctx context.Context, export resource.Export, exists bool) Planned {
	planned := Planned{To: export.To}
	refuse := func(stop resource.Verdict) Planned {
		planned.Change, planned.Why = PlannedRefused, string(stop.Reason)+": "+stop.Message
		return planned
	}
	if !exists {
		if _, stop := e.checkExport(ctx, export); stop != nil {
			return refuse(*stop)
		}
		planned.Change, planned.Why = PlannedWrite, "once the resource exists, where its value differs"
		return planned
	}
	d, stop, err := e.compare(ctx, export, Exported{})
	switch {
	case err != nil:
		planned.Change, planned.Why = PlannedRefused, "not known: "+err.Error()
		return planned
	case stop != nil:
		return refuse(*stop)
	}
	planned.Change, planned.Why = string(d.change), d.why
	if d.change == write && d.stored != nil {
		planned.Why = "the secret has another value"
	}
	return planned
}
