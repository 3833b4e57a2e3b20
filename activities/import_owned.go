package activities

import (
	"context"
	"slices"
	"strings"

	"github.com/armature-io/armature/drift"
	"github.com/armature-io/armature/internal/extensionhost"
	"github.com/armature-io/armature/resource"
)

// withoutOwned returns a body for a new manifest without the values that belong to others:
// those of switches, power states, and versions that upgrades set. A manifest that states them
// as they happen to be would start a stopped resource, or take back an upgrade.
func (i *importRun) withoutOwned(ctx context.Context, request extensionhost.Request, body map[string]any) (map[string]any, []string) {
	desired := resource.Desired{ID: request.Object.ID, APIVersion: request.Object.APIVersion}
	if desired.ID.IsChild() && slices.ContainsFunc(request.Facts.Switches, func(sw drift.Switch) bool { return sw.Owner }) {
		desired.Owner, desired.OwnerAPIVersion = desired.ID.Owner(), desired.APIVersion
		i.addOwner(ctx, &request, desired)
	}
	var owner map[string]any
	if request.Owner.Exists() {
		owner = request.Owner.Observed
	}
	options := drift.Options{Type: desired.ID.Type(), ID: desired.ID, APIVersion: desired.APIVersion, Facts: request.Facts, Owners: i.importOwners(ctx, request, body)}
	body, left := options.WithoutOwned(body, owner)
	var texts []string
	for _, owned := range left {
		texts = append(texts, owned.String())
	}
	slices.Sort(texts)
	return body, texts[:min(len(texts), resource.MaxDifferences)]
}

// importOwners returns the owners of values by their paths, as far as the body has no switch of
// them. A list of settings that cannot be read leaves its values in the manifest.
func (i *importRun) importOwners(ctx context.Context, request extensionhost.Request, body map[string]any) map[string]string {
	owners := request.Facts.SettingOwners(func(sw drift.Switch) string {
		if !slices.ContainsFunc(sw.Values, func(path string) bool { return drift.Differs(body, nil, path) }) {
			return ""
		}
		by, _ := i.settingOf(ctx, sw.Setting, request.Object.ID)
		return by
	})
	lists := request.ChildLists
	for _, property := range request.Facts.Properties {
		switch {
		case property.Upgraded:
			owners[property.Path] = "the upgrades of its image"
		case property.Children:
			lists = append(lists, property.Path)
		}
	}
	for _, state := range i.registry.Facts(request.Object.ID.Type()).Stopped {
		const by = "its start and stop actions"
		owners[state.Path] = by
		for _, list := range lists {
			owners[list+"[*]."+state.Path] = by
			owners[list+"[*]."+strings.TrimPrefix(state.Path, "properties.")] = by
		}
	}
	return owners
}
