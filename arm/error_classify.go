package arm

import (
	"net/http"
	"strings"
	"sync"
)

// Row is one row of the error table: what a code, a word of a code, a phrase or
// a status means, why, and where that is known from. One of the four is set.
type Row struct {
	// Code is an ARM error code; codes compare ignoring case.
	Code string
	// Word is a part of a code that says what kind of fault it names.
	Word string
	// Phrase is a part of a message, in lower case, for codes that say nothing.
	Phrase string
	// Status is for answers of which nothing else is known; 0 with none of the
	// others is the last resort.
	Status int
	Class  Class
	// Generic codes wrap a more telling nested code, which is asked first.
	Generic bool
	// Vague generic codes say nothing at all: their message is asked too.
	Vague bool
	// Denial rows pass when somebody outside of the manifest acts: the same
	// denial again and again is asked less and less often.
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

// table is the error table, in the order in which it is asked.
type table struct {
	codes, words, phrases, statuses []Row
}

// errorTable is built once: every 404 before a creation is looked up in it.
var errorTable = sync.OnceValue(func() table {
	return table{codes: codeRows(), words: wordRows(), phrases: phraseRows(), statuses: statusRows()}
})

// Row finds the row of an answer: by code first (of a generic code, the first
// nested code that the table knows), then by the words of the codes, then, for a
// 400 or a failed operation whose code says nothing, by the message, then by
// status, else Slow: an error judged final by mistake is a resource that is
// stuck for ever, one judged retryable by mistake costs a request every three
// minutes.
//
// Absent needs a 404 and a code of its own; a nested one counts only inside a
// generic code, and a nested code that says otherwise wins (NotFound around
// SubscriptionNotFound). A row that says so for another status becomes Slow:
// something that the request names is missing.
func (e *Error) Row() Row { return errorTable().row(e) }

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
	if row.Class == ClassNone && e.refusesContent() && t.speaksOfState(e) {
		row.Class, row.Reason = ClassVerySlow, row.Reason+"; but the message speaks of the state of something"
	}
	if row.Class == ClassAbsent && e.Status != http.StatusNotFound {
		row.Class, row.Reason = ClassSlow, "something that the request names is missing"
	}
	return row
}

// byCode looks the codes up, the outer one first unless it is an envelope.
func (t table) byCode(e *Error) (Row, bool) {
	row, known := t.code(e.Code)
	if known && !row.Generic && row.Class != ClassAbsent {
		return row, true
	}
	for _, inner := range e.nested() {
		found, ok := t.code(inner)
		if !ok || found.Generic || found.Class == ClassAbsent && !known {
			continue
		}
		return found, true
	}
	return row, known
}

func (t table) code(code string) (Row, bool) {
	for _, row := range t.codes {
		if code != "" && strings.EqualFold(row.Code, code) {
			return row, true
		}
	}
	return Row{}, false
}

// byWords reads the words of the codes, innermost first because an envelope
// says less, and the message where they say nothing or only that something is
// invalid, which is a state as often as a value.
func (t table) byWords(e *Error) (Row, bool) {
	row, known := t.word(e)
	if known && !row.Vague || !e.refusesContent() {
		return row, known
	}
	if found, ok := t.phrase(e); ok {
		return found, true
	}
	return row, known
}

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

// speaksOfState reports whether the message of a code that is final elsewhere
// names something that may pass: then it is not final here.
func (t table) speaksOfState(e *Error) bool {
	found, ok := t.phrase(e)
	return ok && found.Class == ClassSlow
}

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

// refusesContent reports whether the status leaves open if the request or the
// state of something else is wrong: 400, 422, and an operation that failed.
func (e *Error) refusesContent() bool {
	return e.Status == http.StatusBadRequest || e.Status == http.StatusUnprocessableEntity || success(e.Status)
}
