package plan

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/starter/internal/backend"
)

// driftTitle begins the summary of a comparison.
const driftTitle = "Drift: "

// maxParallelReads bounds concurrent queries and dry runs.
const maxParallelReads = 16

// Recorded reads what Temporal records about resources and runs dry runs of it.
type Recorded interface {
	Memory(ctx context.Context, workflowID string) (activities.WorkflowMemory, error)
	Plan(ctx context.Context, workflowID string, in activities.PlanResourceInput) (activities.PlanResourceResult, error)
}

// Drift compares managed resources with Azure, each with the spec that its workflow
// records. The workflow IDs of its dry runs begin with run. One that cannot be compared is
// an error in the plan; without a worker, Drift fails.
func Drift(ctx context.Context, from Recorded, records []backend.Record, run string) (Plan, error) {
	records = slices.SortedFunc(slices.Values(records), func(a, b backend.Record) int { return cmp.Compare(a.ID.Key(), b.ID.Key()) })
	known := map[string]bool{}
	for _, r := range records {
		known[r.ID.Key()] = true
	}
	desired := make([]resource.Desired, len(records))
	results := make([]activities.PlanResourceResult, len(records))
	err := backend.ForEach(ctx, len(records), maxParallelReads, func(ctx context.Context, i int) error {
		desired[i] = resource.Desired{ID: records[i].ID, Name: records[i].Name}
		if records[i].Unreadable != "" {
			results[i] = activities.PlanResourceResult{Action: activities.PlanError, Reason: resource.ReasonCheckFailed, Message: records[i].Unreadable}
			return nil
		}
		memory, err := from.Memory(ctx, records[i].WorkflowID)
		if err == nil && memory.Desired == nil {
			err = errors.New("its workflow returns no spec; is the worker older than this armature?")
		}
		if err == nil {
			desired[i] = *memory.Desired
			results[i], err = from.Plan(ctx, fmt.Sprintf("%s:%d", run, i+1), activities.PlanResourceInput{
				Desired:  desired[i],
				Together: slices.DeleteFunc(desired[i].Needs(), func(id resource.ID) bool { return !known[id.Key()] }),
			})
		}
		if _, ok := errors.AsType[*backend.NoWorkerError](err); ok {
			return err
		}
		if err != nil {
			results[i] = activities.PlanResourceResult{Action: activities.PlanError, Reason: resource.ReasonCheckFailed, Message: err.Error(), APIVersion: records[i].APIVersion}
		}
		if results[i].Reason == resource.ReasonDriftDetected {
			results[i].Action, results[i].Held = activities.PlanUpdate, "policy observe: it is reported only"
		}
		return nil
	})
	p := New(desired, results, nil, Consent{})
	p.title = driftTitle
	p.Resources = slices.DeleteFunc(p.Resources, func(c Row) bool {
		ended := !c.Managed && c.Action != activities.PlanError // since it was listed
		if ended {
			p.Summary[c.Action]--
		}
		return ended
	})
	return p, err
}
