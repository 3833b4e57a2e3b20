package arm

import "slices"

// Codes are made of words, and providers without recorded traffic use the same
// ones. The first word found in a code decides, so the words for a state come
// before the words for a wrong value: an InvalidState clears, an InvalidName does
// not.

// Reasons that several words share.
const (
	reasonRunning   = "an operation is in progress"
	reasonFailed    = "the service failed, not the request"
	reasonMissing   = "a reference in the request may be created later"
	reasonUsed      = "other resources use it and may stop"
	reasonWrong     = "a value is wrong until it is changed"
	reasonTaken     = "the name is taken or reserved"
	reasonElsewhere = "not available in the region or the offer"
)

// wordRows are the words of codes, in lower case.
var wordRows = []Row{
	{Word: "softdelete", Class: ClassVerySlow, Reason: "a deleted resource occupies the name: restore or purge it", Source: srcSoft},

	// Words for a state that clears by itself.
	{Word: "throttl", Class: ClassThrottled, Reason: "a request budget is exhausted", Source: srcLimits},
	{Word: "toomanyrequests", Class: ClassThrottled, Reason: "a request budget is exhausted", Source: srcLimits},
	{Word: "anotheroperation", Class: ClassConflict, Reason: reasonRunning, Source: srcErrors},
	{Word: "inprogress", Class: ClassConflict, Reason: reasonRunning, Source: srcErrors},
	{Word: "busy", Class: ClassConflict, Reason: reasonRunning, Source: srcRecorded},
	{Word: "being", Class: ClassConflict, Reason: reasonRunning, Source: srcErrors},
	{Word: "concurren", Class: ClassConflict, Reason: reasonRunning, Source: srcErrors},
	{Word: "etag", Class: ClassConflict, Reason: "the ETag is old: read again", Source: srcContract},
	{Word: "preempt", Class: ClassSlow, Reason: "another operation came first", Source: srcRecorded},
	{Word: "cancel", Class: ClassSlow, Reason: "it was canceled", Source: srcRecorded},
	{Word: "timeout", Class: ClassSlow, Reason: reasonFailed, Source: srcContract},
	{Word: "timedout", Class: ClassSlow, Reason: reasonFailed, Source: srcContract},
	{Word: "internal", Class: ClassSlow, Reason: reasonFailed, Source: srcRecorded},
	{Word: "serviceunavailable", Class: ClassSlow, Reason: reasonFailed, Source: srcContract},
	{Word: "serverunavailable", Class: ClassSlow, Reason: reasonFailed, Source: srcContract},
	{Word: "retry", Class: ClassSlow, Reason: "the service asks for another try", Source: srcRecorded},
	{Word: "transient", Class: ClassSlow, Reason: reasonFailed, Source: srcContract},
	{Word: "notready", Class: ClassSlow, Reason: "something is not ready yet", Source: srcRecorded},
	{Word: "provision", Class: ClassSlow, Reason: "something is not provisioned yet", Source: srcRecorded},
	{Word: "succeeded", Class: ClassSlow, Reason: "something has not succeeded yet", Source: srcRecorded},
	{Word: "accessible", Class: ClassSlow, Reason: "something cannot be reached now", Source: srcRecorded},
	{Word: "state", Class: ClassSlow, Reason: "a state forbids it now", Source: srcRecorded},
	{Word: "status", Class: ClassSlow, Reason: "a state forbids it now", Source: srcErrors},
	{Word: "pending", Class: ClassSlow, Reason: "something is not complete yet", Source: srcErrors},

	// Words for something else that must exist, or be removed,
	// first.
	{Word: "notfound", Class: ClassSlow, Reason: reasonMissing, Source: srcRecorded},
	{Word: "notexist", Class: ClassSlow, Reason: reasonMissing, Source: srcErrors},
	{Word: "nonexist", Class: ClassSlow, Reason: reasonMissing, Source: srcErrors},
	{Word: "dependen", Class: ClassSlow, Reason: reasonMissing, Source: srcErrors},
	{Word: "reference", Class: ClassSlow, Reason: reasonMissing, Source: srcRecorded},
	{Word: "principal", Class: ClassSlow, Reason: "new principals take minutes to replicate", Source: srcASO},
	{Word: "identity", Class: ClassSlow, Reason: "new identities take minutes to replicate", Source: srcASO},
	{Word: "authoriz", Class: ClassSlow, Denial: true, Reason: "role assignments take minutes to replicate", Source: srcASO},
	{Word: "permission", Class: ClassSlow, Denial: true, Reason: "role assignments take minutes to replicate", Source: srcASO},
	{Word: "forbidden", Class: ClassSlow, Denial: true, Reason: "role assignments take minutes to replicate", Source: srcASO},
	{Word: "accessdenied", Class: ClassSlow, Denial: true, Reason: "role assignments take minutes to replicate", Source: srcASO},
	{Word: "bypolicy", Class: ClassSlow, Denial: true, Reason: "policies and exemptions change without the manifest", Source: srcPolicy},
	{Word: "policyviolation", Class: ClassSlow, Denial: true, Reason: "policies and exemptions change without the manifest", Source: srcPolicy},
	{Word: "quota", Class: ClassSlow, Denial: true, Reason: "quotas are raised", Source: srcErrors},
	{Word: "limitreached", Class: ClassSlow, Denial: true, Reason: "something may be deleted, or the limit raised", Source: srcErrors},
	{Word: "capacity", Class: ClassSlow, Reason: "capacity varies", Source: srcErrors},
	{Word: "allocation", Class: ClassSlow, Reason: "capacity varies", Source: srcErrors},
	{Word: "inuse", Class: ClassSlow, Reason: reasonUsed, Source: srcRecorded},
	{Word: "cannotbedeleted", Class: ClassSlow, Reason: reasonUsed, Source: srcRecorded},
	{Word: "cannotdelete", Class: ClassSlow, Reason: reasonUsed, Source: srcRecorded},
	{Word: "hasassociat", Class: ClassSlow, Reason: reasonUsed, Source: srcErrors},

	// Words for a value that stays wrong until it is changed.
	{Word: "invalid", Vague: true, Class: ClassVerySlow, Reason: reasonWrong, Source: srcASO},
	{Word: "malformed", Class: ClassVerySlow, Reason: reasonWrong, Source: srcErrors},
	{Word: "unsupported", Class: ClassVerySlow, Reason: reasonWrong, Source: srcErrors},
	{Word: "notsupported", Class: ClassVerySlow, Reason: reasonWrong, Source: srcErrors},
	{Word: "notallowed", Class: ClassVerySlow, Reason: reasonWrong, Source: srcErrors},
	{Word: "required", Class: ClassVerySlow, Reason: "the body lacks a property", Source: srcErrors},
	{Word: "missing", Class: ClassVerySlow, Reason: "the body lacks a property", Source: srcErrors},
	{Word: "mismatch", Class: ClassVerySlow, Reason: reasonWrong, Source: srcErrors},
	{Word: "outofrange", Class: ClassVerySlow, Reason: reasonWrong, Source: srcErrors},
	{Word: "toolong", Class: ClassVerySlow, Reason: reasonWrong, Source: srcErrors},
	{Word: "tooshort", Class: ClassVerySlow, Reason: reasonWrong, Source: srcErrors},
	{Word: "password", Class: ClassVerySlow, Reason: "a password breaks a rule", Source: srcErrors},
	{Word: "validation", Vague: true, Class: ClassVerySlow, Reason: reasonWrong, Source: srcErrors},
	{Word: "cannotbeset", Class: ClassVerySlow, Reason: reasonWrong, Source: srcErrors},
	{Word: "cannotbechanged", Class: ClassVerySlow, Reason: "the property cannot be changed after creation", Source: srcErrors},
	{Word: "immutable", Class: ClassVerySlow, Reason: "the property cannot be changed after creation", Source: srcErrors},
	{Word: "reserved", Class: ClassVerySlow, Reason: reasonTaken, Source: srcASO},
	{Word: "alreadytaken", Class: ClassVerySlow, Reason: reasonTaken, Source: srcErrors},
	{Word: "alreadyexists", Class: ClassVerySlow, Reason: reasonTaken, Source: srcErrors},
	{Word: "nameunavailable", Class: ClassVerySlow, Reason: reasonTaken, Source: srcErrors},
	{Word: "notavailable", Class: ClassVerySlow, Reason: reasonElsewhere, Source: srcErrors},
	{Word: "restricted", Class: ClassVerySlow, Reason: reasonElsewhere, Source: srcASO},
}

