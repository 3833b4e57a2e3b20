package extensiontest

import (
	"sync"

	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/extensions/azure"
	"github.com/armature-io/armature/internal/extensionhost"
)

// builtIn is the source of the facts that a worker has without extensions of its own, and of
// links behind the one under test.
type builtIn struct{ links []any }

// Links implements extensionhost.LinkSource.
func (b builtIn) Links(string) []any { return b.links }

// Facts implements extensionhost.FactSource.
func (builtIn) Facts(resourceType string) extensions.Facts { return azure.FactsOf(resourceType) }

// view shows bodies as a worker with the built-in facts does.
var view = sync.OnceValue(func() extensionhost.View {
	registry, err := extensionhost.New(extensions.Entry{Type: extensions.AllTypes, Link: builtIn{}})
	if err != nil {
		return extensionhost.View{}
	}
	return registry.View()
})
