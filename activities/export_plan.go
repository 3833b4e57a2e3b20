package activities

import (
	"context"

	"github.com/armature-io/armature/resource"
)

// PlannedExport is what a pass would do to a secret. It has no value.
type PlannedExport struct {
	To string `json:"to"`
	// Change is write, tag, leave, refused, or "" where nothing differs.
	Change string `json:"change,omitempty"`
	// Why is the reason of the change, or of the refusal.
	Why string `json:"why,omitempty"`
}

// The changes of a PlannedExport.
const (
	PlannedExportWrite   = string(exportWrite)
	PlannedExportTag     = string(exportTag)
	PlannedExportLeave   = string(exportLeave)
	PlannedExportRefused = "refused"
)

// planExports returns what a pass would do to the secrets of a resource. Before a resource
// exists, only what forbids an export is known.
func (p *planning) planExports(ctx context.Context, observed map[string]any) []PlannedExport {
	var planned []PlannedExport
	e := &exporting{
		Activities: p.Activities, desired: p.in.Desired, keysDisabled: keysDisabled(observed),
		source: newExportSource(p.Activities, p.in.Desired), failed: func() int { return maxTransientErrors },
	}
	for _, export := range p.in.Desired.Exporting() {
		planned = append(planned, e.plan(ctx, export, observed != nil))
	}
	return planned
}

// plan compares one export and writes nothing.
func (e *exporting) plan(ctx context.Context, export resource.Export, exists bool) PlannedExport {
	planned := PlannedExport{To: export.To}
	refuse := func(stop resource.Verdict) PlannedExport {
		planned.Change, planned.Why = PlannedExportRefused, string(stop.Reason)+": "+stop.Message
		return planned
	}
	if !exists {
		if _, stop := e.checkExport(ctx, export); stop != nil {
			return refuse(*stop)
		}
		planned.Change, planned.Why = PlannedExportWrite, "once the resource exists, where its value differs"
		return planned
	}
	d, stop, err := e.compare(ctx, export, Exported{})
	switch {
	case err != nil:
		planned.Change, planned.Why = PlannedExportRefused, "not known: "+err.Error()
		return planned
	case stop != nil:
		return refuse(*stop)
	}
	planned.Change, planned.Why = string(d.change), d.why
	if d.change == exportWrite && d.stored != nil {
		planned.Why = "the secret has another value"
	}
	return planned
}
