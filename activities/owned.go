package activities

import (
	"cmp"
	"context"
	"slices"

	"github.com/armature-io/armature/drift"
	"github.com/armature-io/armature/internal/extensionhost"
	"github.com/armature-io/armature/resource"
)

// addOwners adds the owners of values that another resource moves, for example an autoscale
// setting the capacity of its target. It asks Azure only if such a value differs. If the list
// of settings cannot be read, the value counts as owned: it stays.
func (m *requestMaker) addOwners(ctx context.Context, request *extensionhost.Request) {
	request.Owners = nil
	if !request.Object.Exists() {
		return
	}
	request.Owners = request.Facts.SettingOwners(func(sw drift.Switch) string {
		if !slices.ContainsFunc(sw.Values, func(path string) bool {
			return drift.Differs(request.Object.Desired, request.Object.Observed, path)
		}) {
			return ""
		}
		by, err := m.settingOf(ctx, sw.Setting, request.Object.ID)
		if err != nil {
			return sw.Setting + ", whose list cannot be read"
		}
		return by
	})
}

// settingOf returns the name of the setting of a type with a resource as its target, "" if there
// is none.
func (m *requestMaker) settingOf(ctx context.Context, settingType string, target resource.ID) (string, error) {
	name, err := m.lookup.Setting(ctx, settingType, target)
	if name == "" || err != nil {
		return "", err
	}
	return cmp.Or(m.registry.Facts(settingType).Name, settingType) + " " + name, nil
}

// mixesItems reports whether the body of a correction has items of other tools in a list of the
// manifest.
func (p *put) mixesItems() bool {
	return drift.Compare(p.request.Object.Desired, p.masked, p.request.Comparison()).HoldsItems
}

// ownersMoved reads the resource again after Azure refused a PUT with values of other owners, once
// in a step. It reports whether an owner moved a value meanwhile: the PUT is worth another try.
// A result ends the step.
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
