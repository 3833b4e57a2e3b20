package extensions

// BlockingState is a property by which a resource reports that ARM refuses changes in
// it, where the provisioning state does not.
type BlockingState struct {
	// Path leads to the state, from the top of the resource.
	Path string `yaml:"path"`
	// States block, ignoring case. Settled, where it is set instead, are the only ones
	// that do not. With neither, the states of an operation in progress block
	// (resource.InFlight).
	States  []string `yaml:"states"`
	Settled []string `yaml:"settled"`
	Source  Source   `yaml:"source"`
}
