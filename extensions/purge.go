package extensions

import (
	"strings"

	"github.com/armature-io/armature/resource"
)

// Purge is the way to purge the deleted resource of a type that Azure keeps.
type Purge struct {
	// Parameter of the DELETE purges at once; "" if a request of its own follows.
	Parameter string `yaml:"parameter"`
	// Path is the path of the kept resource below its subscription, with {location},
	// {group} and {name}; APIVersion is the version for it.
	Path       string `yaml:"path"`
	APIVersion string `yaml:"apiVersion"`
	// Action is the POST that purges, "" for a DELETE.
	Action string `yaml:"action"`
	// Original is the property with the ID of the deleted resource, "" if the path has its
	// group and its name.
	Original string `yaml:"original"`
	Source   Source `yaml:"source"`
}

// Known reports whether the type has a way.
func (p Purge) Known() bool { return p != Purge{} }

// Kept returns the ID of the resource that Azure keeps of a deleted one. The error says that
// the way needs a location and there is none.
func (p Purge) Kept(id resource.ID, location string) (resource.ID, error) {
	location = strings.ToLower(strings.ReplaceAll(location, " ", ""))
	path := strings.NewReplacer("{location}", location, "{group}", id.ResourceGroup(), "{name}", id.Name()).Replace(p.Path)
	return resource.ParseID("/subscriptions/" + id.Subscription() + "/providers/" + path)
}
