package arm

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// Class is the meaning of a response other than 2xx for the next try.
type Class string

// The classes. Fast, Slow, VerySlow and None are retry classes; the other three
// have a meaning of their own:
//
//   - Absent: the resource itself does not exist. Only a 404 with a code that proves
//     it; any other 404 is an error.
//   - Conflict: another operation is in progress, or the resource changed since it
//     was read.
//   - Throttled: a request budget is exhausted; RetryAfter is the wait.
const (
	ClassFast      Class = "Fast"
	ClassSlow      Class = "Slow"
	ClassVerySlow  Class = "VerySlow"
	ClassNone      Class = "None"
	ClassAbsent    Class = "Absent"
	ClassConflict  Class = "Conflict"
	ClassThrottled Class = "Throttled"
)

// The codes that this package sets where ARM gives none.
const (
	// CodeAuthenticationFailed: the credential got no token (status 401). ARM
	// itself uses the code for tokens that it refuses.
	CodeAuthenticationFailed = "AuthenticationFailed"
	// CodeInvalidAnswer: a 2xx response to a read that is not one JSON object,
	// or is larger than 8 MB; Status is the 2xx.
	CodeInvalidAnswer = "InvalidAnswer"
	// CodeThrottled: the client did not send the request (status 429), because the
	// budget of the subscription or of the provider is exhausted.
	CodeThrottled = "Throttled"
)

// Codes of ARM that change what this product does.
const (
	// CodeSubscriptionThrottled: the budget of the subscription is exhausted, not
	// the budget of a provider.
	CodeSubscriptionThrottled = "SubscriptionRequestsThrottled"
	// CodeMissingRegistration: the subscription is not registered for the provider.
	CodeMissingRegistration = "MissingSubscriptionRegistration"
)

// Error is a response of ARM other than 2xx, a failed operation, or a credential
// that got no token. Errors of the transport have other types.
type Error struct {
	// Status is the HTTP status. For a failed operation it is the status of the
	// poll that reported it, mostly 200.
	Status int `json:"status"`
	// Code is the outer error code, "" when the response has none.
	Code string `json:"code,omitempty"`
	// Message is the service's message: URLs without their queries, at most 1,000
	// runes.
	Message string   `json:"message,omitempty"`
	Target  string   `json:"target,omitempty"`
	Details []Detail `json:"details,omitempty"`
	// RequestID is x-ms-request-id.
	RequestID string `json:"requestID,omitempty"`
	// RetryAfter is the minimum time to the next try, 0 when the response names none.
	RetryAfter time.Duration `json:"retryAfter,omitempty"`
	Class      Class         `json:"class"`
	// Denial is set where only a change outside the manifest lifts the error (a
	// role assignment, a policy, a quota): the more often it repeats, the slower
	// the retries.
	Denial bool `json:"denial,omitempty"`
	// Doubt is what the response to a GET leaves open about the existence of the
	// resource, "" where it leaves nothing open.
	Doubt Doubt `json:"doubt,omitempty"`
	// Proof is how an absence was proven, "" where its code proves it.
	Proof string `json:"proof,omitempty"`
	// NameHeld is set where a deleted resource keeps the name: it can be restored or
	// purged.
	NameHeld bool `json:"nameHeld,omitempty"`
}

// Detail is one entry of error.details, of an innerError chain, or of
// additionalInfo of type PolicyViolation.
type Detail struct {
	Code    string `json:"code,omitempty"`
	Message string `json:"message,omitempty"`
	Target  string `json:"target,omitempty"`
	// Explained is set if the details after it are its causes.
	Explained bool `json:"-"`
}

// Error returns status, codes, message and request ID in one line.
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

// Answer returns the status with the codes, or with the name of the status if there is no code:
// "404 ResourceNotFound", "404 Not Found".
func (e *Error) Answer() string {
	return fmt.Sprintf("%d %s", e.Status, cmp.Or(strings.Join(e.Codes(), "/"), http.StatusText(e.Status)))
}

// Codes returns the outer code and the nested ones, outermost first.
func (e *Error) Codes() []string {
	var codes []string
	if e.Code != "" {
		codes = append(codes, e.Code)
	}
	return append(codes, e.nestedCodes()...)
}

// nestedCodes returns the codes of the details, outermost first.
func (e *Error) nestedCodes() []string {
	var codes []string
	for _, detail := range e.Details {
		if detail.Code != "" && detail.Code != "Unspecified" {
			codes = append(codes, detail.Code)
		}
	}
	return codes
}

// Transient reports whether the service failed, not the request: 408 and 5xx but
// 501. A few more attempts are worth their cost. After a PUT the outcome is
// unknown: read the resource before another one.
func (e *Error) Transient() bool {
	return e.Status == http.StatusRequestTimeout || e.Status >= 500 && e.Status != http.StatusNotImplemented
}

// IsAbsent reports whether an error proves that the resource does not exist.
func IsAbsent(err error) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.Class == ClassAbsent
}

// isUnsent reports whether a request was not sent for a transient reason: no
// token, or a Throttle that rejected it.
func isUnsent(err error) bool {
	if _, rejected := errors.AsType[*Error](err); rejected {
		return true
	}
	_, noToken := errors.AsType[*tokenError](err)
	return noToken
}

// classify sets class and denial by the error table. In the response to a PUT,
// the code of an absent resource means that something else is missing (its group,
// its parent, a reference in the body), so the class is Slow there.
func (e *Error) classify(method string) {
	row := e.Row()
	e.Class, e.Denial = row.Class, row.Denial
	if e.Class == ClassAbsent && (method == http.MethodPut || method == http.MethodPatch) {
		e.Class = ClassSlow
	}
	e.nameDetails()
}
