package backend

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/resource"
)

// maxParallelReads bounds concurrent reads.
const maxParallelReads = 16

// Output is the value of one output of a manifest. Secrets are masked by the worker.
type Output struct {
	// Name is the output, Resource where it comes from, and Path where it is there.
	Name     string
	Resource resource.ID
	Path     string
	// Output is nil if there is none; Problem then states why.
	Value   any
	Problem string
}

// SpecReader reads specs that Temporal records, and resources by them.
type SpecReader interface {
	Memory(ctx context.Context, workflowID string) (activities.WorkflowMemory, error)
	Import(ctx context.Context, workflowID string, in activities.ImportResourceInput) (activities.ImportResourceResult, error)
}

// ReadOutputs returns the outputs of managed resources by name, each read from Azure now. The
// workflow IDs of the reads begin with run. A resource without outputs is not read. The
// error is about Temporal or the workers, or about two outputs with one name.
func ReadOutputs(ctx context.Context, from SpecReader, records []Record, run string) ([]Output, error) {
	found := make([][]Output, len(records))
	err := ForEach(ctx, len(records), maxParallelReads, func(ctx context.Context, i int) error {
		memory, err := from.Memory(ctx, records[i].WorkflowID)
		if err != nil || memory.Desired == nil || len(memory.Desired.Outputs) == 0 {
			return err
		}
		found[i], err = readOutputs(ctx, from, *memory.Desired, fmt.Sprintf("%s:%d", run, i+1))
		return err
	})
	if err != nil {
		return nil, err
	}
	values := slices.Concat(found...)
	slices.SortFunc(values, func(a, b Output) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Resource.Key(), b.Resource.Key()))
	})
	for i := 1; i < len(values); i++ {
		if a, b := values[i-1], values[i]; a.Name == b.Name {
			return nil, fmt.Errorf("%s and %s both have an output %s; choose one of them with -l or by name", a.Resource.Short(), b.Resource.Short(), a.Name)
		}
	}
	return values, nil
}

// readOutputs returns the outputs of one resource.
func readOutputs(ctx context.Context, from SpecReader, spec resource.Desired, workflowID string) ([]Output, error) {
	result, err := from.Import(ctx, workflowID, activities.ImportResourceInput{ID: spec.ID, APIVersion: spec.APIVersion, Credential: spec.Credential, Managed: &spec})
	if _, ok := errors.AsType[*NoWorkerError](err); ok || errors.Is(err, ErrInterrupted) {
		return nil, err
	}
	var values []Output
	for name, path := range spec.Outputs {
		value := Output{Name: name, Resource: spec.ID, Path: path, Value: result.Outputs[name], Problem: result.WithoutValue[name]}
		switch {
		case err != nil:
			value.Problem = err.Error()
		case result.Verdict.Stops():
			value.Problem = string(result.Verdict.Reason) + ": " + result.Verdict.Message
		case value.Value == nil && value.Problem == "":
			value.Problem = "the worker returned nothing; is it older than this armature?"
		}
		values = append(values, value)
	}
	return values, nil
}

// maxBodies bounds the resources of which Bodies reads the body.
const maxBodies = 50

// ReadBodies returns what Azure shows of managed resources, with secrets masked, each read now;
// nil for one that cannot be read, and for all of too many.
func ReadBodies(ctx context.Context, from SpecReader, records []Record, run string) []json.RawMessage {
	bodies := make([]json.RawMessage, len(records))
	if len(records) > maxBodies {
		return bodies
	}
	// What is missing is not in the output: the rest of it needs no worker.
	_ = ForEach(ctx, len(records), maxParallelReads, func(ctx context.Context, i int) error {
		memory, err := from.Memory(ctx, records[i].WorkflowID)
		if err != nil || memory.Desired == nil {
			return nil
		}
		result, err := from.Import(ctx, fmt.Sprintf("%s:%d", run, i+1), activities.ImportResourceInput{ID: memory.Desired.ID, Managed: memory.Desired, Whole: true})
		if err == nil {
			bodies[i] = result.Body
		}
		return nil
	})
	return bodies
}
