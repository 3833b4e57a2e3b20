package arm

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// Class says what an answer other than 2xx means for the next try.
type Class string

// The classes. Fast, Slow, VerySlow and None are retry classes; the other
// three carry a meaning of their own:
//
//   - Absent: the resource itself is not there. Only for a 404 with a code that
//     says so; everything else that is 404 is an error.
//   - Conflict: something else works on the resource, or it changed under us.
//   - Throttled: a budget is used up; RetryAfter says for how long.
const (
	ClassFast      Class = "Fast"
	ClassSlow      Class = "Slow"
	ClassVerySlow  Class = "VerySlow"
	ClassNone      Class = "None"
	ClassAbsent    Class = "Absent"
	ClassConflict  Class = "Conflict"
	ClassThrottled Class = "Throttled"
)

// The codes that this package gives where ARM gives none.
const (
	// CodeAuthenticationFailed: the credential got no token (status 401). ARM
	// itself uses the code for tokens that it refuses.
	CodeAuthenticationFailed = "AuthenticationFailed"
	// CodeInvalidAnswer: a 2xx answer to a read that is not one JSON object, or
	// is larger than 8 MB; Status holds the 2xx.
	CodeInvalidAnswer = "InvalidAnswer"
	// CodeThrottled: this client holds the request back (status 429), because
	// the budget of the subscription or of the provider is used up.
	CodeThrottled = "Throttled"
)

// Codes of ARM on which this product acts.
const (
	// CodeSubscriptionThrottled: the budget of the subscription, not that of a
	// provider, is used up.
	CodeSubscriptionThrottled = "SubscriptionRequestsThrottled"
	// CodeMissingRegistration: the subscription is not registered for the
	// provider.
	CodeMissingRegistration = "MissingSubscriptionRegistration"
)

// Error is an answer of ARM that is not 2xx, a failed operation, or a
// credential that got no token. Faults of the transport are other errors.
type Error struct {
	// Status is the HTTP status. For a failed operation it is that of the poll
	// that told of it, mostly 200.
	Status int `json:"status"`
	// Code is the outer error code, "" when the answer has none.
	Code string `json:"code,omitempty"`
	// Message is what the service said, URLs without their queries, at most
	// 1,000 runes.
	Message string   `json:"message,omitempty"`
	Target  string   `json:"target,omitempty"`
	Details []Detail `json:"details,omitempty"`
	// RequestID is x-ms-request-id.
	RequestID string `json:"requestID,omitempty"`
	// RetryAfter is the least time to the next try, 0 when not said.
	RetryAfter time.Duration `json:"retryAfter,omitempty"`
	Class      Class         `json:"class"`
	// Denial is set where only somebody's work would lift the error (a right, a
	// policy, a quota): the more often it came, the rarer the next try.
	Denial bool `json:"denial,omitempty"`
}

// Detail is one entry of error.details, of an innerError chain, or of
// additionalInfo of type PolicyViolation.
type Detail struct {
	Code    string `json:"code,omitempty"`
	Message string `json:"message,omitempty"`
	Target  string `json:"target,omitempty"`
}

// Error says status, codes, message and request ID.
func (e *Error) Error() string {
	var b strings.Builder
	if e.Status > 0 {
		fmt.Fprintf(&b, "%d %s", e.Status, http.StatusText(e.Status))
	}
	if codes := e.Codes(); len(codes) > 0 {
		fmt.Fprintf(&b, " %s", strings.Join(codes, "/"))
	}
	if e.Message != "" {
		fmt.Fprintf(&b, ": %s", e.Message)
	}
	if e.RequestID != "" {
		fmt.Fprintf(&b, " (request ID %s)", e.RequestID)
	}
	return strings.TrimSpace(b.String())
}

// Codes are the outer code and the nested ones, outermost first.
func (e *Error) Codes() []string {
	var codes []string
	if e.Code != "" {
		codes = append(codes, e.Code)
	}
	return append(codes, e.nested()...)
}

func (e *Error) nested() []string {
	var codes []string
	for _, detail := range e.Details {
		if detail.Code != "" && detail.Code != "Unspecified" {
			codes = append(codes, detail.Code)
		}
	}
	return codes
}

// Transient reports whether the service, not the request, failed: 408 and 5xx
// (but 501). A few more attempts are worth their cost. After a PUT the outcome
// is unknown: read the resource before another one.
func (e *Error) Transient() bool {
	return e.Status == http.StatusRequestTimeout || e.Status >= 500 && e.Status != http.StatusNotImplemented
}

// IsAbsent reports whether an error says that the resource itself is not there.
func IsAbsent(err error) bool {
	var answer *Error
	return errors.As(err, &answer) && answer.Class == ClassAbsent
}

// heldBack reports whether a request was not sent for a reason that passes: no
// token, or a Throttle that refused it.
func heldBack(err error) bool {
	var refused *Error
	var broken *tokenFault
	return errors.As(err, &refused) || errors.As(err, &broken)
}

// classify gives the error its class. The code of an absent resource in the
// answer to a PUT speaks of something else that is missing (its group, its
// parent, what the body names), so the class is Slow there.
func (e *Error) classify(method string) {
	row := e.Row()
	e.Class, e.Denial = row.Class, row.Denial
	if e.Class == ClassAbsent && method == http.MethodPut {
		e.Class = ClassSlow
	}
}
