package resource

import (
	"strings"
	"unicode"
)

// MaskPrefix starts every masked value: it is followed by hex digits of a keyed
// hash of the value, so that a change can be seen and the value cannot.
const MaskPrefix = "(masked) "

// secretWords are the last words of property names whose string values are
// secret: adminPassword, primaryKey, connectionString, sasToken.
var secretWords = []string{
	"password", "passwd", "pwd", "passphrase", "secret", "secrets", "key", "keys", "token",
	"connectionstring", "sas", "customdata", "userdata", "credential", "credentials",
	"privatekey", "accesskey", "sharedkey",
}

// publicKeys are words before "key" that make it a name and no secret.
var publicKeys = map[string]bool{
	"public": true, "partition": true, "row": true, "shard": true, "sort": true, "foreign": true, "group": true,
}

// SecretName reports whether the last word of a property name says that its
// string value is a secret.
func SecretName(name string) bool {
	words := splitWords(name)
	if len(words) == 0 {
		return false
	}
	last := words[len(words)-1]
	if last == "key" || last == "keys" {
		return len(words) == 1 || !publicKeys[words[len(words)-2]]
	}
	joined := last
	if len(words) > 1 {
		joined = words[len(words)-2] + last
	}
	for _, word := range secretWords {
		if last == word || joined == word {
			return true
		}
	}
	return false
}

// Masked reports whether a value is a mask.
func Masked(value any) bool {
	text, ok := value.(string)
	return ok && strings.HasPrefix(text, MaskPrefix)
}

// splitWords splits camelCase, PascalCase, snake_case and kebab-case into
// lower-cased words.
func splitWords(name string) []string {
	var words []string
	var word []rune
	flush := func() {
		if len(word) > 0 {
			words = append(words, strings.ToLower(string(word)))
			word = nil
		}
	}
	runes := []rune(name)
	for i, r := range runes {
		switch {
		case !unicode.IsLetter(r):
			flush()
			continue
		case unicode.IsUpper(r) && i > 0 && (unicode.IsLower(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1])):
			flush()
		}
		word = append(word, r)
	}
	flush()
	return words
}
