package drift_test

import (
	"sync"

	"github.com/armature-io/armature/drift"
	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/extensions/azure"
)

var builtIn = sync.OnceValues(func() (*extensions.Registry, error) { return extensions.New(azure.BuiltIn()...) })

// factsOf returns the facts of a type that ship with Armature.
func factsOf(resourceType string) drift.Facts {
	registry, err := builtIn()
	if err != nil {
		return drift.Facts{} // the tests of extensions/azure report it
	}
	return registry.Facts(resourceType).Comparison
}
