package activities

import (
	"context"
	"errors"
	"net/http"

	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/drift"
	"github.com/armature-io/armature/internal/jsontree"
	"github.com/armature-io/armature/resource"
)

// target returns the target of a spec, with the parts of which its body has a value.
func (m *requestMaker) target(desired resource.Desired) resource.Target {
	target := desired.Target()
	target.Parts = m.statedParts(desired)
	return target
}

// statedParts returns the paths of the parts (drift.Part) of which the body of a spec has a value.
func (m *requestMaker) statedParts(desired resource.Desired) []string {
	facts := m.registry.Facts(desired.ID.Type()).Comparison
	if len(facts.Parts) == 0 {
		return nil
	}
	body, err := m.bodies.Decode("desired", desired.Body)
	if err != nil {
		return nil // the comparison reports it
	}
	var paths []string
	for _, part := range facts.StatedParts(body) {
		paths = append(paths, part.Path)
	}
	return paths
}

// complete adds the parts of the target to the body of a GET, and returns their paths. It leaves
// out a part whose request Azure refuses: a worker may lack the right to list secrets, and a
// read-only lock refuses each action. The error is transient.
func (m *requestMaker) complete(ctx context.Context, target resource.Target, body map[string]any) (completed []string, err error) {
	if len(target.Parts) == 0 {
		return nil, nil
	}
	stated := map[string]bool{}
	for _, path := range target.Parts {
		stated[path] = true
	}
	for _, part := range m.registry.Facts(target.ID.Type()).Comparison.Parts {
		if !stated[part.Path] {
			continue
		}
		properties, err := m.readPart(ctx, target, part)
		failure, refused := errors.AsType[*arm.Error](err)
		switch {
		case refused && failure.Status >= http.StatusBadRequest && failure.Status < http.StatusInternalServerError && failure.Class != arm.ClassThrottled:
			m.log.Info("a part of a resource cannot be read: it is not compared", "id", target.ID.String(), "part", part.Path, "status", failure.Status, "code", failure.Code)
		case err != nil:
			return nil, helper("its part "+part.Path+" cannot be read", err)
		default:
			part.Complete(body, properties)
			completed = append(completed, part.Path)
		}
	}
	return completed, nil
}

// readPart returns the properties of the child that is a part.
func (m *requestMaker) readPart(ctx context.Context, target resource.Target, part drift.Part) (map[string]any, error) {
	child, err := resource.ParseID(target.ID.String() + "/" + part.Child)
	if err != nil {
		return nil, err
	}
	var response arm.Response
	if part.Action == "" {
		response, err = m.client.Get(ctx, child, target.APIVersion)
	} else {
		var operation arm.Operation
		operation, err = m.client.Read(ctx, child, part.Action, target.APIVersion)
		response = operation.Response
	}
	if err != nil {
		return nil, err
	}
	body, err := resource.DecodeBody(response.Body)
	if err != nil {
		return nil, err
	}
	properties := jsontree.Object(body, "properties")
	if properties == nil {
		properties = map[string]any{}
	}
	return properties, nil
}
