package extensions

// Fixed describes a child that exists exactly as long as its parent: ARM accepts only some
// names for it, has no DELETE, or both.
type Fixed struct {
	// Names are the only ones that ARM accepts; empty means any.
	Names []string `yaml:"names"`
	// NoDelete is set if ARM has no DELETE.
	NoDelete bool   `yaml:"noDelete"`
	Source   Source `yaml:"source"`
}
