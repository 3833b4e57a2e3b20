package drift_test

import (
	"sync"

	"github.com/armature-io/armature/drift"
	"github.com/armature-io/armature/extensions/azure"
	"github.com/armature-io/armature/internal/extensionhost"
)

var builtIn = sync.OnceValues(func() (*extensionhost.Registry, error) { return extensionhost.New(azure.BuiltIn()...) })

// factsOf returns the facts of a type that ship with Armature.
func factsOf(resourceType string) drift.Facts {
	registry, err := builtIn()
	if err != nil {
		return drift.Facts{} // the tests of extensions/azure report it
	}
	return registry.Facts(resourceType).Comparison
}
