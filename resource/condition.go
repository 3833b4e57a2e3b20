package resource

import "time"

// Condition is the Ready condition of a resource.
type Condition struct {
	Ready    bool     `json:"ready"`
	Severity Severity `json:"severity,omitempty"`
	Reason   Reason   `json:"reason"`
	Message  string   `json:"message,omitempty"`
	// Origin is the extension that made the verdict behind the condition, as in
	// Verdict.Origin.
	Origin string `json:"origin,omitempty"`
	// Actor has to act before a resource that is not Ready can become Ready, "" where
	// time may be enough.
	Actor string `json:"actor,omitempty"`
	// ObservedGeneration is the generation of the spec that the condition
	// describes.
	ObservedGeneration int64 `json:"observedGeneration"`
	// LastTransitionTime is the time at which Ready, Severity or Reason last
	// changed.
	LastTransitionTime time.Time `json:"lastTransitionTime"`
}

// Set replaces the condition and updates LastTransitionTime only if Ready, Severity
// or Reason changed.
func (c *Condition) Set(next Condition, now time.Time) {
	next.LastTransitionTime = now
	if c.Ready == next.Ready && c.Severity == next.Severity && c.Reason == next.Reason && !c.LastTransitionTime.IsZero() {
		next.LastTransitionTime = c.LastTransitionTime
	}
	*c = next
}
