package arm

import (
	"net/http"
	"slices"
	"strings"
)

// Reasons that several rows share.
const (
	reasonNoDelete = "the type cannot be deleted by itself"
	reasonLast     = "its owner needs at least one of it"
)

// notDeletableRows match the refusal of a DELETE because of the kind of resource: a
// type without DELETE, or the last one that must exist. Its owner's DELETE removes it.
// The error table has the class.
var notDeletableRows = []Row{
	{Status: http.StatusMethodNotAllowed, Reason: reasonNoDelete, Source: srcContract},
	{Status: http.StatusNotImplemented, Reason: reasonNoDelete, Source: srcContract},
	{Word: "methodnotallowed", Reason: reasonNoDelete, Source: srcASO},
	{Word: "methodnotsupported", Reason: reasonNoDelete, Source: srcReported},
	{Word: "deletenotsupported", Reason: reasonNoDelete, Source: srcReported},
	{Word: "deletionnotsupported", Reason: reasonNoDelete, Source: srcReported},
	{Word: "deletenotallowed", Reason: reasonNoDelete, Source: srcReported},
	{Word: "deletionnotallowed", Reason: reasonNoDelete, Source: srcReported},
	{Word: "cannotdeletedefault", Reason: "the default one is removed with its owner", Source: srcReported},
	{Word: "cannotdeletelast", Reason: reasonLast, Source: srcReported},
	// "There has to be at least one (system) agent pool.", code
	// OperationNotAllowed, which is also used for states that clear.
	{Phrase: "at least one", Reason: reasonLast, Source: srcReported},
	{Phrase: "delete is not supported", Reason: reasonNoDelete, Source: srcReported},
	{Phrase: "deletion is not supported", Reason: reasonNoDelete, Source: srcReported},
	{Phrase: "does not support delet", Reason: reasonNoDelete, Source: srcReported},
	{Phrase: "'delete' is not supported", Reason: reasonNoDelete, Source: srcReported},
}

// NotDeletable reports whether a DELETE was refused because of the kind of
// resource, not because of a state: retrying is useless, only the DELETE of the
// owner removes it. The message counts only with status 400 or 409, and never where
// it mentions other users of the resource (InUse).
func (e *Error) NotDeletable() bool {
	refused := e.Status == http.StatusBadRequest || e.Status == http.StatusConflict
	for _, row := range notDeletableRows {
		switch {
		case row.Status != 0:
			if row.Status == e.Status {
				return true
			}
		case row.Word != "":
			if e.hasWord(row.Word) {
				return true
			}
		case refused && !e.InUse() && strings.Contains(strings.ToLower(e.Message), row.Phrase):
			return true
		}
	}
	return false
}

// InUse reports whether something cannot be deleted or changed because other
// resources use it or are nested in it; the error clears when they are removed.
func (e *Error) InUse() bool {
	return slices.ContainsFunc([]string{"inuse", "cannotbedeleted", "cannotdeleteresource", "hasassociat", "nestedresource"}, e.hasWord)
}

// hasWord reports whether one of the codes contains the word, given in lower case.
func (e *Error) hasWord(word string) bool {
	return slices.ContainsFunc(e.Codes(), func(code string) bool { return strings.Contains(strings.ToLower(code), word) })
}
