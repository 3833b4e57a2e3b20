package arm

import (
	"regexp"
	"strings"
)

// immutableWords recognize the refusal to change a value that Azure sets only when it creates a
// resource. Providers share no code for it, but their sentences have few forms. The judges are
// providers without a recorded refusal, so the forms are general and name no property. A wrong
// match could replace a resource in vain: a sentence about a state, or about a value that a
// creation would refuse too, does not count.
type immutableWords struct {
	// codes are matched in lower case. creation, refusal and elsewhere are matched with one
	// sentence of a message in lower case.
	codes, creation, refusal, elsewhere *regexp.Regexp
	// temporary are words about a state in a sentence or a code, and otherValue words about a
	// value that is wrong by itself or belongs into another property.
	temporary, otherValue *regexp.Regexp
	sentence              *regexp.Regexp
}

// changed are the verbs of a change.
const changed = `(?:chang|updat|modif|alter|edit|resiz|shrink|shrunk|reduc|decreas|downgrad|switch|convert)\w*`

var immutable = immutableWords{
	codes: regexp.MustCompile(`immutable|cannotbe(?:chang|updat|modif|alter|edit)|cannot(?:change|modify)|(?:chang|updat|modif|alter)[a-z]*not(?:allowed|supported|permitted)|^invalidresource(?:group)?location$`),
	// "The zones can only be set at the creation", "irreversible".
	creation: regexp.MustCompile(`\bimmutable\b|\birreversible\b|\bonly\b.{0,60}\b(?:at|on|during|upon|in|when|while)\b.{0,30}\bcreat|\bset at creation\b`),
	refusal: regexp.MustCompile(strings.Join([]string{
		// "The kind cannot be changed", "may not be modified", "it cannot be disabled once it is enabled".
		`\b(?:cannot|can't|can not|may not|must not|(?:is|are) not allowed to|(?:is|are) not permitted to) be ` + changed,
		`\b(?:cannot|can't|can not) be \w+\b.{0,60}\b(?:once|after)\b`,
		// "Cannot change the SKU", "cannot update property 'zones'".
		`\b(?:cannot|can't|can not|not allowed to|not possible to|does not (?:support|allow)|doesn't (?:support|allow)|do not (?:support|allow)) (?:chang\w*|(?:updat|modif)\w* (?:of )?(?:the |a |an )?(?:value|propert|field|setting|sku))`,
		// "Changing property 'zones' is not allowed", "a change of the SKU is not supported".
		`\b(?:chang(?:e|es|ing)|updat(?:e|es|ing)|modif(?:ication|ications|ying)|alter(?:ation|ing)|downgrade|switching)\b(?: of| to| in| from| the| propert| value| field| '| ").{0,120}\b(?:is|are) not (?:allowed|supported|permitted|possible)`,
		`\b(?:changing|modifying|downgrading|resizing|shrinking|reducing)\b.{0,120}\b(?:is|are) not (?:allowed|supported|permitted|possible)`,
	}, "|")),
	elsewhere:  regexp.MustCompile(`\balready exists in (?:location|region)\b`),
	temporary:  regexp.MustCompile(`\b(?:while|until|unless|currently|at this time|at the moment|is being|in progress|in use|stopped|deallocated|paused|locked|running|busy|associated|attached|later|state)\b`),
	otherValue: regexp.MustCompile(`\binstead\b|\bplease (?:modify|update)\b|\bapi[- ]?version\b|\b(?:in|for) (?:this |the )?(?:region|location|subscription|offer)\b`),
	sentence:   regexp.MustCompile(`[.;!]\s|\n`),
}

// namesImmutable reports whether the error refuses to change a value of an existing resource.
func (e *Error) namesImmutable() bool {
	for _, code := range e.Codes() {
		code = strings.ToLower(code)
		if immutable.codes.MatchString(code) && !containsAny(code, []string{"while", "state", "being", "running", "inprogress", "inuse", "attached", "associated", "stopped", "paused"}) {
			return true
		}
	}
	// A message that mentions a state is about now, not about for ever.
	messages := e.messages()
	if errorTable.mentionsState(e) || immutable.otherValue.MatchString(messages) {
		return false
	}
	for _, sentence := range immutable.sentence.Split(messages, -1) {
		switch {
		case immutable.creation.MatchString(sentence), immutable.elsewhere.MatchString(sentence):
			return true
		case immutable.refusal.MatchString(sentence) && !immutable.temporary.MatchString(sentence):
			return true
		}
	}
	return false
}
