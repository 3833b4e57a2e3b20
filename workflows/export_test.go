package workflows

import (
	"slices"

	"github.com/armature-io/armature/resource"
	"go.temporal.io/sdk/workflow"
)

// Altered are workflows whose pass differs from the real one by one step.
func Altered() map[string]func(workflow.Context, ReconcileResourceInput) (*Status, error) {
	altered := map[string]func(workflow.Context, ReconcileResourceInput) (*Status, error){}
	for name, change := range map[string]func([]step) []step{
		"owner check left out": func(s []step) []step { return slices.Delete(s, 0, 1) },
		"read left out":        func(s []step) []step { return slices.Delete(s, 1, 2) },
		"post-check left out":  func(s []step) []step { return slices.Delete(s, 4, 5) },
		"second read added":    func(s []step) []step { return slices.Insert(s, 2, s[1]) },
		"checks swapped":       func(s []step) []step { s[0], s[1] = s[1], s[0]; return s },
	} {
		altered[name] = func(ctx workflow.Context, input ReconcileResourceInput) (*Status, error) {
			r := newReconciler(input)
			r.steps = func(r *reconciler) []step { return change(r.fiveSteps()) }
			return r.run(ctx)
		}
	}
	return altered
}

// VerdictOf returns the verdict of an activity that failed.
func VerdictOf(err error) resource.Verdict { return verdictOf(resource.Verdict{}, err) }
