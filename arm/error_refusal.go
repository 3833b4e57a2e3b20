package arm

import "strings"

// Refusal is the kind of an error that lasts until a person does something outside of
// the request.
type Refusal string

// The kinds of refusal.
const (
	RefusalQuota       Refusal = "quota"
	RefusalPolicy      Refusal = "policy"
	RefusalImmutable   Refusal = "immutable property"
	RefusalSoftDeleted Refusal = "soft-deleted name"
	RefusalNameTaken   Refusal = "name taken"
)

// refusalRow are the fragments, in lower case, by which codes and messages name a kind.
// Codes are compared without separators. names replaces the fragments if they are not enough.
type refusalRow struct {
	refusal         Refusal
	codes, messages []string
	source          string
	names           func(*Error) bool
}

// refusalRows are searched in order: a soft-deleted name is also a name that is taken.
func refusalRows() []refusalRow {
	return []refusalRow{
		{refusal: RefusalSoftDeleted, codes: []string{"softdelete", "flagmustbesetforrestore"}, messages: []string{"soft-deleted", "soft deleted", "softdeleted", "deleted but recoverable state"}, source: srcSoft},
		{refusal: RefusalPolicy, codes: []string{"bypolicy", "policyviolation"}, messages: []string{"disallowed by policy"}, source: srcPolicy},
		{refusal: RefusalQuota, codes: []string{"quota", "limitreached", "limitexceeded"}, messages: []string{"exceeding approved", "quota limit", "quota has been", "exceeds the quota", "exceed quota"}, source: srcErrors},
		{refusal: RefusalImmutable, source: srcReported, names: (*Error).namesImmutable},
		{refusal: RefusalNameTaken, codes: []string{"alreadytaken", "nameunavailable", "namenotavailable", "namealreadyexists", "nameinuse"}, messages: []string{"is already taken", "name is not available"}, source: srcErrors},
	}
}

// Refusal returns the kind of the error, "" where neither codes nor messages name one,
// and for throttling, a failed service, and an operation in progress.
func (e *Error) Refusal() Refusal {
	if e.Class == ClassThrottled || e.Transient() || e.NamesOperation() {
		return ""
	}
	codes := strings.ToLower(strings.Join(e.Codes(), " "))
	messages := e.messages()
	for _, row := range refusalRows() {
		if containsAny(messages, row.messages) || containsAny(codes, row.codes) || row.names != nil && row.names(e) {
			return row.refusal
		}
	}
	return ""
}

// operationWords are parts of codes and messages, in lower case, that name an operation
// in progress or a writer that came first.
func operationWords() []string {
	return []string{
		"anotheroperation", "another operation", "inprogress", "in progress", "is being", "beingdeleted", "busy", "concurren",
		"ongoing operation", "pending operation", "operation is running", "etag", "precondition", "preempted", "try again", "retry",
	}
}

// NamesOperation reports whether a conflict names an operation in progress, which ends by
// itself. Other conflicts are states of the resource.
func (e *Error) NamesOperation() bool {
	return e.Class == ClassConflict && containsAny(strings.ToLower(strings.Join(e.Codes(), " "))+"\n"+e.messages(), operationWords())
}

// messages returns the messages of the error and its details, in lower case.
func (e *Error) messages() string {
	texts := []string{e.Message}
	for _, detail := range e.Details {
		texts = append(texts, detail.Message)
	}
	return strings.ToLower(strings.Join(texts, "\n"))
}

func containsAny(text string, parts []string) bool {
	for _, part := range parts {
		if strings.Contains(text, part) {
			return true
		}
	}
	return false
}
