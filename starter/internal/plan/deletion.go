package plan

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/starter/internal/backend"
)

// NameDeletions adds to each deletion what the applied manifest states about it. A
// resource whose workflow does not respond has no such text.
func (p Plan) NameDeletions(ctx context.Context, reader backend.Reader) {
	for i, c := range p.Resources {
		if c.Action != activities.PlanDelete || c.Message != "" {
			continue
		}
		status, err := reader.Status(ctx, c.ID.WorkflowID())
		switch _, silent := errors.AsType[*backend.NoWorkerError](err); {
		case silent:
			return
		case err == nil:
			p.Resources[i].Message = strings.TrimPrefix(DeletionText(status.Deletion), "; ")
		}
	}
}

// DeletionText returns what a manifest adds to a deletion, "" for nothing.
func DeletionText(d *resource.Deletion) string {
	if d == nil {
		return ""
	}
	var parts []string
	if len(d.Query) > 0 {
		var parameters []string
		for _, name := range slices.Sorted(maps.Keys(d.Query)) {
			parameters = append(parameters, name+"="+d.Query[name])
		}
		parts = append(parts, "the DELETE is sent with "+strings.Join(parameters, "&"))
	}
	if d.Purge {
		parts = append(parts, "then it is purged, and nothing restores it")
	}
	if len(parts) == 0 {
		return ""
	}
	return "; " + strings.Join(parts, "; ") + " (reconcile.delete)"
}
