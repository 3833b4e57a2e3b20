package resource

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaskPrefix is the prefix of every masked value. The hex digits of a keyed hash of
// the value follow, so that a change is visible and the value is not.
const MaskPrefix = "(masked) "

// MaskWithoutKey is the mask of every value where the worker has no key: it shows nothing,
// not even a change.
const MaskWithoutKey = MaskPrefix + "no mask-key"

// secretWords are the last words of the names of secret properties: adminPassword,
// primaryKey, connectionString, sasToken.
var secretWords = []string{
	"password", "passwd", "pwd", "passphrase", "secret", "secrets", "key", "keys", "token",
	"connectionstring", "sas", "customdata", "userdata", "credential", "credentials",
	"privatekey", "accesskey", "sharedkey", protectedSettings, "protectedparameters", "protectedparameter",
}

const protectedSettings = "protectedsettings"

// publicKeys are words before "key" that make it a name, not a secret.
var publicKeys = map[string]bool{
	"public": true, "partition": true, "row": true, "shard": true, "sort": true, "foreign": true, "group": true,
}

// ProtectedName reports whether a property contains settings of which Azure shows none to
// readers, so that all texts in it are secrets: protectedSettings of extensions.
func ProtectedName(name string) bool {
	before, last := lastWords(name)
	return strings.EqualFold(last, protectedSettings) || joined(before, last, protectedSettings)
}

// SecretName reports whether the last words of a property name mark its string
// value as a secret, or those in it: adminPassword, protectedParameters.
func SecretName(name string) bool {
	before, last := lastWords(name)
	if strings.EqualFold(last, "key") || strings.EqualFold(last, "keys") {
		return !publicKeys[strings.ToLower(before)]
	}
	for _, word := range secretWords {
		if strings.EqualFold(last, word) || joined(before, last, word) {
			return true
		}
	}
	return false
}

// joined reports whether two words form one.
func joined(before, last, word string) bool {
	return before != "" && len(before)+len(last) == len(word) &&
		strings.EqualFold(before, word[:len(before)]) && strings.EqualFold(last, word[len(before):])
}

// Masked reports whether a value is masked.
func Masked(value any) bool {
	text, ok := value.(string)
	return ok && strings.HasPrefix(text, MaskPrefix)
}

// lastWords returns the last word of a name and the one before it, in camelCase,
// PascalCase, snake_case or kebab-case. It does not allocate: it runs for each
// property of each body in each pass.
func lastWords(name string) (before, last string) {
	const none = -1
	start, previous := none, rune(0)
	for i, r := range name {
		switch {
		case !unicode.IsLetter(r):
			if start != none {
				before, last, start = last, name[start:i], none
			}
		case start == none:
			start = i
		case unicode.IsUpper(r) && (unicode.IsLower(previous) || startsLower(name[i+utf8.RuneLen(r):])):
			before, last, start = last, name[start:i], i
		}
		previous = r
	}
	if start != none {
		before, last = last, name[start:]
	}
	return before, last
}

func startsLower(text string) bool {
	r, _ := utf8.DecodeRuneInString(text)
	return unicode.IsLower(r)
}
