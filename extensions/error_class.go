package extensions

import "github.com/armature-io/armature/resource"

// ErrorClass changes the class or the advice of an error for a type: one that never clears
// without a user's action, or that clears soon although its code blames the request. One
// without a class and advice records that the default already does what the type needs.
type ErrorClass struct {
	// Codes are ARM's, "" for any: the outer code, or one of the details.
	Codes []string `yaml:"codes"`
	// Pattern is a regular expression for the message, ignoring case and across lines, "" for
	// any message. A row has one only if the code is too general.
	Pattern string `yaml:"pattern"`
	// Class replaces the retry class; "" keeps it.
	Class resource.RetryClass `yaml:"class"`
	// Advice is added to the message: the next step of the user.
	Advice string `yaml:"advice"`
	Source Source `yaml:"source"`
}
