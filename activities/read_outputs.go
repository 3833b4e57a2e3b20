package activities

import (
	"context"

	"github.com/armature-io/armature/activities/lookup"
	"github.com/armature-io/armature/resource"
)

// readOutputs reads a managed resource and returns the values of its outputs, and the
// whole body with secrets masked if the input asks for it. It never returns a masked
// value as an output.
func (i *importRun) readOutputs(ctx context.Context, in ImportResourceInput) (ImportResourceResult, error) {
	spec := in.Managed.WithSecrets()
	result := ImportResourceResult{ID: spec.ID, APIVersion: spec.APIVersion}
	got, err := i.readExisting(ctx, spec.Target(), &result)
	if err != nil || result.Verdict.Stops() {
		return result, err
	}
	observed, err := resource.DecodeBody(got.Observed)
	if err != nil {
		return i.importFailed(ctx, result, err)
	}
	if in.Whole {
		result.Body = got.Observed
	}
	object := resource.Object{ID: spec.ID, Observed: observed}
	for name, path := range spec.Outputs {
		value, found := object.At(path)
		switch {
		case !found || value == nil:
			result.withhold(name, "Azure does not show "+path)
		case lookup.ContainsMask(value):
			result.withhold(name, path+" is a secret, which is no output")
		default:
			if result.Outputs == nil {
				result.Outputs = map[string]any{}
			}
			result.Outputs[name] = value
		}
	}
	return result, nil
}

// withhold states why an output has no value.
func (r *ImportResourceResult) withhold(name, why string) {
	if r.WithoutValue == nil {
		r.WithoutValue = map[string]string{}
	}
	r.WithoutValue[name] = why
}
