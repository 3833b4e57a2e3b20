package extensions

// ObservationTrimmer lists the paths of lists that no manifest contains and that
// can outgrow a history (2 MB). A pass does not see such a list if it has more than
// TrimAbove entries.
type ObservationTrimmer interface {
	TrimObserved() []string
}
