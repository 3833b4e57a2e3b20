package extensions

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/armature-io/armature/internal/extensionshare"
	"github.com/armature-io/armature/resource"
)

// Require returns other resources in the order of their IDs, through the cache of the worker.
// A zero ID is not read, and its resource is nil. The error is NotYet while one of them is
// absent, changing, broken or busy, so that a check returns it as it is: the resource waits for
// all of them, and a change of one wakes it. ctx is that of the link.
func Require(ctx context.Context, ids ...resource.ID) ([]*resource.Object, error) {
	named := slices.DeleteFunc(slices.Clone(ids), resource.ID.IsZero)
	resolver, _ := extensionshare.Resolver(ctx).(Resolver)
	if resolver == nil && len(named) > 0 {
		return nil, errors.New("require resources: the context is not that of a link")
	}
	found, failed := make([]Resolution, len(ids)), make([]error, len(ids))
	var pending sync.WaitGroup
	for i, id := range ids {
		if !id.IsZero() {
			pending.Go(func() { found[i], failed[i] = resolver.Resolve(ctx, resource.Reference{ID: id}) })
		}
	}
	pending.Wait()
	objects := make([]*resource.Object, len(ids))
	var waits error
	for i, id := range ids {
		if failed[i] != nil {
			return nil, fmt.Errorf("read the required resource %s: %w", id.Short(), failed[i])
		}
		objects[i] = found[i].Object
		if reason, text := found[i].unready(); !id.IsZero() && text != "" && waits == nil {
			waits = NotYet(fmt.Sprintf("The resource %q (%s), which this check requires, %s", id.Short(), id.Type(), text), WithReason(reason), WithWaitingFor(named...))
		}
	}
	return objects, waits
}

// unready returns why a resource cannot be used yet, "" if it can.
func (r Resolution) unready() (resource.Reason, string) {
	switch {
	case !r.Found:
		return resource.ReasonReferenceNotFound, "does not exist in Azure"
	case r.Ready:
		return "", ""
	case r.Refusal != "":
		return resource.ReasonReferenceNotReady, "is not ready: " + r.Refusal
	}
	return resource.ReasonReferenceNotReady, fmt.Sprintf("is not ready: its provisioning state is %q", r.Object.ProvisioningState())
}
