package arm

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/armature-io/armature/resource"
)

// codeSubscriptionNotFound is ARM's code for a subscription that is wrong or hidden, and
// the code of some providers for subscriptions of their own.
const codeSubscriptionNotFound = "SubscriptionNotFound"

// Doubt is what the response to a GET leaves open.
type Doubt string

// The doubts. Open: whether the resource exists is not known. Busy: the owner is readable,
// and in a state in which it may hide what it contains. Repeatable: the owner is readable
// and no list can prove the absence; it is proven when the same response comes again over
// a while.
const (
	DoubtOpen       Doubt = "open"
	DoubtBusy       Doubt = "busy"
	DoubtRepeatable Doubt = "repeatable"
)

// DoubtOf returns the doubt that an error leaves, "" where it leaves none.
func DoubtOf(err error) Doubt {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Doubt
	}
	return ""
}

// ConfirmAbsence returns the doubt about an absence that the code of one GET reports:
// DoubtOpen if the list of the owner contains the resource, else DoubtRepeatable. Any other
// error is one of its own requests.
func (c *Client) ConfirmAbsence(ctx context.Context, id resource.ID, apiVersion string) error {
	var found listing
	err := c.proveAbsence(ctx, id, apiVersion, &Error{Status: http.StatusNotFound, Class: ClassAbsent}, func() (_ listing, err error) {
		found, err = c.inOwnersList(ctx, id, apiVersion)()
		return found, err
	})
	failure, ok := errors.AsType[*Error](err)
	if !ok || failure.Doubt == "" && !IsAbsent(err) {
		return err
	}
	doubt := *failure
	doubt.Class = ClassSlow
	if found != listed {
		doubt.Doubt = DoubtRepeatable
	}
	return &doubt
}

// leavesExistenceOpen reports whether the error of a GET leaves open whether the resource
// exists: no GET at all, or a 404 that the table does not know. A known code that means
// something else (a wrong type, a missing registration) leaves nothing open, nor do a
// denial, a conflict and throttling. A management group that does not exist is 403.
func (e *Error) leavesExistenceOpen(id resource.ID) bool {
	switch e.Status {
	case http.StatusMethodNotAllowed:
		return true
	case http.StatusForbidden:
		return strings.EqualFold(id.Type(), resource.TypeManagementGroup)
	case http.StatusNotFound:
		row := e.Row()
		switch {
		case e.Class == ClassAbsent, row.Denial, row.Class == ClassConflict, row.Class == ClassThrottled:
			return false
		}
		return row.Code == "" || row.Generic || strings.EqualFold(row.Code, codeSubscriptionNotFound) || e.holdsName()
	}
	return false
}

// heldPhrases are parts of messages, in lower case, about a deleted resource that still
// has its name (learn.microsoft.com, recover deleted resources).
var heldPhrases = []string{"soft-deleted", "soft deleted", "softdeleted", "deleted state", "deleted but recoverable"}

// holdsName reports whether a 404 says that the resource is deleted and keeps its name.
func (e *Error) holdsName() bool {
	message := strings.ToLower(e.Message)
	return e.hasWord("softdelete") || slices.ContainsFunc(heldPhrases, func(phrase string) bool { return strings.Contains(message, phrase) })
}

// hasCode reports whether one of the codes is the given one, ignoring case.
func (e *Error) hasCode(code string) bool {
	return slices.ContainsFunc(e.Codes(), func(c string) bool { return strings.EqualFold(c, code) })
}

// absent returns the proof of an absence, with what ARM reported first.
func (e *Error) absent(proof string) *Error {
	proven := *e
	proven.Status, proven.Class, proven.Denial, proven.Doubt, proven.Proof = http.StatusNotFound, ClassAbsent, false, "", proof
	proven.NameHeld = e.holdsName()
	return &proven
}

// inDoubt returns the error with a message that names what may be missing and why that
// is not certain. It is retried soon where only the proof is missing.
func (e *Error) inDoubt(id resource.ID, doubt Doubt, why string) *Error {
	open := *e
	open.Doubt, open.NameHeld = doubt, e.holdsName()
	if doubt == DoubtRepeatable || e.Class == ClassAbsent {
		open.Class = ClassSlow
	}
	open.Message = fmt.Sprintf("this does not prove that %s is absent: %s. Azure's message: %s", nameOf(id), why, e.Message)
	return &open
}

// nameOf returns a resource for messages: ns1/t1/s1 (Microsoft.ServiceBus/...).
func nameOf(id resource.ID) string { return fmt.Sprintf("%s (%s)", id.Short(), id.Type()) }
