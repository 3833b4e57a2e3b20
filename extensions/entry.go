package extensions

// AllTypes is the Type of an entry that applies to every resource.
const AllTypes = "*"

// Entry puts a link, facts about a type, or both into the registry.
type Entry struct {
	// Type is the ARM type in any case, or AllTypes. In an entry without a link it may also
	// be a pattern: Microsoft.Compute/* or */snapshots.
	Type string
	// Link implements one or more of the points. It may be nil in an entry that
	// only states facts.
	Link any
	// Facts are facts that the published shape of the type does not have.
	Facts Facts
	// Evidence is where the type was observed. With it, Warnings accepts a type that is not
	// published.
	Evidence string
}

// InlineList is a list in the body of a parent and the child types of its items.
type InlineList struct {
	// Path leads to the list, for example properties.subnets.
	Path string `yaml:"path"`
	// Types are relative to the parent, for example "subnets". They are a Family.
	Types []string `yaml:"types"`
	// KeptWhenOmitted marks a list that may be omitted in the body of a PUT
	// without deleting the children. One that the body contains is the whole list all the same.
	KeptWhenOmitted bool   `yaml:"keptWhenOmitted"`
	Source          Source `yaml:"source"`
}

// StoppedState is a value by which a resource reports that it was stopped.
type StoppedState struct {
	// Path leads to the state, from the top of the resource. A manifest that
	// sets this path decides itself, and the state has no effect.
	Path string `yaml:"path"`
	// State is compared ignoring case.
	State string `yaml:"state"`
	// Start completes "Start it ...", for example "with az kusto cluster start".
	Start string `yaml:"start"`
	// HoldsReferences blocks also what names the resource in $ref or dependsOn. Children
	// are always blocked.
	HoldsReferences bool   `yaml:"holdsReferences"`
	Source          Source `yaml:"source"`
}
