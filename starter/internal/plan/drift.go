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

// Planner runs dry runs.
type Planner interface {
	Plan(ctx context.Context, workflowID string, in activities.PlanResourceInput) (activities.PlanResourceResult, error)
}

// Drift compares managed resources with Azure, each with the spec that its workflow
// records. The workflow IDs of its dry runs begin with run. One that cannot be compared is
// an error in the plan; without a worker, Drift fails.
func Drift(ctx context.Context, from Planner, records []backend.Record, run string) (Plan, error) {
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
		var err error
		results[i], err = driftOf(ctx, from, fmt.Sprintf("%s:%d", run, i+1), records[i].ID, known)
		if recorded := results[i].Recorded; recorded != nil {
			desired[i] = *recorded
		}
		if _, ok := errors.AsType[*backend.NoWorkerError](err); ok {
			return err
		}
		if err != nil {
			results[i] = activities.PlanResourceResult{Action: activities.PlanError, Reason: resource.ReasonCheckFailed, Message: err.Error(), APIVersion: records[i].APIVersion}
		}
		if results[i].Reason == resource.ReasonDriftDetected {
			results[i].Action = activities.PlanUpdate
			results[i].Held = cmp.Or(results[i].Observed, "policy "+string(resource.PolicyObserve)) + ": it is reported only"
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

// driftOf compares one resource. What it needs and lacks in Azure does not block it if known
// has that too: it is compared again as if that were created first.
func driftOf(ctx context.Context, from Planner, run string, id resource.ID, known map[string]bool) (activities.PlanResourceResult, error) {
	in := activities.PlanResourceInput{Desired: resource.Desired{ID: id}}
	for try := 1; ; try++ {
		result, err := from.Plan(ctx, fmt.Sprintf("%s:%d", run, try), in)
		absent := slices.DeleteFunc(slices.Clone(result.WaitingFor), func(id resource.ID) bool {
			return !known[id.Key()] || slices.ContainsFunc(in.Together, id.Equal)
		})
		if err != nil || result.Action != activities.PlanBlocked || len(absent) == 0 {
			return result, err
		}
		in.Together = append(in.Together, absent...)
	}
}
