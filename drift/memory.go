package drift

// Memory is what stayed different after the last good PUT.
type Memory struct {
	APIVersion string           `json:"apiVersion,omitempty"`
	Baseline   map[string]Entry `json:"baseline,omitempty"`
}

// Entry is one path.
type Entry struct {
	Desired  string `json:"desired"`
	Observed string `json:"observed"`
	NotTaken bool   `json:"notTaken,omitempty"`
}

// Remember x.
func Remember(desired, observed map[string]any, opts Options) Memory { return Memory{} }
