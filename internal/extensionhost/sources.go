package extensionhost

import "github.com/armature-io/armature/extensions"

// LinkLister is a LinkSource or FactSource that can list what it has for all types. The
// Evidence of an entry without a link names it.
type LinkLister interface {
	ListEntries() []extensions.Entry
}

// FactSource returns facts about a type that may be replaced while the worker runs, such
// as those of rules.
type FactSource interface {
	Facts(resourceType string) extensions.Facts
}

// LinkSource returns links for a type that may be replaced while the worker runs,
// such as rules. Every step of a pass calls it and uses the result to its end.
type LinkSource interface {
	Links(resourceType string) []any
}

// InlineLister returns the lists of a type that contain child resources, as
// Facts.InlineLists does for one type. The registry calls it once for each type.
type InlineLister interface {
	InlineLists(resourceType string) []extensions.InlineList
}

// Fingerprinter is a LinkSource or FactSource with a fingerprint of what it has now.
type Fingerprinter interface {
	Fingerprint() string
}
