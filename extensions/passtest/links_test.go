package passtest_test

import (
	"context"
	"fmt"
	"log/slog"
	"testing"

	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/resource"
)

const (
	group     = "/subscriptions/11111111-2222-3333-4444-555555555555/resourceGroups/rg1"
	thing     = group + "/providers/Contoso.Things/things/t1"
	peer      = group + "/providers/Contoso.Things/peers/p1"
	thingType = "Contoso.Things/things"

	updating  = `{"properties": {"provisioningState": "Updating"}}`
	succeeded = `{"properties": {"provisioningState": "Succeeded"}}`
)

// manifest returns the manifest of the thing with a size.
func manifest(size int) string {
	return fmt.Sprintf("type: %s@2023-01-01\nname: t1\nowner: %s\nbody: {location: westus2, properties: {size: %d}}\n", thingType, group, size)
}

func own(link any) extensions.Entry { return extensions.Entry{Type: thingType, Link: link} }

// peerWaiter blocks while its peer is Updating, with a severity.
type peerWaiter struct{ severity resource.Severity }

func (p peerWaiter) PreReconcileCheck(ctx context.Context, obj, owner *resource.Object, resolver extensions.Resolver,
	client extensions.ARMClient, log *slog.Logger, next extensions.PreReconcileCheckFunc,
) (extensions.PreReconcileCheckResult, error) {
	id, err := resource.ParseID(peer)
	if err != nil {
		return extensions.PreReconcileCheckResult{}, err
	}
	found, err := resolver.Resolve(ctx, resource.Reference{ID: id, APIVersion: "2023-01-01"})
	if err != nil {
		return extensions.PreReconcileCheckResult{}, err
	}
	if state := found.Object.ProvisioningState(); state == "Updating" && !extensions.Forced(ctx) {
		options := []extensions.Option{extensions.WithWaitingFor(id)}
		if p.severity != resource.SeverityNone {
			options = append(options, extensions.WithSeverity(p.severity))
		}
		return extensions.BlockReconcile("Peer p1 is "+state, options...), nil
	}
	return next(ctx, obj, owner, resolver, client, log)
}

// approval is Ready once it is approved.
type approval struct{}

func (approval) PostReconcileCheck(ctx context.Context, obj, owner *resource.Object, resolver extensions.Resolver,
	client extensions.ARMClient, log *slog.Logger, next extensions.PostReconcileCheckFunc,
) (extensions.PostReconcileCheckResult, error) {
	if approved, _ := obj.At("properties.approved"); approved != true {
		return extensions.PostReconcileCheckResultFailure("The thing is not approved"), nil
	}
	return next(ctx, obj, owner, resolver, client, log)
}

// refuser refuses the manifest.
type refuser struct{}

func (refuser) PreReconcileCheck(context.Context, *resource.Object, *resource.Object, extensions.Resolver,
	extensions.ARMClient, *slog.Logger, extensions.PreReconcileCheckFunc,
) (extensions.PreReconcileCheckResult, error) {
	return extensions.BlockReconcile("Things have no size", extensions.WithReason("SizeRefused"), extensions.WithSeverity(resource.SeverityError)), nil
}

// stamper adds a property to the body.
type stamper struct{}

func (stamper) ModifyARMResource(ctx context.Context, payload map[string]any, obj, owner *resource.Object, resolver extensions.Resolver,
	client extensions.ARMClient, log *slog.Logger, next extensions.ARMResourceModifierFunc,
) (map[string]any, error) {
	if properties, ok := payload["properties"].(map[string]any); ok {
		properties["stamp"] = fmt.Sprintf("size %v", properties["size"])
	}
	return next(ctx, payload, obj, owner, resolver, client, log)
}

// final knows that one code is final.
type final struct{}

func (final) ClassifyError(ctx context.Context, err *arm.Error, obj *resource.Object, resolver extensions.Resolver, client extensions.ARMClient,
	log *slog.Logger, next extensions.ErrorClassifierFunc,
) (extensions.ErrorDetails, error) {
	details, failed := next(ctx, err, obj, resolver, client, log)
	if failed == nil && details.Code == "SizeIsFinal" {
		details.Class = resource.RetryNone
	}
	return details, failed
}

// emptier deletes a thing once it is emptied.
type emptier struct{}

func (emptier) Delete(ctx context.Context, obj *resource.Object, resolver extensions.Resolver, client extensions.ARMClient,
	log *slog.Logger, next extensions.DeleterFunc,
) error {
	response, err := client.Get(ctx, obj.ID, obj.APIVersion)
	if err != nil {
		return err
	}
	body, err := resource.DecodeBody(response.Body)
	if err != nil {
		return err
	}
	if emptied, _ := (&resource.Object{Observed: body}).At("properties.emptied"); emptied != true {
		return extensions.NotYet("The thing is not emptied")
	}
	return next(ctx, obj, resolver, client, log)
}

// panicking dereferences nil.
type panicking struct{}

func (panicking) PreReconcileOwnerCheck(context.Context, *resource.Object, extensions.Resolver, extensions.ARMClient,
	*slog.Logger, extensions.PreReconcileOwnerCheckFunc,
) (extensions.PreReconcileCheckResult, error) {
	var none *resource.Object
	return extensions.BlockReconcile(none.Freshness), nil
}

// failing ends a test with a text.
type failing struct {
	testing.TB
	text string
}

func (f *failing) Helper() {}

func (f *failing) Fatalf(format string, args ...any) {
	f.text = fmt.Sprintf(format, args...)
	panic(f)
}

// fatal returns the text with which a function ends its test.
func fatal(t *testing.T, run func(testing.TB)) (text string) {
	t.Helper()
	f := &failing{TB: t}
	defer func() {
		if value := recover(); value != nil && value != f {
			panic(value)
		}
		text = f.text
	}()
	run(f)
	return ""
}

// exporter writes what it sees into its peer once the thing is Ready.
type exporter struct{}

func (exporter) PostReconcileCheck(ctx context.Context, obj, owner *resource.Object, resolver extensions.Resolver,
	client extensions.ARMClient, log *slog.Logger, next extensions.PostReconcileCheckFunc,
) (extensions.PostReconcileCheckResult, error) {
	id, err := resource.ParseID(peer)
	if err != nil {
		return extensions.PostReconcileCheckResult{}, err
	}
	if _, err := client.Get(ctx, id, "2023-01-01"); err != nil {
		body := fmt.Appendf(nil, `{"location": "westus2", "properties": {"of": %q}}`, obj.ID.Name())
		if _, err := client.Put(ctx, id, "2023-01-01", body, arm.PutOptions{}); err != nil {
			return extensions.PostReconcileCheckResult{}, err
		}
	}
	return next(ctx, obj, owner, resolver, client, log)
}
