// Package peer is an extension that writes another resource: each point adds a tag with its
// name to it.
package peer

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"

	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/resource"
)

// Variable is the environment variable with the ID of the other resource.
const Variable = "TESTWORKER_PEER"

// apiVersion reads and writes the other resource.
const apiVersion = "2023-01-01"

// Type is the type of the resources whose checks write.
const Type = "Microsoft.Example/things"

// Link returns the extension.
func Link(id string) (any, error) {
	parsed, err := resource.ParseID(id)
	return link{parsed}, err
}

type link struct{ id resource.ID }

// add adds a tag, unless the resource has it.
func (l link) add(ctx context.Context, client extensions.ARMClient, point string) error {
	response, err := client.Get(ctx, l.id, apiVersion)
	if err != nil {
		return fmt.Errorf("read the peer: %w", err)
	}
	var body struct {
		Tags map[string]string `json:"tags"`
	}
	if err := json.Unmarshal(response.Body, &body); err != nil {
		return fmt.Errorf("decode the peer: %w", err)
	}
	if body.Tags[point] != "" {
		return nil
	}
	if body.Tags == nil {
		body.Tags = map[string]string{}
	}
	body.Tags[point] = "seen"
	patch, err := json.Marshal(map[string]any{"tags": body.Tags})
	if err != nil {
		return err
	}
	if _, err = client.Patch(ctx, l.id, apiVersion, patch, arm.PutOptions{}); err != nil {
		return fmt.Errorf("tag the peer: %w", err)
	}
	return nil
}

// PreReconcileCheck adds the tag "pre".
func (l link) PreReconcileCheck(
	ctx context.Context, obj, owner *resource.Object, resolver extensions.Resolver, client extensions.ARMClient, log *slog.Logger, next extensions.PreReconcileCheckFunc,
) (extensions.PreReconcileCheckResult, error) {
	if err := l.add(ctx, client, "pre"); err != nil {
		return extensions.PreReconcileCheckResult{}, err
	}
	return next(ctx, obj, owner, resolver, client, log)
}

// ModifyARMResource adds the tag "modify".
func (l link) ModifyARMResource(
	ctx context.Context, payload map[string]any, obj, owner *resource.Object, resolver extensions.Resolver, client extensions.ARMClient, log *slog.Logger, next extensions.ARMResourceModifierFunc,
) (map[string]any, error) {
	if err := l.add(ctx, client, "modify"); err != nil {
		return nil, err
	}
	return next(ctx, payload, obj, owner, resolver, client, log)
}

// HandleSuccess adds the tag "success".
func (l link) HandleSuccess(
	ctx context.Context, obj, owner *resource.Object, resolver extensions.Resolver, client extensions.ARMClient, log *slog.Logger, next extensions.SuccessHandlerFunc,
) error {
	if err := l.add(ctx, client, "success"); err != nil {
		return err
	}
	return next(ctx, obj, owner, resolver, client, log)
}
