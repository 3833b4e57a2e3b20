package arm

import (
	"net/http"
	"strings"
)

// Row is one row of the error table: the meaning of a code, a fragment of a code,
// a phrase or a status, the reason for it, and the source. One of the four is set.
type Row struct {
	// Code is an ARM error code; codes compare ignoring case.
	Code string
	// Word is a fragment of a code that names the kind of error, in lower case.
	Word string
	// Phrase is a fragment of a message, in lower case, for codes without meaning.
	Phrase string
	// Status is for responses without a known code; a row without any of the four
	// is the last resort.
	Status int
	Class  Class
	// Generic codes wrap a more specific nested code, which is looked up first.
	Generic bool
	// Vague generic codes carry no information: the message is searched too.
	Vague bool
	// Denial rows clear when something outside the manifest changes: retries of
	// the same denial slow down.
	Denial bool
	Reason string
	Source string
}

// Sources of the rows.
const (
	srcASO      = "Azure Service Operator, default error classifier"
	srcErrors   = "learn.microsoft.com, common Azure deployment errors"
	srcLimits   = "learn.microsoft.com, request limits and throttling"
	srcLocks    = "learn.microsoft.com, lock resources"
	srcPolicy   = "learn.microsoft.com, policy effects"
	srcSoft     = "learn.microsoft.com, recover deleted resources"
	srcStates   = "learn.microsoft.com, subscription states"
	srcContract = "resource provider contract"
	srcRecorded = "recorded traffic"
	srcReported = "issues of public clients"
	srcOwn      = "this client"
)

// table is the error table, in the order of the lookup.
type table struct {
	codes, words, phrases, statuses []Row
}

// errorTable is the table of this client.
var errorTable = table{codes: codeRows, words: wordRows, phrases: phraseRows, statuses: statusRows}

// Row returns the row of an error: by code first (for a generic code, the first
// nested code in the table), then by the words of the codes, then, for a 400 or a
// failed operation with a vague code, by the message, then by
// status, else Slow: an error wrongly classified as final leaves a resource stuck,
// one wrongly classified as retryable costs a request every three minutes.
//
// Absent needs a 404 with a code that proves it. A nested code counts only inside
// a generic code, and a nested code that contradicts wins (NotFound around
// SubscriptionNotFound). With another status such a code becomes Slow: something
// that the request names is missing.
func (e *Error) Row() Row { return errorTable.row(e) }

func (t table) row(e *Error) Row {
	row, known := t.byCode(e)
	if !known && !e.Transient() || row.Vague {
		found, ok := t.byWords(e)
		if ok && (e.Status != http.StatusTooManyRequests || found.Class == ClassConflict) {
			row, known = found, true
		}
	}
	if !known {
		row = t.byStatus(e.Status)
	}
	if row.Class == ClassNone && e.statusIsAmbiguous() && t.mentionsState(e) {
		row.Class, row.Reason = ClassVerySlow, row.Reason+"; but the message mentions a state that may change"
	}
	if row.Class == ClassAbsent && e.Status != http.StatusNotFound {
		row.Class, row.Reason = ClassSlow, "something that the request names is missing"
	}
	return row
}

// byCode returns the row of a code, the outer one first unless it is an envelope.
func (t table) byCode(e *Error) (Row, bool) {
	row, known := t.code(e.Code)
	if known && !row.Generic && row.Class != ClassAbsent {
		return row, true
	}
	for _, inner := range e.nestedCodes() {
		found, ok := t.code(inner)
		if !ok || found.Generic || found.Class == ClassAbsent && !known {
			continue
		}
		return found, true
	}
	return row, known
}

// KnownCode reports whether the error table has a row for a code, so that it may be a
// label of a metric.
func KnownCode(code string) bool {
	_, known := errorTable.code(code)
	return known
}

func (t table) code(code string) (Row, bool) {
	for _, row := range t.codes {
		if code != "" && strings.EqualFold(row.Code, code) {
			return row, true
		}
	}
	return Row{}, false
}

// byWords returns the row for the words of the codes, and searches the message
// where the codes have no known word, or only one for invalid, which means a state
// as often as a value.
func (t table) byWords(e *Error) (Row, bool) {
	row, known := t.word(e)
	if known && !row.Vague || !e.statusIsAmbiguous() {
		return row, known
	}
	if found, ok := t.phrase(e); ok {
		return found, true
	}
	return row, known
}

// phrase returns the row of the first phrase in the messages.
func (t table) phrase(e *Error) (Row, bool) {
	message := strings.ToLower(e.Message)
	for _, detail := range e.Details {
		message += "\n" + strings.ToLower(detail.Message)
	}
	for _, found := range t.phrases {
		if strings.Contains(message, found.Phrase) {
			return found, true
		}
	}
	return Row{}, false
}

// mentionsState reports whether the message mentions something that may clear; a
// code that is final elsewhere is not final then.
func (t table) mentionsState(e *Error) bool {
	found, ok := t.phrase(e)
	return ok && found.Class == ClassSlow
}

// word returns the row of the first word in the codes, innermost code first
// because envelopes are less specific.
func (t table) word(e *Error) (Row, bool) {
	codes := e.Codes()
	for i := len(codes) - 1; i >= 0; i-- {
		if row, known := t.code(codes[i]); known && row.Vague {
			continue
		}
		for _, row := range t.words {
			if strings.Contains(strings.ToLower(codes[i]), row.Word) {
				return row, true
			}
		}
	}
	return Row{}, false
}

func (t table) byStatus(status int) Row {
	for _, row := range t.statuses {
		if row.Status == status {
			return row
		}
	}
	if status >= 500 {
		return Row{Status: status, Class: ClassSlow, Reason: "the service failed, not the request", Source: srcContract}
	}
	return t.statuses[len(t.statuses)-1]
}

// statusIsAmbiguous reports whether the status fits both a wrong request and a
// state of another resource: 400, 422, and an operation that failed.
func (e *Error) statusIsAmbiguous() bool {
	return e.Status == http.StatusBadRequest || e.Status == http.StatusUnprocessableEntity || success(e.Status)
}
