package cli

import (
	"github.com/armature-io/armature/extensions/azure"
	"github.com/armature-io/armature/manifest"
)

// TypeFacts returns the facts about a type for the validation of manifests.
func TypeFacts(resourceType string) manifest.Facts {
	stated := azure.FactsOf(resourceType)
	facts := manifest.Facts{Values: map[string][]string{}, ReadActions: stated.ReadActionNames()}
	for _, values := range stated.Values {
		facts.Values[values.Path] = append(facts.Values[values.Path], values.Values...)
	}
	return facts
}
