package activities

import (
	"cmp"
	"context"
	"slices"

	"github.com/armature-io/armature/drift"
	"github.com/armature-io/armature/internal/extensionhost"
)

// addOwners adds to a request who owns the values that other resources own, for example the
// capacity of the target of an autoscale setting. It asks only if such a value differs. A list
// that cannot be read keeps the value.
func (m *requestMaker) addOwners(ctx context.Context, request *extensionhost.Request) {
	request.Owners = nil
	if !request.Object.Exists() {
		return
	}
	for _, sw := range request.Facts.Switches {
		if sw.Setting == "" || !slices.ContainsFunc(sw.Values, func(path string) bool {
			return drift.Differs(request.Object.Desired, request.Object.Observed, path)
		}) {
			continue
		}
		by, err := m.lookup.Setting(ctx, sw.Setting, request.Object.ID)
		switch {
		case err != nil:
			by = sw.Setting + ", whose list cannot be read"
		case by != "":
			by = cmp.Or(m.registry.Facts(sw.Setting).Name, sw.Setting) + " " + by
		default:
			continue
		}
		if request.Owners == nil {
			request.Owners = map[string]string{}
		}
		for _, path := range sw.Values {
			request.Owners[path] = by
		}
	}
}

// mixesItems reports whether the body of a correction has items of others beside those of the
// manifest.
func (p *put) mixesItems() bool {
	return drift.Compare(p.request.Object.Desired, p.masked, p.request.Comparison()).HoldsItems
}

// ownersMoved reads the resource again, once, after a refused PUT that carried values of other
// owners. It reports whether an owner has moved one since; a result ends the step.
func (p *put) ownersMoved(ctx context.Context) (moved bool, result *PutResourceResult, err error) {
	owned, before := p.request.Comparison().Owned, p.request.Object.Observed
	if len(owned) == 0 || p.ownersRead {
		return false, nil, nil
	}
	p.ownersRead = true
	if result, err = p.reread(ctx); result != nil || err != nil || !p.request.Object.Exists() {
		return false, result, err
	}
	for _, value := range owned {
		moved = moved || drift.Differs(before, p.request.Object.Observed, value.Path)
	}
	return moved, nil, nil
}
