package cli

import (
	"cmp"
	"strings"

	"github.com/armature-io/armature/drift"
	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/extensions/azure"
	"github.com/armature-io/armature/manifest"
	"github.com/armature-io/armature/resource"
)

// TypeFacts returns the facts about a type for the validation of manifests.
func TypeFacts(resourceType string) manifest.Facts {
	stated := azure.FactsOf(resourceType)
	facts := manifest.Facts{Values: map[string][]string{}, ReadActions: stated.ReadActionNames(), Public: stated.Comparison.PublicPaths()}
	if len(stated.DeletesUnmanaged) > 0 {
		facts.DeletingMember = stated.DeletingMember
	}
	for _, values := range stated.Values {
		facts.Values[values.Path] = append(facts.Values[values.Path], values.Values...)
	}
	facts.Owned = func(owning manifest.Owning) []manifest.Owned { return ownedValues(stated, owning) }
	return facts
}

// ownedValues returns the values of a manifest that others move, by the rules of a pass.
func ownedValues(facts extensions.Facts, owning manifest.Owning) []manifest.Owned {
	options := drift.Options{Type: owning.Type, Facts: facts.Comparison, Enforce: owning.Decided}
	options.Owners = facts.Comparison.SettingOwners(func(sw drift.Switch) string {
		name := owning.Settings[strings.ToLower(sw.Setting)]
		if name == "" {
			return ""
		}
		return cmp.Or(azure.FactsOf(sw.Setting).Name, sw.Setting) + " " + name
	})
	var found []manifest.Owned
	for _, owned := range options.OwnedIn(owning.Body, owning.Owner) {
		path, err := resource.ParsePath(owned.Path)
		if err == nil {
			found = append(found, manifest.Owned{Path: path, By: owned.By, OnlyUp: owned.Kind == drift.SwitchAtLeast})
		}
	}
	options.Facts.Switches = nil
	for _, property := range facts.Comparison.Properties {
		if property.Release == "" {
			continue
		}
		prefix := strings.ToUpper(strings.TrimSuffix(property.Release, "*"))
		options.Owners = map[string]string{property.Path: "a release"}
		for _, owned := range options.OwnedIn(owning.Body, owning.Owner) {
			path, err := resource.ParsePath(owned.Path)
			value, _ := path.Get(owning.Body)
			if text, isText := value.(string); err == nil && isText && strings.HasPrefix(strings.ToUpper(text), prefix) {
				found = append(found, manifest.Owned{Path: path, Release: true})
			}
		}
	}
	return found
}
