package workflows

import (
	"slices"

	"go.temporal.io/sdk/workflow"
)

// Altered are workflows whose pass differs from the real one by one step.
func Altered() map[string]func(workflow.Context, ReconcileResourceInput) (*Status, error) {
	altered := map[string]func(workflow.Context, ReconcileResourceInput) (*Status, error){}
	packer := newPacker()
	for name, change := range map[string]func([]step) []step{
		"owner check left out": func(s []step) []step { return slices.Delete(s, 0, 1) },
		"read left out":        func(s []step) []step { return slices.Delete(s, 1, 2) },
		"post-check left out":  func(s []step) []step { return slices.Delete(s, 4, 5) },
		"second read added":    func(s []step) []step { return slices.Insert(s, 2, s[1]) },
		"checks swapped":       func(s []step) []step { s[0], s[1] = s[1], s[0]; return s },
	} {
		altered[name] = func(ctx workflow.Context, input ReconcileResourceInput) (*Status, error) {
			r := start(ctx, input, packer)
			r.steps = func(r *reconciler) []step { return change(r.fiveSteps()) }
			return r.run(ctx)
		}
	}
	return altered
}

// PackedQuery answers with the bytes of a packed state, 0 for one that is not.
const PackedQuery = "packed"

// Watched is the workflow with a query for how its state is held.
func Watched() func(workflow.Context, ReconcileResourceInput) (*Status, error) {
	packer := newPacker()
	return func(ctx workflow.Context, input ReconcileResourceInput) (*Status, error) {
		r := start(ctx, input, packer)
		if err := workflow.SetQueryHandler(ctx, PackedQuery, func() (int, error) { return cap(r.packed.bytes), nil }); err != nil {
			return nil, err
		}
		return r.run(ctx)
	}
}

// Repacked is a state that was packed and unpacked.
func Repacked(state *State) (*State, error) {
	p, err := newPacker().pack(state)
	if err != nil {
		return nil, err
	}
	return newPacker().unpack(p)
}
