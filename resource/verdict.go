package resource

import "time"

// Action is what a verdict tells the pass to do.
type Action string

// The actions. Skip means "in sync: no PUT, the post-check runs"; Success and
// Failure are the words of the post-check.
const (
	ActionProceed Action = "Proceed"
	ActionSkip    Action = "Skip"
	ActionBlock   Action = "Block"
	ActionError   Action = "Error"
	ActionSuccess Action = "Success"
	ActionFailure Action = "Failure"
)

// Severity of a condition that is not Ready: Error stops the retries until
// somebody acts, Warning is retried, Info is the happy path.
type Severity string

// The severities; SeverityNone goes with Ready=True.
const (
	SeverityNone    Severity = ""
	SeverityInfo    Severity = "Info"
	SeverityWarning Severity = "Warning"
	SeverityError   Severity = "Error"
)

// RetryClass says how soon a verdict is tried again.
type RetryClass string

// The classes: Fast 1 s to 30 s, Slow 1 s to 3 min, VerySlow the interval (at
// least 1 h), None until the spec changes, reconcile or resume. The durations
// stand in workflows/wait.go.
const (
	RetryFast     RetryClass = "Fast"
	RetrySlow     RetryClass = "Slow"
	RetryVerySlow RetryClass = "VerySlow"
	RetryNone     RetryClass = "None"
)

// Verdict is what a step decided, in words a user understands. It is the
// result of every step and lives in histories.
type Verdict struct {
	Action   Action   `json:"action"`
	Reason   Reason   `json:"reason,omitempty"`
	Severity Severity `json:"severity,omitempty"`
	// Message says what happened, why, and what to do next; masked.
	Message string `json:"message,omitempty"`
	// Freshness says how old the observation is on which the message stands
	// ("read 12s ago"), "" when it was made for the verdict.
	Freshness string `json:"freshness,omitempty"`
	// Class is the retry class of a Block, Failure or Error.
	Class RetryClass `json:"class,omitempty"`
	// Create is set on a Proceed when the resource is absent.
	Create bool `json:"create,omitempty"`
	// Differences are the reasons for a PUT, at most MaxDifferences, masked.
	Differences []Difference `json:"differences,omitempty"`
	// More counts the differences beyond the bound.
	More int `json:"more,omitempty"`
	// Drops names what others set and the PUT takes away, at most about
	// MaxDifferences.
	Drops []string `json:"drops,omitempty"`
	// WaitingFor names the resources whose change would lift a Block.
	WaitingFor []ID `json:"waitingFor,omitempty"`
	// RequestID is ARM's x-ms-request-id of the answer that decided.
	RequestID string `json:"requestID,omitempty"`
	// RetryAfter is the least time to the next try that ARM asked for.
	RetryAfter time.Duration `json:"retryAfter,omitempty"`
	// RetryWithin is the most time to the next try, 0 for what the class says: a
	// verdict that stands on a reading which is not fresh is looked at again when
	// that has expired.
	RetryWithin time.Duration `json:"retryWithin,omitempty"`
	// Overdue is set when the resource has not been Ready for longer than the
	// worker's overdue-after: the condition's severity is Error, the retries go on.
	Overdue bool `json:"overdue,omitempty"`
}

// MaxDifferences bounds the differences that a verdict carries: histories hold
// them, and nobody reads more.
const MaxDifferences = 20

// Difference is one path where observed is not as desired. Values are short
// texts for people, masked where secret, cut at 120 runes.
type Difference struct {
	Path     string `json:"path"`
	Desired  string `json:"desired"`
	Observed string `json:"observed"`
	// Rule names the rule of package drift that decided.
	Rule string `json:"rule,omitempty"`
}

// Proceed is the verdict that lets the pass go on.
func Proceed(message string) Verdict {
	return Verdict{Action: ActionProceed, Message: message}
}

// Block is the verdict that waits and tries again in the reason's class.
func Block(reason Reason, message string) Verdict {
	return Verdict{Action: ActionBlock, Reason: reason, Severity: SeverityWarning, Message: message, Class: reason.Class()}
}

// Fail is the verdict of a step that went wrong, retried in the class.
func Fail(reason Reason, class RetryClass, message string) Verdict {
	severity := SeverityWarning
	if class == RetryNone {
		severity = SeverityError
	}
	return Verdict{Action: ActionError, Reason: reason, Severity: severity, Message: message, Class: class}
}

// Words is the message with the freshness of what it stands on.
func (v Verdict) Words() string {
	if v.Freshness == "" {
		return v.Message
	}
	return v.Message + " (" + v.Freshness + ")"
}

// Stops reports whether the pass ends with this verdict.
func (v Verdict) Stops() bool {
	switch v.Action {
	case ActionBlock, ActionError, ActionFailure:
		return true
	}
	return false
}
