package importer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/starter/internal/backend"
	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/armature-io/armature/workflows"
)

// maxParallelReads bounds concurrent reads.
const maxParallelReads = 16

// Reads are the reads of an import.
type Reads struct {
	From interface {
		Import(ctx context.Context, workflowID string, in activities.ImportResourceInput) (activities.ImportResourceResult, error)
	}
	// Credential and APIVersion are those of the user, "" for none.
	Credential, APIVersion string
	// Note prints one sentence about a resource that has no manifest.
	Note func(format string, args ...any)
	// Named returns an error with the resource that it is about.
	Named func(name string, err error) error
}

// All reads the inputs and, level by level, their children; each resource once. failures
// is the number of those that could not be read.
func (r Reads) All(ctx context.Context, inputs []activities.ImportResourceInput) (found []activities.ImportResourceResult, failures int, err error) {
	known := map[string]bool{}
	run, number := backend.NewRunID(workflows.ImportIDPrefix), 0
	for len(inputs) > 0 {
		inputs = slices.DeleteFunc(inputs, func(in activities.ImportResourceInput) bool {
			repeated := known[in.ID.Key()]
			known[in.ID.Key()] = true
			return repeated
		})
		results := make([]activities.ImportResourceResult, len(inputs))
		err := backend.ForEach(ctx, len(inputs), maxParallelReads, func(ctx context.Context, i int) error {
			var err error
			inputs[i].Credential = r.Credential
			results[i], err = r.From.Import(ctx, fmt.Sprintf("%s:%d", run, number+i+1), inputs[i])
			if err == nil && !results[i].ID.Equal(inputs[i].ID) {
				err = cli.Failed("the worker read %s instead; nothing of it was imported", results[i].ID)
			}
			return r.Named(cli.KindAndName(inputs[i].ID), err)
		})
		switch {
		case errors.Is(err, backend.ErrInterrupted):
			return nil, 0, cli.Failed("interrupted; an import changes nothing")
		case err != nil:
			return nil, 0, err
		}
		number += len(inputs)
		inputs = nil
		for _, result := range results {
			switch {
			case result.Verdict.Stops():
				failures++
				r.Note("%s  %s", cli.KindAndName(result.ID), cli.OneLine(string(result.Verdict.Reason)+": "+result.Verdict.Message))
			case result.Skipped != "":
				r.Note("%s  skipped: %s", cli.KindAndName(result.ID), cli.OneLine(result.Skipped))
			default:
				found = append(found, result)
			}
			for _, child := range result.Children {
				inputs = append(inputs, activities.ImportResourceInput{ID: child, APIVersion: cmp.Or(result.ChildAPIVersion, r.APIVersion), Children: true})
			}
		}
	}
	return found, failures, nil
}
