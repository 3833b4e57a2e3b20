package types

import (
	"strings"

	"github.com/armature-io/armature/resource"
)

// Rule names what a finding is about. The names are part of the output formats.
type Rule string

// The rules.
const (
	UnknownProperty      Rule = "unknown-property"
	MisplacedProperty    Rule = "misplaced-property"
	LetterCase           Rule = "letter-case"
	WrongKind            Rule = "wrong-kind"
	NumberAsText         Rule = "number-as-text"
	ValueNotAllowed      Rule = "value-not-allowed"
	OutOfBounds          Rule = "out-of-bounds"
	PatternMismatch      Rule = "pattern-mismatch"
	MissingProperty      Rule = "missing-property"
	ReadOnlyProperty     Rule = "read-only-property"
	UnknownDiscriminator Rule = "unknown-discriminator"
	TooDeep              Rule = "too-deep"
)

// Rules returns all rules.
func Rules() []Rule {
	return []Rule{
		UnknownProperty, MisplacedProperty, LetterCase, WrongKind, NumberAsText, ValueNotAllowed,
		OutOfBounds, PatternMismatch, MissingProperty, ReadOnlyProperty, UnknownDiscriminator, TooDeep,
	}
}

// Finding is one difference between a body and the published shape.
type Finding struct {
	Rule Rule
	// Fault is true for what Azure does not take; the others are warnings: Azure may
	// take the body, or the published shape may be incomplete.
	Fault bool
	// Path is the path of the value or property; for MissingProperty the path of the
	// property that is missing.
	Path resource.Path
	// AtName is true if the finding is about the name of the property, not its value.
	AtName bool
	// Message states what was found and what is expected. It contains no value of a
	// secret.
	Message string
	// Suggestion is the name or value that was probably meant; "" if there is none.
	// Message contains it.
	Suggestion string
}

// String returns the finding as "path: message".
func (f Finding) String() string {
	if len(f.Path) == 0 {
		return f.Message
	}
	return f.Path.String() + ": " + f.Message
}

// maxListedValues is the number of allowed values that a message lists.
const maxListedValues = 12

// list returns the first names of a list, separated by commas.
func list(names []string) string {
	if len(names) > maxListedValues {
		return strings.Join(names[:maxListedValues], ", ") + ", ..."
	}
	return strings.Join(names, ", ")
}
