package extensions

// StateCheck blocks a pass in states of the resource, or of its owner.
type StateCheck struct {
	// Owner is set if the state is that of the owner of a child. The resource is left alone then, GET
	// included. A check of the resource itself is skipped in a forced pass.
	Owner bool `yaml:"owner"`
	// Path leads to the state. States block, ignoring case; Settled, if set instead, are the
	// only ones that do not. An absent state blocks nothing.
	Path    string   `yaml:"path"`
	States  []string `yaml:"states"`
	Settled []string `yaml:"settled"`
	// Message is the text of the block, with %q for the state.
	Message string `yaml:"message"`
	Source  Source `yaml:"source"`
}