// statePhrases and valuePhrases are parts of messages, in lower case, for a 400 or a
// failed operation with a vague code: a few providers put the cause into the message
// only. Phrases for a state come first here too.
var (
	statePhrases = []string{
		"not found", "not exist", "not been provisioned", "not provisioned", "not ready", "not active", "not succeeded",
		"in progress", "is being", " state", "in use", "associated with", "another operation", "insufficient access",
		"created successfully", "service principal",
	}
	valuePhrases = []string{
		"invalid", "not valid", "valid value", "not supported", "unsupported", "not allowed", "malformed", "must ", "should be", "is required",
		"missing", "out of range", "exceeds", "does not match", "cannot be changed", "can't be changed", "immutable", "deserializ", "could not be parsed",
		"too long", "too short", "already taken", "not recognized", "unrecognized", "could not find member", "greater than", "less than",
	}
	phraseRows = slices.Concat(
		newPhraseRows(statePhrases, ClassSlow, "the message mentions a state that may change"),
		newPhraseRows(valuePhrases, ClassVerySlow, "the message mentions a wrong value"),
	)
)

func newPhraseRows(phrases []string, class Class, reason string) []Row {
	rows := make([]Row, len(phrases))
	for i, phrase := range phrases {
		rows[i] = Row{Phrase: phrase, Class: class, Reason: reason, Source: srcRecorded}
	}
	return rows
}
