package drift

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/armature-io/armature/internal/jsontree"
	"github.com/armature-io/armature/resource"
)

// Facts are facts about a type for comparisons and bodies, which its published shape does not
// have. The caller knows them; drift has none of its own.
type Facts struct {
	// SharedLists are lists to which other controllers add items.
	SharedLists []SharedList `yaml:"sharedLists"`
	// Properties are facts about single properties.
	Properties []PropertyFact `yaml:"properties"`
	// Switches give values to other owners.
	Switches []Switch `yaml:"switches"`
	// Parts are what other requests than the GET of a resource return.
	Parts []Part `yaml:"parts"`
}

// SharedList is a list to which other controllers are known to add items, also when a
// manifest states it. A PUT keeps their items, and they are no difference.
type SharedList struct {
	// Paths lead to lists with the same writers, with any element: properties.a[*].b.
	Paths []string `yaml:"paths"`
	// Key identifies the items if the manifest's have no name or ID.
	Key string `yaml:"key"`
	// Tag is the tag by which the controller marks the resource, "" if it leaves none.
	Tag string `yaml:"tag"`
	// Item is a part of the key of each item that the controller adds, in lower case; "" if
	// other items are kept too.
	Item string `yaml:"item"`
	// Source is the page that names the controller.
	Source string `yaml:"source"`
}

// PropertyFact is a fact about one property of a type: a published default or a documented
// form. What is only observed often belongs in the baseline.
type PropertyFact struct {
	// Path leads to the property, with any element: properties.a[*].b.
	Path string `yaml:"path"`
	// Omitted is a default that the GET does not return.
	Omitted string `yaml:"omitted"`
	// OptionalPrefix may begin the desired value, ignoring case: the GET returns the rest.
	OptionalPrefix string `yaml:"optionalPrefix"`
	// WriteOnly is set if the GET never returns the property although the published shape
	// does not mark it.
	WriteOnly bool `yaml:"writeOnly"`
	// Children is set if the elements of the list are resources themselves.
	Children bool `yaml:"children"`
	// DropsUnknown is set if the service leaves out the items of the list that name no existing
	// resource.
	DropsUnknown bool `yaml:"dropsUnknown"`
	// Implied is the member and the value (priority=2147483647) of the item that the service
	// adds to the list by itself: it is no difference, and no PUT sends it.
	Implied string `yaml:"implied"`
	// OneShot is set if only a creation uses the property (one_shot.go).
	OneShot bool `yaml:"oneShot"`
	// Upgraded is set if upgrades outside of manifests set the value: an import leaves it out.
	Upgraded bool `yaml:"upgraded"`
	// Immutable is set if the service sets the value, and everything in it, only when it creates
	// the resource (immutable.go).
	Immutable bool `yaml:"immutable"`
	// Kept is set if the service keeps the value when a PUT to an existing resource omits it.
	Kept bool `yaml:"kept"`
	// AllOrNone is set if the service takes the member of items that are resources themselves in
	// all items or in none: a child that a PUT keeps lacks it if an item of the manifest does.
	AllOrNone bool `yaml:"allOrNone"`
	// Release begins the values that releases outside of manifests set, for example "DOCKER|";
	// "*" is any value.
	Release string `yaml:"release"`
	// Public is set if the value is no secret although its name says so: the proof of a domain,
	// which stands in the DNS.
	Public bool   `yaml:"public"`
	Source string `yaml:"source"`
}

// PublicPaths returns the paths of the properties that are Public.
func (f Facts) PublicPaths() []string {
	var paths []string
	for _, property := range f.Properties {
		if property.Public {
			paths = append(paths, property.Path)
		}
	}
	return paths
}

// is reports whether the fact is about a path.
func (f PropertyFact) is(path resource.Path) bool { return isPattern(f.Path, pattern(path)) }

// isPattern reports whether the path of a fact is one that pattern returns.
func isPattern(path, at string) bool {
	return strings.EqualFold(strings.ReplaceAll(path, "[*]", ".[]"), at)
}

// hasProperty reports whether a fact about a path has a form.
func (s *subject) hasProperty(path resource.Path, has func(PropertyFact) bool) bool {
	return slices.ContainsFunc(s.properties, func(f PropertyFact) bool { return has(f) && f.is(path) })
}

// isImplied reports whether the service adds an item to a list by itself.
func (s *subject) isImplied(list resource.Path, item any) bool {
	return len(s.properties) > 0 && s.hasProperty(list, func(f PropertyFact) bool {
		member, value, found := strings.Cut(f.Implied, "=")
		object, _ := item.(map[string]any)
		encoded, err := json.Marshal(jsontree.Value(object, member))
		return found && err == nil && string(encoded) == value
	})
}

// isAlias reports whether the type returns the value in another form.
func isAlias(p cursor) bool {
	if len(p.subject.properties) == 0 {
		return false
	}
	desired, observed, ok := texts(p)
	return ok && p.subject.hasProperty(p.path, func(f PropertyFact) bool {
		rest, found := strings.CutPrefix(strings.ToLower(desired), strings.ToLower(f.OptionalPrefix))
		return f.OptionalPrefix != "" && found && rest == observed
	})
}

// isOmittedDefault reports whether the value is a default of the type that the GET
// does not return.
func isOmittedDefault(p cursor) bool {
	text, isText := p.desired.(string)
	return isText && p.subject.hasProperty(p.path, func(f PropertyFact) bool { return f.Omitted != "" && strings.EqualFold(f.Omitted, text) })
}
