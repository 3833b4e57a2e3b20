package resource

import (
	"slices"
	"strings"
	"time"
)

// Action is the effect of a verdict on the pass.
type Action string

// The actions. Skip means "in sync: no PUT, the post-check runs"; Success and
// Failure are actions of the post-check.
const (
	ActionProceed Action = "Proceed"
	ActionSkip    Action = "Skip"
	ActionBlock   Action = "Block"
	ActionError   Action = "Error"
	ActionSuccess Action = "Success"
	ActionFailure Action = "Failure"
)

// Severity of a condition that is not Ready: Error stops the PUTs until an operator
// acts, Warning is retried, Info is normal progress.
type Severity string

// The severities; SeverityNone is the severity of Ready=True.
const (
	SeverityNone    Severity = ""
	SeverityInfo    Severity = "Info"
	SeverityWarning Severity = "Warning"
	SeverityError   Severity = "Error"
)

// RetryClass defines the delay before the next try.
type RetryClass string

// The classes: Fast 1 s to 30 s, Slow 1 s to 3 min, Woken 1 s to 30 min for a block that a
// wake ends, VerySlow the interval (at least 1 h), None the interval for reads, and no PUT
// until the spec changes, reconcile or resume. Package workflows defines the durations.
const (
	RetryFast     RetryClass = "Fast"
	RetrySlow     RetryClass = "Slow"
	RetryWoken    RetryClass = "Woken"
	RetryVerySlow RetryClass = "VerySlow"
	RetryNone     RetryClass = "None"
)

// Verdict is the decision of a step, in terms that a user understands. Every step
// returns one; verdicts are stored in histories.
type Verdict struct {
	Action   Action   `json:"action"`
	Reason   Reason   `json:"reason,omitempty"`
	Severity Severity `json:"severity,omitempty"`
	// Message states what happened, why, and what to do next; masked.
	Message string `json:"message,omitempty"`
	// Origin is the extension that made the verdict: "rule busy (busy.yaml:4)", or the
	// method of a Go type, "contoso.Busy.PreReconcileCheck". It is "" for Armature itself.
	Origin string `json:"origin,omitempty"`
	// Freshness is the age of the observation behind the message ("read 12s ago"), "" if it was
	// read for the verdict.
	Freshness string `json:"freshness,omitempty"`
	// Seen are the values that the condition of a rule read, or that a check in Go names, masked.
	Seen string `json:"seen,omitempty"`
	// Authorship is that of the change that the verdict is about. Unreported is set if no report is
	// known although a feed follows.
	Authorship
	Unreported bool `json:"unreported,omitempty"`
	// Class is the retry class of a Block, Failure or Error.
	Class RetryClass `json:"class,omitempty"`
	// Create is set on a Proceed, and on its report as DriftDetected, when the resource is absent.
	Create bool `json:"create,omitempty"`
	// Differences are the reasons for a PUT, at most MaxDifferences, masked.
	Differences []Difference `json:"differences,omitempty"`
	// More counts the differences beyond the bound.
	More int `json:"more,omitempty"`
	// Drops are paths that other writers set and the PUT removes, at most
	// MaxDifferences; MoreDrops counts those beyond the bound.
	Drops     []string `json:"drops,omitempty"`
	MoreDrops int      `json:"moreDrops,omitempty"`
	// WaitingFor are the resources that can lift a Block when they change.
	WaitingFor []ID `json:"waitingFor,omitempty"`
	// RequestID is ARM's x-ms-request-id of the decisive response.
	RequestID string `json:"requestID,omitempty"`
	// RetryAfter is the minimum delay before the next try, requested by ARM.
	RetryAfter time.Duration `json:"retryAfter,omitempty"`
	// RetryWithin is the maximum delay before the next try, 0 for the delay of the
	// class: a verdict from a cached reading is repeated when the reading expires.
	RetryWithin time.Duration `json:"retryWithin,omitempty"`
	// Actor has to act before the verdict can change; "" leaves the decision to the
	// reason and the class. Time does not end a state with an actor.
	Actor string `json:"actor,omitempty"`
	// RefusalDigest is a digest of ARM's code and message, without what varies between two
	// responses: refusals with the same digest repeat one another. It is "" where ARM
	// refused nothing, or something that ends by itself.
	RefusalDigest string `json:"refusalDigest,omitempty"`
}

// MaxDifferences is the maximum number of differences in a verdict: histories store
// them, and readers need no more.
const MaxDifferences = 20

// Difference is one path where observed differs from desired. Values are short
// texts for people, masked if secret, at most 120 characters; of longer ones both show
// where they begin to differ.
type Difference struct {
	Path     string `json:"path"`
	Desired  string `json:"desired"`
	Observed string `json:"observed"`
	// Rule is the rule of package drift that found it.
	Rule string `json:"rule,omitempty"`
	// Parts are the members that differ, at most MaxParts, where both values are texts that
	// contain JSON. MoreParts counts those beyond the bound.
	Parts     []DifferencePart `json:"parts,omitempty"`
	MoreParts int              `json:"moreParts,omitempty"`
}

// MaxParts is the maximum number of parts of a difference.
const MaxParts = 5

// DifferencePart is one member of a JSON document in a text. Its path is in the form of
// Path, from the root of the document, and "" for the whole.
type DifferencePart struct {
	Path     string `json:"path"`
	Desired  string `json:"desired"`
	Observed string `json:"observed"`
}

// Proceed returns the verdict that continues the pass.
func Proceed(message string) Verdict {
	return Verdict{Action: ActionProceed, Message: message}
}

// Block returns the verdict that waits and retries in the class of the reason.
func Block(reason Reason, message string) Verdict {
	return Verdict{Action: ActionBlock, Reason: reason, Severity: SeverityWarning, Message: message, Class: reason.Class()}
}

// Fail returns the verdict of a failed step, retried in the class.
func Fail(reason Reason, class RetryClass, message string) Verdict {
	severity := SeverityWarning
	if class == RetryNone {
		severity = SeverityError
	}
	return Verdict{Action: ActionError, Reason: reason, Severity: severity, Message: message, Class: class}
}

// Text returns the message with its Detail.
func (v Verdict) Text() string {
	if detail := v.Detail(); detail != "" {
		return v.Message + " (" + detail + ")"
	}
	return v.Message
}

// Detail returns the values, the author and the age of the observation behind the message.
func (v Verdict) Detail() string {
	known := slices.DeleteFunc([]string{v.Seen, v.author(), v.Freshness}, func(s string) bool { return s == "" })
	return strings.Join(known, "; ")
}

// WithAuthor returns the message with the author of the change that the verdict is about.
func (v Verdict) WithAuthor() string {
	if author := v.author(); author != "" {
		return v.Message + " (" + author + ")"
	}
	return v.Message
}

func (v Verdict) author() string {
	switch {
	case v.AuthorKnown():
		return v.AuthorText()
	case v.Unreported:
		return "Azure has not reported who changed it"
	}
	return ""
}

// Stops reports whether the pass ends with this verdict.
func (v Verdict) Stops() bool {
	switch v.Action {
	case ActionBlock, ActionError, ActionFailure:
		return true
	}
	return false
}
