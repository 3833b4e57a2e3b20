package arm

import (
	"net/http"
	"strings"
)

// notDeletableRows are what a DELETE is refused with because of what the
// resource is: a type without DELETE, or the one of its kind that has to be
// there. It ends with its owner. The class is that of the error table.
func notDeletableRows() []Row {
	const noDelete, last = "the type is not deleted by itself", "its owner needs at least one of it"
	return []Row{
		{Status: http.StatusMethodNotAllowed, Reason: noDelete, Source: srcContract},
		{Status: http.StatusNotImplemented, Reason: noDelete, Source: srcContract},
		{Word: "methodnotallowed", Reason: noDelete, Source: srcASO},
		{Word: "methodnotsupported", Reason: noDelete, Source: srcReported},
		{Word: "deletenotsupported", Reason: noDelete, Source: srcReported},
		{Word: "deletionnotsupported", Reason: noDelete, Source: srcReported},
		{Word: "deletenotallowed", Reason: noDelete, Source: srcReported},
		{Word: "deletionnotallowed", Reason: noDelete, Source: srcReported},
		{Word: "cannotdeletedefault", Reason: "the default one stays with its owner", Source: srcReported},
		{Word: "cannotdeletelast", Reason: last, Source: srcReported},
		// "There has to be at least one (system) agent pool.", code
		// OperationNotAllowed, which says the same of a state that passes.
		{Phrase: "at least one", Reason: last, Source: srcReported},
		{Phrase: "delete is not supported", Reason: noDelete, Source: srcReported},
		{Phrase: "deletion is not supported", Reason: noDelete, Source: srcReported},
		{Phrase: "does not support delet", Reason: noDelete, Source: srcReported},
		{Phrase: "'delete' is not supported", Reason: noDelete, Source: srcReported},
	}
}

// NotDeletable reports whether the refusal of a DELETE is about what the
// resource is, not about a state: trying again changes nothing, only the DELETE
// of its owner takes it along. A message decides only where the status is 400 or
// 409; one that speaks of other users (InUse) never does.
func (e *Error) NotDeletable() bool {
	refused := e.Status == http.StatusBadRequest || e.Status == http.StatusConflict
	for _, row := range notDeletableRows() {
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

// InUse reports whether something cannot be deleted, or changed, because others
// use it or lie inside of it: it passes when they let go.
func (e *Error) InUse() bool {
	for _, word := range []string{"inuse", "cannotbedeleted", "cannotdeleteresource", "hasassociat", "nestedresource"} {
		if e.hasWord(word) {
			return true
		}
	}
	return false
}

func (e *Error) hasWord(word string) bool {
	for _, code := range e.Codes() {
		if strings.Contains(strings.ToLower(code), word) {
			return true
		}
	}
	return false
}
