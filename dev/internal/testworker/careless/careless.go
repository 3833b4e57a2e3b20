// Package careless is an extension that does with secrets what its author should not: it logs
// the payload of a PUT, and panics, fails and blocks with it.
package careless

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/resource"
)

// Variable is the environment variable that adds the extension.
const Variable = "TESTWORKER_CARELESS"

// Type is the type of its resources.
const Type = "Microsoft.Example/gadgets"

// Names of resources, by what happens before their PUT. Others are only logged.
const (
	Panics = "gadget-panics"
	Fails  = "gadget-fails"
	Blocks = "gadget-blocks"
)

// Link is the extension.
type Link struct{}

// ModifyARMResource shows the payload.
func (Link) ModifyARMResource(
	ctx context.Context, payload map[string]any, obj, owner *resource.Object, resolver extensions.Resolver,
	client extensions.ARMClient, log *slog.Logger, next extensions.ARMResourceModifierFunc,
) (map[string]any, error) {
	text := fmt.Sprintf("careless %s: %v", obj.ID.Name(), payload["properties"])
	log.InfoContext(ctx, text, "payload", payload)
	switch obj.ID.Name() {
	case Panics:
		panic(text) //nolint:forbidigo // what the test is about
	case Fails:
		return nil, errors.New(text)
	case Blocks:
		return nil, extensions.NotYet(text)
	}
	return next(ctx, payload, obj, owner, resolver, client, log)
}
