package workflows

import (
	"fmt"
	"time"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/activities/exporting"
	"github.com/armature-io/armature/resource"
	"go.temporal.io/sdk/workflow"
)

// stepExport is the name of the step after the post-check.
const stepExport = "Export"

// passSteps returns the steps of a pass: five, and Export for a resource whose values are
// exported.
func (r *reconciler) passSteps() []step {
	steps := r.fiveSteps()
	if len(r.state.Desired.Exporting()) > 0 {
		steps = append(steps, step{stepExport, r.exportValues})
	}
	return steps
}

// exportValues writes values of the resource to key vaults. Where nothing is due, it has no
// command.
func (r *reconciler) exportValues(ctx workflow.Context, p *pass) resource.Verdict {
	due := r.dueExports(p, workflow.Now(ctx))
	if len(due) == 0 {
		return resource.Verdict{Action: resource.ActionSuccess}
	}
	var a *activities.Activities
	summary := fmt.Sprintf("export %d of %d values of %s", len(due), len(p.desired.Exports), p.desired.ID.Short())
	result, err := executeWrite(requestOptions(ctx, summary), r, a.ExportValues, activities.ExportValuesInput{
		Desired: p.desired, PassFacts: r.writeFacts(p), Newest: r.state.newerThan(p.generation),
		Due: due, Known: r.state.Exports.Known, KeysDisabled: p.post.KeysDisabled,
	})
	if err == nil {
		r.state.Exports.Known = result.Exports
	}
	verdict := verdictOf(result.Verdict, err)
	r.state.Exports.Generation = p.generation
	if verdict.Stops() {
		r.state.Exports.Generation = 0 // the next pass compares all of them
	}
	return verdict
}

// dueExports returns the positions of the exports that are compared in a pass: all of them
// after a PUT, after a change of the manifest, after a request of a user and while one of
// them fails, else those without an interval of their own and those whose interval is over.
// The result is part of the order of commands.
func (r *reconciler) dueExports(p *pass, now time.Time) []int {
	all := p.put.Sent || !p.request.At.IsZero() || r.state.Exports.Generation != p.generation
	var due []int
	for i, export := range p.desired.Exports {
		next, known := r.state.nextExport(export)
		if all || !known || export.Interval == 0 || !now.Before(next) {
			due = append(due, i)
		}
	}
	return due
}

// nextExport returns when an export with an interval of its own is compared next; it reports
// false for one that was never compared.
func (s *State) nextExport(export resource.Export) (time.Time, bool) {
	for _, known := range s.Exports.Known {
		if known.To == export.To && !known.ComparedAt.IsZero() {
			return known.ComparedAt.Add(export.Interval), true
		}
	}
	return time.Time{}, false
}

// untilExport shortens the wait of a Ready resource to the next comparison of an export. A
// wait of zero is none.
func (s *State) untilExport(wait time.Duration, now time.Time) time.Duration {
	for _, export := range s.Desired.Exporting() {
		if export.Interval == 0 {
			continue
		}
		next, known := s.nextExport(export)
		if left := max(next.Sub(now), time.Second); known && (wait == 0 || left < wait) {
			wait = left
		}
	}
	return wait
}

// exports returns what is known of the exports of the spec, in its order.
func (s *State) exports() []exporting.Exported {
	if s.Desired == nil {
		return nil
	}
	var shown []exporting.Exported
	for _, export := range s.Desired.Exports {
		one := exporting.Exported{To: export.To}
		for _, known := range s.Exports.Known {
			if known.To == export.To {
				one = known
			}
		}
		shown = append(shown, one)
	}
	return shown
}
